//! Entries that clients write anew, held to how they were written before: bytes of parts are compared much faster than
//! what they say is hashed.

use super::chain::{Chain, PrefixId};
use super::spot::{Spot, spots};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind};
use crate::wire::Format;

/// Requests of which the links are known.
#[derive(Debug, Default)]
pub(super) struct Linked<'a> {
    known: Vec<(&'a Request, &'a Chain)>,
}

impl<'a> Linked<'a> {
    pub(super) fn new(known: impl IntoIterator<Item = (&'a Request, &'a Chain)>) -> Self {
        Linked { known: known.into_iter().collect() }
    }

    /// The link behind `before`, the `place`th, that `entry` is if one of the requests has it there in the same words.
    /// Where it is none of theirs, it may still be known.
    pub(super) fn link(
        &mut self,
        place: usize,
        before: PrefixId,
        format: Format,
        entry: Entry<'_>,
    ) -> Option<PrefixId> {
        let last = place.checked_sub(1)?;
        let is_it = |(request, chain): &(&Request, &Chain)| {
            let goes_on = chain.ids().get(last) == Some(&before);
            let there = chain.entries().get(place).filter(|_| goes_on);
            there.is_some_and(|at| says_the_same(format, entry, request.transcript.entry(*at)))
        };
        let at = self.known.iter().position(is_it)?;
        // What goes on with it goes on with it for long.
        self.known.swap(0, at);
        self.known[0].1.ids().get(place).copied()
    }
}

/// Whether two entries of one format are surely the same link, behind the same one. All that a link is taken from is
/// compared as it is written.
fn says_the_same(format: Format, one: Entry<'_>, other: Entry<'_>) -> bool {
    if one.role() != other.role() {
        return false;
    }
    let is_said =
        |part: &Part<'_>| part.kind() != PartKind::Link && !format.dialect().is_cache_marker(part);
    let said = |entry| spots(entry).filter(move |(_, part)| is_said(part));
    let is_same = |(one, other): &((Spot, Part<'_>), (Spot, Part<'_>))| {
        one.0 == other.0 && is_same_part(&one.1, &other.1)
    };
    let (mut mine, mut its) = (said(one), said(other));
    loop {
        match (mine.next(), its.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if is_same(&(one, other)) => {}
            (Some(_), Some(_)) => break,
            _ => return false,
        }
    }
    if mine.count() != its.count() {
        return false;
    }
    // Members come in any order.
    let sorted = |entry| {
        let mut parts: Vec<(Spot, Part<'_>)> = said(entry).collect();
        parts.sort_unstable_by_key(|(spot, _)| *spot);
        parts
    };
    one.parts().len() > 1 && sorted(one).into_iter().zip(sorted(other)).all(|pair| is_same(&pair))
}

fn is_same_part(one: &Part<'_>, other: &Part<'_>) -> bool {
    let is_list = |part: &Part<'_>| {
        part.kind() == PartKind::Result
            && part.raw_body().starts_with('[')
            && !part.is(Marks::SERVER)
    };
    let (row, its_row) = (one.row(), other.row());
    one.raw_of(row.id) == other.raw_of(its_row.id)
        && one.raw_of(row.name) == other.raw_of(its_row.name)
        && row.marks == its_row.marks
        // What a list holds are parts of their own.
        && (is_list(one) && is_list(other) || one.raw_body() == other.raw_body())
        // Of what isn't known all of it counts.
        && (one.kind() != PartKind::Opaque || one.raw() == other.raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ChainKey;
    use crate::wire::parse;

    const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

    /// How many of the links of `after` are found by comparing it with `before`; each that is found is the one that it is.
    fn found(format: Format, before: &str, after: &str) -> usize {
        let read = |body: &str| parse(format, body.to_owned()).expect("messages");
        let (before, after) = (read(before), read(after));
        let chain = Chain::of(&before, "t", KEY);
        let mut linked = Linked::new([(&before, &chain)]);
        let whole = Chain::of(&after, "t", KEY);
        let links = (1..whole.len()).filter_map(|place| {
            let entry = after.transcript.entry(whole.entries()[place]);
            let found = linked.link(place, whole.ids()[place - 1], format, entry)?;
            assert_eq!(found, whole.ids()[place]);
            Some(found)
        });
        links.count()
    }

    #[test]
    fn what_is_written_anew_is_found_and_what_says_something_else_is_not() {
        let first = r#"{"role":"user","content":"Go."}"#;
        let call = |args: &str| {
            format!(
                r#"{{"id":"c","type":"function","function":{{"name":"f","arguments":"{args}"}}}}"#
            )
        };
        let step = |args: &str| {
            format!(r#"{{"role":"assistant","content":"So.","tool_calls":[{}]}}"#, call(args))
        };
        let anew = |args: &str| {
            format!(r#"{{"tool_calls":[{}] , "content":"So.","role":"assistant"}}"#, call(args))
        };
        let body = |message: &str| format!("[{first},{message}]");
        let of = |after: String| found(Format::OpenaiChat, &body(&step("{}")), &body(&after));
        assert_eq!(of(step("{}")), 1);
        assert_eq!(of(anew("{}")), 1);
        assert_eq!(of(anew("{ }")), 0);
        assert_eq!(of(anew("{}").replace("So.", "No.")), 0);
        assert_eq!(of(anew("{}").replace("assistant", "user")), 0);
    }

    #[test]
    fn a_list_is_what_it_holds() {
        let body = |result: &str| {
            format!(
                r#"[{{"role":"user","content":"Go."}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{result}]}}]}}]"#
            )
        };
        let plain = body(r#"{"type":"text","text":"x"}"#);
        let of = |result: &str| found(Format::Anthropic, &plain, &body(result));
        assert_eq!(of(r#"{"text":"x","type":"text","cache_control":{"type":"ephemeral"}}"#), 1);
        assert_eq!(of(r#"{"text":"y","type":"text"}"#), 0);
        assert_eq!(of(r#"{"text":"x","type":"text"},{"text":"x","type":"text"}"#), 0);
    }

    #[test]
    fn what_only_tells_a_cache_where_to_write_is_not_compared() {
        let body = |behind: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":[{{"text":"Go."}}]}},{{"role":"user","content":[{{"text":"x"}}{behind}]}}]}}"#
            )
        };
        let of = |behind: &str| found(Format::Bedrock, &body(""), &body(behind));
        assert_eq!(of(r#",{"cachePoint":{"type":"default"}}"#), 1);
        assert_eq!(of(r#",{"guardContent":{"text":{"text":"y"}}}"#), 0);
    }

    #[test]
    fn what_a_server_ran_is_compared_as_it_is_written() {
        let body = |logs: &str| {
            format!(
                r#"{{"input":[{{"role":"user","content":"Go."}},{{"type":"code_interpreter_call","id":"ci_1","code":"1","outputs":[{{"type":"logs","logs":"{logs}"}}]}}]}}"#
            )
        };
        let of = |logs: &str| found(Format::OpenaiResponses, &body("x"), &body(logs));
        assert_eq!((of("x"), of("y")), (1, 0));
    }

    #[test]
    fn only_lists_are_what_they_hold() {
        let body = |value: u8| {
            format!(
                r#"{{"contents":[{{"role":"user","parts":[{{"text":"Go."}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{{"a":1,"b":{value}}}}}}}]}}]}}"#
            )
        };
        assert_eq!(found(Format::Gemini, &body(1), &body(1)), 1);
        assert_eq!(found(Format::Gemini, &body(1), &body(2)), 0);
    }

    #[test]
    fn of_what_is_not_known_all_of_it_counts() {
        let body = |by: &str| {
            format!(
                r#"{{"input":[{{"role":"user","content":"Go."}},{{"type":"compaction","encrypted_content":"c2ln","created_by":"{by}"}}]}}"#
            )
        };
        let of = |by: &str| found(Format::OpenaiResponses, &body("one"), &body(by));
        assert_eq!((of("one"), of("another")), (1, 0));
    }

    #[test]
    fn ids_and_names_are_compared() {
        let body = |id: &str, name: &str| {
            let call = format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}"#
            );
            let step = format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#);
            format!(r#"[{{"role":"user","content":"Go."}},{step}]"#)
        };
        let of = |id: &str, name: &str| found(Format::OpenaiChat, &body("a", "f"), &body(id, name));
        assert_eq!((of("a", "f"), of("b", "f"), of("a", "g")), (1, 0, 0));
    }
}
