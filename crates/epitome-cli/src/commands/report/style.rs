//! How the page looks: light and dark, on phones and on desks.

use std::fmt::Write as _;

use crate::survey::hues;
use epitome::count::ContentKind;

const PAGE: &str = "\
:root{color-scheme:light dark;--bg:#fff;--ink:#1f2937;--faint:#5b6472;--line:#e5e7eb;--card:#f8fafc;--mark:#111827;--on-mark:#fff;--warn:#b45309}\
*{box-sizing:border-box}\
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;margin:0;background:var(--bg);color:var(--ink)}\
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem;overflow-wrap:anywhere}\
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.4rem 0 .5rem}h3{font-size:1rem;margin:0}h3.next{margin:1.6rem 0 -.4rem}\
p{margin:.4rem 0}.faint{color:var(--faint)}.small{font-size:.87rem}\
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.75rem;margin:1.2rem 0 0}\
.tile,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.75rem .9rem}\
.tile b{display:block;font-size:1.45rem;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}\
.tile .warn{color:var(--warn)}\
.tile .what{font-size:.8rem;color:var(--faint);text-transform:uppercase;letter-spacing:.03em}\
svg{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-variant-numeric:tabular-nums}\
svg.narrow{display:none}@media(max-width:40rem){svg.wide{display:none}svg.narrow{display:block}}\
svg text{fill:var(--faint)}.end{text-anchor:end}.grid{stroke:var(--line)}.axis{stroke:var(--faint)}\
.cut{stroke:var(--mark);stroke-dasharray:4 3;stroke-width:1.2}.mark{fill:var(--mark)}\
svg text.number{fill:var(--on-mark);text-anchor:middle;font-weight:650;font-size:11px}\
.window{stroke:var(--warn);stroke-dasharray:2 4;stroke-width:1.5}\
.reported{fill:none;stroke:var(--ink);stroke-width:1.2;stroke-dasharray:1 2.5;opacity:.75}\
.legend{display:flex;flex-wrap:wrap;gap:.25rem .9rem;margin:.5rem 0 0;padding:0;list-style:none;font-size:.87rem}\
.legend i,td i{display:inline-block;width:.75rem;height:.75rem;border-radius:3px;margin-right:.35rem;vertical-align:-.06rem}\
.legend i.dots{height:0;border-top:2px dotted var(--ink);border-radius:0;vertical-align:.2rem}\
.bar{display:flex;height:1.5rem;border-radius:6px;overflow:hidden;background:var(--line)}.bar.thin{height:.85rem;border-radius:4px}.bar i{min-width:0}\
.pair{display:grid;grid-template-columns:auto 1fr auto;gap:.3rem .6rem;align-items:center;margin:.6rem 0;font-size:.87rem;font-variant-numeric:tabular-nums}\
.cards{display:grid;gap:.75rem}.card dl{display:grid;grid-template-columns:auto 1fr;gap:.1rem .7rem;margin:.5rem 0 0}\
dt{color:var(--faint)}dd{margin:0}.card ul{margin:.3rem 0 0;padding-left:1.1rem}\
summary{cursor:pointer;color:var(--warn);margin-top:.5rem}\
.scroll{overflow-x:auto;margin-top:.8rem}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.28rem .55rem;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}\
th{font-weight:600;color:var(--faint)}td.w,th.w{text-align:left;white-space:normal;min-width:7.5rem}tr.sum td{font-weight:650}\
a{color:inherit}:target{outline:2px solid var(--warn)}";

const DARK: &str = "--bg:#0d1117;--ink:#e5e7eb;--faint:#9ca3af;--line:#263040;--card:#151b26;--mark:#f3f4f6;--on-mark:#111827;--warn:#f59e0b";

/// All of it.
pub(super) fn style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for kind in ContentKind::ALL {
        let (on_white, on_black) = hues(kind);
        let class = kind.name();
        write!(light, ".k-{class}{{fill:{on_white};background:{on_white}}}")
            .expect("a string takes all");
        write!(dark, ".k-{class}{{fill:{on_black};background:{on_black}}}")
            .expect("a string takes all");
    }
    format!("{PAGE}{light}@media(prefers-color-scheme:dark){{:root{{{DARK}}}{dark}}}")
}
