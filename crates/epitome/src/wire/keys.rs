//! Looking for keys where they can be: not in the texts that an entry is known to have.

use crate::json::{Sought, may_mention};
use crate::transcript::{Entry, Marks};

/// Whether `name` may be a key in an entry: a quick look, before all of it is read.
pub(super) fn may_have(entry: Entry<'_>, name: &Sought) -> bool {
    let (raw, origin) = (entry.raw(), entry.span().start);
    let texts = entry.parts().filter(|part| part.is(Marks::LITERAL)).map(|part| part.row().body);
    let texts = texts.filter(|text| !text.is_empty());
    let mut texts: Vec<_> = texts.map(|text| text.relative_to(origin).range()).collect();
    // Members come in any order.
    texts.sort_unstable_by_key(|text| text.start);
    let mut at = 0;
    for text in texts {
        if text.start >= at && may_mention(&raw[at..text.start], name) {
            return true;
        }
        at = at.max(text.end);
    }
    may_mention(&raw[at..], name)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use memchr::memmem::Finder;

    use super::*;
    use crate::wire::{Format, parse};

    #[test]
    fn a_key_is_found_wherever_it_stands_and_words_are_none() {
        static KEY: Sought = LazyLock::new(|| Finder::new("tool_calls"));
        let call = r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#;
        for (members, is_there) in [
            (r#""content":"x""#, false),
            (r#""content":"tool_calls""#, false),
            (r#""content":"x","tool_calls":null"#, true),
            (r#""content":"x","tool\u005fcalls":null"#, true),
            (r#""tool_calls":null,"content":"x""#, true),
            (r#""reasoning":"tool_calls","content":"x","x":{"tool_calls":1}"#, true),
            (r#""content":"x","reasoning":"tool_calls""#, false),
            // Nothing stands where its arguments would be.
            (r#""content":"x","function_call":{"name":"tool_calls"}"#, true),
            // Which parts come first isn't where they stand.
            (&format!(r#""tool_calls":[{call}],"content":"x","y":1"#), true),
        ] {
            let body = format!(r#"{{"messages":[{{"role":"assistant",{members}}}]}}"#);
            let request = parse(Format::OpenaiChat, body).expect("a message");
            assert_eq!(may_have(request.transcript.entry(0), &KEY), is_there, "{members}");
        }
    }
}
