//! Law 3 for edits: an edited entry is still JSON, and differs in its edited slots only.

use epitome::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use epitome::view::{Fate, PartEdit, Placed, Put, Reason, View};
use epitome::wire::{self, Format, Laid, Request};
use epitome::word_list::words;
use proptest::prelude::*;
use serde_json::Value;
use testkit::generate::{cases, valid};

/// What may be put in place of a part; `number` chooses.
fn replacement(request: &Request, entry: Entry<'_>, part: Part<'_>, number: u8) -> Option<Put> {
    let stub: Put = Put::Text(format!("stub \"{number}\" é\n").into());
    let paired = matches!(part.kind(), PartKind::Call | PartKind::Result);
    match number % 4 {
        0 | 1 => None,
        // A result that leaves alone would break its pair.
        2 if request.format == Format::OpenaiChat && entry.role() == Role::Tool && paired => None,
        _ if part.is(Marks::FIXED) => None,
        _ if has_items(request.format) && is_item(entry, part) => None,
        2 if has_items(request.format) && paired => None,
        2 => Some(Put::Nothing),
        _ if part.is(Marks::WORDLESS) => None,
        _ => match part.kind() {
            PartKind::Call if part.row().body.is_empty() => None,
            PartKind::Call => Some(Put::Arguments(format!(r#"{{"number":{number}}}"#).into())),
            // Reasoning is kept or leaves; nobody writes into it.
            PartKind::Reasoning | PartKind::Opaque | PartKind::Link => None,
            PartKind::Result if part.is(Marks::SERVER) || part.row().body.is_empty() => None,
            PartKind::Text | PartKind::Media | PartKind::Result => Some(stub),
        },
    }
}

/// Whether entries are flat.
fn has_items(format: Format) -> bool {
    matches!(format, Format::OpenaiResponses | Format::GeminiInteractions)
}

/// Whether the part is its item, so that it leaves only with it, or is of a shell's output, which says words
/// in a way of its own.
fn is_item(entry: Entry<'_>, part: Part<'_>) -> bool {
    let item: Value = serde_json::from_str(entry.raw()).expect("an entry is JSON");
    let is_shell = item["type"] == "shell_call_output";
    is_shell || part.raw() == entry.raw() || part.kind() == PartKind::Reasoning
}

/// What a part says, as far as an edit may not change it.
#[derive(Debug, PartialEq)]
struct Said {
    kind: PartKind,
    id: String,
    text: String,
    is_nested: bool,
}

impl Said {
    fn of(part: Part<'_>) -> Self {
        Said {
            kind: part.kind(),
            id: part.id().into_owned(),
            text: part.text().into_owned(),
            is_nested: part.is(Marks::NESTED),
        }
    }
}

/// What an entry says after `edits`, without a look at how splicing does it.
fn expected(format: Format, entry: Entry<'_>, edits: &[PartEdit]) -> Vec<Said> {
    let put = |slot: Slot| edits.iter().find(|edit| edit.at == slot).map(|edit| &edit.put);
    let mut said = Vec::new();
    let mut parts = entry.parts().peekable();
    while let Some(part) = parts.next() {
        let mut nested = Vec::new();
        if part.kind() == PartKind::Result {
            while let Some(inner) = parts.next_if(|next| next.is(Marks::NESTED)) {
                nested.push(inner);
            }
        }
        let replaced = put(part.slot);
        let changed = nested.iter().any(|inner| put(inner.slot).is_some());
        match replaced {
            Some(Put::Nothing) => continue,
            Some(Put::Text(text) | Put::Arguments(text)) => {
                let mut new = Said::of(part);
                new.text = text.to_string();
                if matches!(part.kind(), PartKind::Media) {
                    new.kind = PartKind::Text;
                }
                said.push(new);
                continue;
            }
            None => {}
        }
        let mut outer = Said::of(part);
        let mut inside = Vec::new();
        for inner in nested {
            match put(inner.slot) {
                Some(Put::Nothing) => {}
                Some(Put::Text(text) | Put::Arguments(text)) => inside.push(Said {
                    kind: if inner.kind() == PartKind::Media {
                        PartKind::Text
                    } else {
                        inner.kind()
                    },
                    id: String::new(),
                    text: text.to_string(),
                    is_nested: true,
                }),
                None => inside.push(Said::of(inner)),
            }
        }
        match inside.as_slice() {
            // Bedrock has no other way to say words than a list of one text.
            [words] if format == Format::Bedrock && changed && words.kind == PartKind::Text => {
                outer.text.clone_from(&words.text);
                inside.clear();
            }
            _ if changed => outer.text = String::new(),
            _ => {}
        }
        said.push(outer);
        said.extend(inside);
    }
    said
}

fn said(entry: Entry<'_>) -> Vec<Said> {
    entry.parts().map(Said::of).collect()
}

/// An entry without the members that hold parts.
fn rest(raw: &str) -> Value {
    let mut value: Value = serde_json::from_str(raw).expect("an entry is JSON");
    if let Some(members) = value.as_object_mut() {
        for key in words!(
            "content parts id arguments input output result tool_calls function_call \
             reasoning_content reasoning_details signature summary"
        ) {
            members.remove(key);
        }
    }
    value
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn only_edited_slots_change(case in valid(), rolls in prop::collection::vec(any::<u8>(), 8..64)) {
        let request = case.request();
        let mut view = View::default();
        let mut all = Vec::new();
        for entry in request.transcript.entries() {
            let mut edits = Vec::new();
            let mut outer_is_replaced = false;
            for part in entry.parts() {
                let roll = rolls[part.slot.0 as usize % rolls.len()];
                if !part.is(Marks::NESTED) {
                    outer_is_replaced = false;
                } else if outer_is_replaced {
                    continue;
                }
                let Some(put) = replacement(&request, entry, part, roll) else { continue };
                outer_is_replaced |= part.kind() == PartKind::Result;
                edits.push(PartEdit { at: part.slot, put, reason: Reason::LongText });
            }
            all.push(edits.clone());
            view.push(if edits.is_empty() { Fate::Keep } else { Fate::Edit(edits.into()) });
        }
        let text = wire::render(&request, &view);
        let after = wire::parse(request.format, text.clone())
            .map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(after.transcript.len(), request.transcript.len());
        for ((old, new), edits) in request.transcript.entries().zip(after.transcript.entries()).zip(&all) {
            if edits.is_empty() {
                prop_assert_eq!(old.raw(), new.raw());
                continue;
            }
            let mut is = said(new);
            let should = expected(request.format, old, edits);
            for (is, should) in is.iter_mut().zip(&should) {
                // A list whose elements were edited; they are compared by themselves.
                if should.kind == PartKind::Result && should.text.is_empty() {
                    is.text.clear();
                }
            }
            prop_assert_eq!(&is, &should, "{} became {}", old.raw(), new.raw());
            prop_assert_eq!(rest(old.raw()), rest(new.raw()));
        }
    }

    #[test]
    fn what_is_left_out_leaves_no_hole(case in valid(), rolls in prop::collection::vec(any::<bool>(), 8..64)) {
        let request = case.request();
        let mut view = View::default();
        let shown: Vec<bool> = (0..request.transcript.len()).map(|n| rolls[n % rolls.len()]).collect();
        for is_shown in &shown {
            view.push(if *is_shown { Fate::Keep } else { Fate::Drop(Reason::LastResort) });
        }
        let text = wire::render(&request, &view);
        let kept: Vec<&str> = request.transcript.entries().filter(|e| shown[e.index]).map(|e| e.raw()).collect();
        match wire::parse(request.format, text.clone()) {
            Ok(after) => {
                let laid = wire::layout(&request, &view);
                let messages: Vec<&[Laid]> =
                    laid.chunk_by(|a, b| a.message == b.message).collect();
                prop_assert_eq!(after.transcript.len(), messages.len());
                let mut kept = kept.into_iter();
                for (message, pieces) in after.transcript.entries().zip(messages) {
                    if pieces.len() == 1 {
                        prop_assert_eq!(kept.next(), Some(message.raw()));
                        continue;
                    }
                    let rows: Vec<&str> = kept.by_ref().take(pieces.len()).collect();
                    let rows = wire::parse(request.format, format!("[{}]", rows.join(","))).expect("a list");
                    let elements = |of: &Request| -> Vec<String> {
                        let parts = of.transcript.entries().flat_map(|entry| entry.parts());
                        parts.map(|part| part.raw().to_owned()).collect()
                    };
                    let alone = wire::parse(request.format, format!("[{}]", message.raw())).expect("a list");
                    prop_assert_eq!(elements(&alone), elements(&rows));
                }
            }
            // Lines of nothing are an empty text.
            Err(error) => prop_assert!(kept.is_empty() && text.trim().is_empty(), "{}: {}", error, text),
        }
    }
}

/// Words may stand for the list of items; what takes their place is an item, and stands in a list.
#[test]
fn words_that_a_checkpoint_stands_for_become_a_list() {
    let body = r#"{"model":"gpt-5.4","input":"Fix the build."}"#;
    let request = wire::parse(Format::OpenaiResponses, body.to_owned()).expect("words");
    assert_eq!(wire::render(&request, &View::whole(1)), body);
    let mut view = View::default();
    view.push(Fate::Fold(Reason::OlderStep));
    view.place(Placed { before: 0, text: "What was before.".into() });
    let shown = wire::render(&request, &view);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let items = shown["input"].as_array().expect("a list");
    assert_eq!((items.len(), &items[0]["role"]), (1, &serde_json::json!("user")));
}
