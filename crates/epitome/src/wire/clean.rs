//! The seams of a request that breaks no rule, so that a longer request is checked only from there.
//!
//! Rules look back: a result answers a call before it, an id is used once. But a history can be cut at the beginning of a
//! reply if everything before it is answered: the rest is judged by itself, except for the few facts that [`Past`]
//! remembers. Before such a seam nothing was found in the shorter request, so nothing is found there now. If anything is
//! found behind it, the whole request is checked, so that findings never depend on what was known.

use std::collections::HashSet;
use std::sync::Arc;

use super::breach::{Finding, check};
use super::{Dialect, Format, strict};
use crate::request::Request;
use crate::transcript::{Entry, Role, Transcript};

/// A request that breaks no rule, as far as that must be known to check one that goes on from it.
#[derive(Clone, Debug)]
pub struct Clean {
    format: Format,
    /// What the rules of entries asked its frame.
    frame: String,
    past: Past,
}

/// Entries in which nothing was found, as the rules must know them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Their number; rules look at the entries behind them. 0 means that all rules apply.
    pub(super) entries: usize,
    /// Those that can be judged without the ones before them, in order.
    seams: Vec<u32>,
    /// Ids of calls.
    pub(super) calls: Ids,
    /// The entries' own ids.
    pub(super) items: Ids,
    /// Those that may have cache markers.
    pub(super) marked: Vec<u32>,
    /// The first one that only refers to another.
    pub(super) reference: Option<usize>,
}

/// Ids, by the entries in which they came first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    known: HashSet<Arc<str>>,
    order: Vec<(u32, Arc<str>)>,
}

impl Ids {
    pub(super) fn has(&self, id: &str) -> bool {
        self.known.contains(id)
    }

    pub(super) fn add(&mut self, entry: usize, id: &str) {
        if !self.known.contains(id) {
            let id: Arc<str> = id.into();
            self.known.insert(Arc::clone(&id));
            self.order.push((entry as u32, id));
        }
    }

    /// Forgets those of the entries from `entries` on.
    fn first(&mut self, entries: usize) {
        while let Some((_, id)) = self.order.pop_if(|(at, _)| *at as usize >= entries) {
            self.known.remove(&id);
        }
    }
}

impl Past {
    /// Notes that entry `at` can be judged without those before it.
    pub(super) fn seam(&mut self, at: usize) {
        self.seams.push(at as u32);
    }

    /// Notes that entry `at` may have cache markers.
    pub(super) fn mark(&mut self, at: usize) {
        self.marked.push(at as u32);
    }

    /// The entries behind these.
    pub(super) fn rest<'a>(
        &self,
        transcript: &'a Transcript,
    ) -> impl DoubleEndedIterator<Item = Entry<'a>> + ExactSizeIterator + use<'a> {
        (self.entries..transcript.len()).map(|at| transcript.entry(at))
    }

    /// The facts about the entries before the last seam of the first `entries` ones; `None` if they have no seam.
    fn up_to_seam(mut self, entries: usize) -> Option<Past> {
        while self.seams.pop_if(|seam| *seam as usize >= entries).is_some() {}
        // The entry there is judged anew, and is a seam then.
        let seam = self.seams.pop()? as usize;
        while self.marked.pop_if(|at| *at as usize >= seam).is_some() {}
        self.calls.first(seam);
        self.items.first(seam);
        self.reference = self.reference.filter(|at| *at < seam);
        self.entries = seam;
        Some(self)
    }
}

/// Whether a reply begins with entry `at`, so that whatever came before is over.
pub(super) fn begins_reply(transcript: &Transcript, at: usize) -> bool {
    let is_models = |at: usize| transcript.entry(at).role() == Role::Assistant;
    at > 0 && is_models(at) && !is_models(at - 1)
}

/// All breaches, as [`check`] finds them; the seams if there are none.
///
/// `known` are the seams of another request with the same bytes up to the end of this many entries, as
/// [`parse_on`](super::parse_on) returns them: those entries aren't checked again. If a frame member that rules ask for
/// has changed, everything is checked.
pub fn check_on(request: &Request, known: Option<(Clean, usize)>) -> Result<Clean, Vec<Finding>> {
    let format = request.format;
    let dialect = format.dialect();
    let frame = dialect.asked_of_frame(request);
    let is_same = |(clean, _): &(Clean, usize)| clean.format == format && clean.frame == frame;
    let past = known.filter(is_same).and_then(|(clean, entries)| clean.past.up_to_seam(entries));
    let past = past.filter(|past| {
        dialect.check(request, past).is_empty() && strict::characters(request).is_empty()
    });
    let mut past = if let Some(past) = past {
        past
    } else {
        let findings = check(request);
        if !findings.is_empty() {
            return Err(findings);
        }
        Past::default()
    };
    remember(dialect, &request.transcript, &mut past);
    Ok(Clean { format, frame, past })
}

fn remember(dialect: &dyn Dialect, transcript: &Transcript, past: &mut Past) {
    dialect.remember(transcript, past);
    past.entries = transcript.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{parse, parse_on};

    /// A task, and so many steps of a tool.
    fn body(format: Format, steps: usize) -> String {
        let (list, task) = match format {
            Format::Gemini => ("contents", r#"{"role":"user","parts":[{"text":"Go."}]}"#),
            Format::OpenaiResponses => ("input", r#"{"role":"user","content":"Go."}"#),
            Format::GeminiInteractions => {
                ("input", r#"{"type":"user_input","content":[{"type":"text","text":"Go."}]}"#)
            }
            Format::Bedrock => ("messages", r#"{"role":"user","content":[{"text":"Go."}]}"#),
            _ => ("messages", r#"{"role":"user","content":"Go."}"#),
        };
        let step = |n: usize| match format {
            Format::OpenaiChat => format!(
                r#",{{"role":"assistant","tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{n}","content":"x"}}"#
            ),
            Format::Anthropic => format!(
                r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"c{n}","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"x","cache_control":null}}]}}"#
            ),
            Format::Gemini => format!(
                r#",{{"role":"model","parts":[{{"functionCall":{{"id":"c{n}","name":"f","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"id":"c{n}","name":"f","response":{{"output":"x"}}}}}}]}}"#
            ),
            Format::OpenaiResponses => format!(
                r#",{{"type":"reasoning","id":"rs_{n}","summary":[]}},{{"type":"function_call","call_id":"c{n}","name":"f","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"c{n}","output":"x"}}"#
            ),
            Format::GeminiInteractions => format!(
                r#",{{"type":"thought","signature":"c2ln"}},{{"type":"function_call","id":"c{n}","name":"f","arguments":{{}}}},{{"type":"function_result","call_id":"c{n}","result":"x"}}"#
            ),
            Format::Bedrock => format!(
                r#",{{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"c{n}","name":"f","input":{{}}}}}}]}},{{"role":"user","content":[{{"toolResult":{{"toolUseId":"c{n}","content":[{{"text":"x"}}]}}}}]}}"#
            ),
        };
        let steps: String = (0..steps).map(step).collect();
        let tools = r#""toolConfig":{"tools":[]}"#;
        format!(r#"{{{tools},"{list}":[{task}{steps}]}}"#)
    }

    fn read(format: Format, steps: usize) -> Request {
        parse(format, body(format, steps)).expect("messages")
    }

    #[test]
    fn what_goes_on_is_checked_from_the_last_reply_that_is_known() {
        for format in Format::ALL {
            let before = read(format, 4);
            let clean = check_on(&before, None).expect("it breaks no rule");
            let (shared, after) = parse_on(&before, body(format, 5)).expect("messages");
            assert_eq!(shared, before.transcript.len() - 1, "{format}");
            let past = clean.past.clone().up_to_seam(shared).expect("it has replies");
            let step = (before.transcript.len() - 1) / 4;
            assert_eq!(past.entries, before.transcript.len() - step, "{format}");
            // The same as when nothing was known.
            let clean = check_on(&after, Some((clean, shared))).expect("it breaks no rule");
            let anew = check_on(&after, None).expect("it breaks no rule");
            assert_eq!(format!("{:?}", clean.past.seams), format!("{:?}", anew.past.seams));
            assert_eq!(clean.past.marked, anew.past.marked);
            assert_eq!(clean.past.calls.order, anew.past.calls.order);
            assert_eq!(clean.past.items.order, anew.past.items.order);
            assert_eq!((clean.past.entries, clean.frame), (anew.past.entries, anew.frame));
        }
    }

    #[test]
    fn a_call_that_rightly_has_no_output_ends_no_seams() {
        let call = |kind: &str, more: &str| {
            format!(r#"{{"type":"{kind}","call_id":"c","name":"f","arguments":"{{}}"{more}}}"#)
        };
        let said = r#"{"type":"message","role":"assistant","content":"Well."}"#;
        let referred = r#",{"type":"item_reference","id":"fc_9"}"#;
        for (open, is_seam) in [
            (call("function_call", r#","async":true"#), true),
            (call("future_call", ""), true),
            (call("function_call", "") + referred, true),
            (call("function_call", ""), false),
        ] {
            let body =
                format!(r#"{{"input":[{{"role":"user","content":"Go."}},{open},{said},{said}]}}"#);
            let request = parse(Format::OpenaiResponses, body).expect("items");
            let clean = check_on(&request, None).expect("it breaks no rule");
            let last = request.transcript.len() - 1;
            let past = clean.past.up_to_seam(last + 1).expect("it begins with one");
            assert_eq!(past.entries == last, is_seam, "{open}");
        }
    }

    #[test]
    fn what_another_way_leaves_out_is_forgotten() {
        let before = read(Format::Anthropic, 2);
        let clean = check_on(&before, None).expect("it breaks no rule");
        assert!(clean.past.calls.has("c1"));
        let past = clean.past.up_to_seam(before.transcript.len() - 1).expect("it has replies");
        assert!(past.calls.has("c0") && !past.calls.has("c1"));
        assert_eq!(past.marked, [2]);
    }
}
