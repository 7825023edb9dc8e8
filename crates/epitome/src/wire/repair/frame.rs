//! What is mended around the entries: in the definitions of tools, the system prompt, the body's own members.

use crate::json::{self, Span, Splices};
use crate::request::Request;
use crate::wire::Finding;
use crate::wire::rules::Mend;

/// What a mend does to these bytes.
fn change(request: &Request, mend: &Mend) -> Option<(Span, String)> {
    Some(match mend {
        Mend::LeaveOut(hole) => (*hole, String::new()),
        Mend::Overwrite { value, json } => (*value, json.clone()),
        Mend::AddMember { holder, member } => {
            let start = holder.start + 1;
            let is_empty = json::members(request.source(), *holder).is_ok_and(|all| all.is_empty());
            let member = if is_empty { member.clone() } else { format!("{member},") };
            (Span { start, end: start }, member)
        }
        _ => return None,
    })
}

/// Whether a mend is of nothing that was said.
pub(super) fn is_of(request: &Request, mend: &Mend) -> bool {
    let list = request.frame.list;
    change(request, mend).is_some_and(|(span, _)| span.end <= list.start || list.end <= span.start)
}

/// The request's text with all these repairs of frame members; `None` if there are none.
pub(super) fn mended(request: &Request, findings: &[Finding]) -> Option<String> {
    let mends = findings.iter().map(|finding| &finding.mend);
    let mut splices = Splices::default();
    for mend in mends.filter(|mend| is_of(request, mend)) {
        let (span, text) = change(request, mend)?;
        splices.replace(span, text);
    }
    (!splices.is_empty()).then(|| splices.apply(request.source()))
}
