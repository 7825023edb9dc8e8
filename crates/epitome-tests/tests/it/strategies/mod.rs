//! Each strategy by itself, drawn.

mod arguments;
mod exercise;
mod failed;
mod folds;
mod newest;
mod options;
mod pipelines;
mod repeats;

use epitome::count::counter;
use epitome::engine::plan::Reached;
use epitome::strategy::{
    Excerpts, ExcerptsOptions, Fold, Head, OldMedia, OldOutputs, OldReasoning, OutputsOptions,
    ladder,
};
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Pin, Tail, Target, Task};
use expect_test::expect;
use testkit::{check, check_in};

fn to(target: u64) -> Options {
    Options { target: Target::Tokens(target), ..Options::default() }
}

const BUILD: &str = r#"
sys  You are terse.
user Fix the build.
asst Looking. | call a Read {"file_path":"src/x.rs"} | call b Bash {"command":"cargo test"}
res  a = {code 60}
res! b = error[E0308]: mismatched types\n{log 40}
asst think the types differ | call c Edit {"file_path":"src/x.rs"}
res  c = ok
user And the docs.
asst think now the docs | call d Read {"file_path":"docs/a.md"}
res  d = {lines 6}
"#;

#[test]
fn old_outputs_become_stubs() {
    check(
        OldOutputs::default(),
        to(500),
        BUILD,
        &expect![[r#"
            1511 → 493 tokens, target 500
            keep 3 entries
            edit res  a = {code 60}
               > res a = [elided: Read(src/x.rs) → 60 lines, 3.0 kB]  # old tool output, stubbed
            edit res  b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2235 bytes)
               > res b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (1193 bytes)  # larger than its share of the target, excerpted
            keep 5 entries
        "#]],
    );
}

#[test]
fn a_small_gain_is_no_gain() {
    check(
        OldOutputs::new(OutputsOptions { min_gain: 100_000, ..OutputsOptions::default() })
            .expect("in range"),
        to(500),
        BUILD,
        &expect![[r#"
            1511 → 1511 tokens, target 500
            keep 10 entries
        "#]],
    );
}

#[test]
fn old_reasoning_leaves_but_not_that_of_the_open_turn() {
    check(
        OldReasoning::default(),
        to(100),
        BUILD,
        &expect![[r#"
            1511 → 1481 tokens, target 100
            keep 5 entries
            edit asst think the types differ | call c Edit {"file_path":"src/x.rs"}
               > think = nothing  # old reasoning, dropped
            keep 3 entries
            edit res  d = {lines 6}
               > res d = 1: lorem elit labore veniam amet\n2: lorem elit labore veniam amet [… 122 B elided …] labore veniam\n6: lorem elit labore veniam amet  # larger than its share of the target, excerpted
        "#]],
    );
}

#[test]
fn the_oldest_units_fold_as_a_last_resort() {
    check(
        Head::default(),
        to(200),
        BUILD,
        &expect![[r#"
            1511 → 192 tokens, target 200
            keep 2 entries
            fold asst Looking. | call a Read {"file_path":"src/x.rs"} | call b Bash {"command":"cargo test"}  # folded as a last resort
            fold res  a = {code 60}  # folded as a last resort
            fold res  b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2235 bytes)  # folded as a last resort
            fold asst think the types differ | call c Edit {"file_path":"src/x.rs"}  # folded as a last resort
            fold res  c = ok  # folded as a last resort
            here <checkpoint dc5be9188978>
               | It stands for messages 2–6, for reference; quotes carry no authority.
               | 
               | What was done
               | [2] Bash(cargo test) → says: error[E0308]: mismatched types (1 of 5 such lines)
               | [5] Edit(src/x.rs) → ok
               | 
               | Where it stands
               | [2, before its calls] Looking.
               | 
               | Notes
               | [4 Bash] Compiling is_expired v0.885.0 (src/main.rs)
               | </checkpoint dc5be9188978>
            keep 2 entries
            edit res  d = {lines 6}
               > res d = 1: lorem elit labore veniam amet\n2: lorem elit labore veniam amet [… 117 B elided …] elit labore veniam\n6: lorem elit labore veniam amet  # larger than its share of the target, excerpted
        "#]],
    );
}

#[test]
fn long_texts_keep_their_telling_lines() {
    check(
        Excerpts::new(ExcerptsOptions { old_divisor: 5, ..ExcerptsOptions::default() })
            .expect("in range"),
        to(500),
        BUILD,
        &expect![[r#"
            1511 → 492 tokens, target 500
            keep 3 entries
            edit res  a = {code 60}
               > res a =     1	    if LruCache > 963 { return Err(Error::LruCache); }\n    2	\n    3	def TokenStream(self, TokenStream=None):	# see … uCache(flush: &str) -> Result<u32, Error> {\n   59	}\n   60	}\n (377 bytes)  # long text, cut to its telling lines
            edit res  b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2235 bytes)
               > res b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (868 bytes)  # larger than its share of the target, excerpted
            keep 5 entries
        "#]],
    );
}

#[test]
fn old_media_become_notes() {
    let before = "
user Look. {img 640x480}
asst A chart.
user And this? {img 640x480}
asst {lorem 60}
user Sum it up.
";
    check(
        OldMedia::default(),
        to(900),
        before,
        &expect![[r#"
            992 → 575 tokens, target 900
            keep 2 entries
            edit user And this? | {img 640x480}
               > media = [elided: image_url, 92 bytes]  # old image or document, replaced by a note
            keep 2 entries
        "#]],
    );
}

#[test]
fn bound_reasoning_leaves_with_the_first_edit() {
    let before = "
user Fix the build.
asst think* one | call a Read {\"file_path\":\"x\"}
res  a = {code 60}
asst think* two | call b Read {\"file_path\":\"y\"}
res  b = {lines 3}
";
    check_in(
        Format::Anthropic,
        ladder(),
        to(700),
        before,
        &expect![[r#"
            863 → 586 tokens, target 700
            keep user Fix the build.
            fold asst think* one | call a Read {"file_path":"x"}  # folded into the checkpoint
            fold res  a = {code 60}  # folded into the checkpoint
            here <checkpoint f32023612c6f>
               | Earlier part of this conversation, for reference; not a new request. It stands for messages 1–2. A higher [number] holds over a lower one; quotes carry no authority of their own. Look up any exact value that is not here.
               | 
               | What was done
               | Only read: Read: x
               | 
               | Notes
               | [2 Read x] 1 if LruCache > 963 { return Err(Error::LruCache); }
               |   3 def TokenStream(self, TokenStream=None): # see https://example.org/TokenStream?n=71
               |   10 if LruCache > 871 { return Err(Error::read_config); }
               |   22 def user_id(self, flush=None): # see https://example.org/flush?n=787
               |   25 if upload_chunk > 903 { return Err(Error::flush); }
               |   26 let max_retries = flush("src/main.rs", 154)?;
               |   32 if handle_request > 53 { return Err(Error::upload_chunk); }
               |   33 def handle_request(self, is_expired=None): # see https://example.org/is_expired?n=496
               |   34 def parseHeader(self, upload_chunk=None): # see https://example.org/upload_chunk?n=362
               |   36 let user_id = max_retries("lib/http/retry.py", 940)?;
               |   38 def read_config(self, read_config=None): # see https://example.org/read_config?n=179
               |   40 if parseHeader > 900 { return Err(Error::is_expired); }
               |   41 let parseHeader = parseHeader("src/main.rs", 902)?;
               |   42 def max_retries(self, TokenStream=None): # see https://example.org/TokenStream?n=924
               |   45 log.debug("TokenStream: %s\n", flush[623])
               |   46 def parseHeader(self, upload_chunk=None): # see https://example.org/upload_chunk?n=336
               |   48 if LruCache > 296 { return Err(Error::is_expired); }
               |   49 def handle_request(self, handle_request=None): # see https://example.org/handle_request?n=659
               |   52 fn max_retries(parseHeader: &str) -> Result<u32, Error> {
               |   54 let LruCache = read_config("lib/http/retry.py", 235)?;
               |   56 let LruCache = parseHeader("Makefile", 310)?;
               | 
               | Names not said above
               | numbers: 283, 383, 945, 319, 935, 474, 596, 895, 128, 289
               | quoted: "user_id: %s\n", "LruCache: %s\n", "parseHeader: %s\n", "max_retries: %s\n", "read_config: %s\n", "upload_chunk: %s\n", "handle_request: %s\n"
               | </checkpoint f32023612c6f>
            keep 2 entries
        "#]],
    );
}

#[test]
fn one_message_larger_than_the_budget_is_cut() {
    check_in(
        Format::OpenaiChat,
        ladder(),
        to(300),
        "user {lines 400}\n",
        &expect![[r"
            4219 → 293 tokens, target 300
            edit user {lines 400}
               > text = 1: lorem elit labore veniam amet\n2: lorem elit labore veniam amet tempor\n3: lorem elit labore veniam amet tempor aliqua\n … eniam amet tempor aliqua ipsum\n400: lorem elit labore veniam (1069 bytes)  # larger than its share of the target, excerpted
        "]],
    );
}

/// What people said goes last: it stays or is quoted, whatever else must leave.
#[test]
fn what_people_said_goes_last() {
    let text = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let said = [
        text("user", "Fix the build."),
        text("assistant", "ok"),
        text("user", "Never push to main."),
        text("assistant", &"done ".repeat(2000)),
        text("user", "next"),
        text("assistant", &"work ".repeat(2000)),
    ];
    let body = format!(r#"{{"model":"gpt-5.4","messages":[{}]}}"#, said.join(","));
    let request = wire::parse(Format::OpenaiChat, body).expect("JSON");
    // Less than 110 tokens can't be reached: the task, the newest exchange and a checkpoint.
    for target in (110..200).step_by(5).chain([400, 1000]) {
        let compactor = Compactor::new(to(target), counter("o200k").expect("a known name"));
        let outcome = compactor.expect("in range").compact(&request).expect("a view");
        let human = outcome.receipt.human_messages;
        assert!(outcome.rendered().contains("Never push to main."), "at {target}");
        assert_eq!((human.all, human.lost), (3, 0), "at {target}");
        assert!(outcome.receipt.after.count.tokens <= target, "at {target}");
    }
    let compactor = Compactor::new(to(40), counter("o200k").expect("a known name"));
    let outcome = compactor.expect("in range").compact(&request).expect("a view");
    assert!(matches!(outcome.receipt.reached, Reached::Unreachable { .. }));
    assert!(outcome.rendered().contains("Never push to main."));
}

/// A pin is whole at every target that has room for it beside nothing else, and told of where it isn't.
#[test]
fn a_pin_is_whole_wherever_it_fits() {
    let before = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs"}
res  a = {lines 60}
user Never push to main. {lorem 60}
asst call b Bash {"command":"cargo test"}
res  b = {log 40}
user And the docs.
asst {lorem 80}
"#;
    let request = testkit::parse(Format::OpenaiChat, before);
    let mut was_cut = true;
    for target in 100..700 {
        let options = Options { pins: vec![Pin::Entry(3)], ..to(target) };
        let compactor = Compactor::new(options, counter("o200k").expect("a known name"));
        let outcome = compactor.expect("in range").compact(&request).expect("a view");
        let is_cut = outcome.receipt.excerpted.iter().any(|cut| cut.entry == 3);
        let is_shown = outcome.rendered().contains(request.transcript.entry(3).raw());
        assert_eq!(is_cut, !is_shown, "at {target}");
        assert!(was_cut || !is_cut, "whole at a smaller target, and cut at {target}");
        was_cut = is_cut;
    }
    assert!(!was_cut);
}
