//! Bodies in which something is of another type than it should be: whatever stands where, nothing panics, and what repair
//! yields is JSON with no more wrong in it than before.

use std::collections::HashSet;

use epitome::wire::{self, Finding, Format, Mend, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use testkit::Case;
use testkit::generate::{broken, cases, valid};
use testkit::to_percent;

/// What is done to one value of a body.
#[derive(Clone, Debug)]
enum Change {
    /// Another stands there.
    Put(Value),
    /// It isn't there.
    Remove,
    /// One from elsewhere in the body stands there.
    Copy(Index),
    /// Another stands before it, in a list.
    Insert(Value),
}

/// Values of every type, small ones first, which is how they shrink.
fn odd() -> impl Strategy<Value = Value> {
    select(vec![
        Value::Null,
        json!(true),
        json!(5),
        json!(-1.5e300),
        json!(""),
        json!("x"),
        json!(" "),
        json!("user"),
        json!("tool"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([null]),
        json!([{}]),
        json!({"a": 1}),
        json!({"name": "f"}),
        json!("{"),
    ])
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => odd().prop_map(Change::Put),
        1 => Just(Change::Remove),
        1 => any::<Index>().prop_map(Change::Copy),
        1 => odd().prop_map(Change::Insert),
    ]
}

/// Where all values are, but for the body's members themselves.
fn places(value: &Value, at: &str, depth: usize, found: &mut Vec<String>) {
    if depth > 1 {
        found.push(at.to_owned());
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), depth + 1, found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(member, &format!("{at}/{key}"), depth + 1, found);
            }
        }
        _ => {}
    }
}

fn changed(body: &mut Value, at: Index, change: &Change) {
    let mut all = Vec::new();
    places(body, "", 0, &mut all);
    if all.is_empty() {
        return;
    }
    let at = at.get(&all[..]).as_str();
    let there = |body: &mut Value, value: Value| {
        *body.pointer_mut(at).expect("it is a place in it") = value;
    };
    match change {
        Change::Put(value) => there(body, value.clone()),
        Change::Copy(from) => {
            let value =
                body.pointer(from.get(&all[..]).as_str()).expect("it is a place in it").clone();
            there(body, value);
        }
        Change::Remove | Change::Insert(_) => {
            let (holder, key) = at.rsplit_once('/').expect("it is in something");
            match (body.pointer_mut(holder), change) {
                (Some(Value::Object(members)), Change::Remove) => {
                    members.remove(&key.replace("~1", "/").replace("~0", "~"));
                }
                (Some(Value::Array(items)), Change::Remove) => {
                    items.remove(key.parse().expect("an index"));
                }
                (Some(Value::Array(items)), Change::Insert(value)) => {
                    items.insert(key.parse().expect("an index"), value.clone());
                }
                _ => {}
            }
        }
    }
}

/// The case with these changes, as a body or a list.
fn mistyped((case, changes): (Case, Vec<(Index, Change)>)) -> (Format, String) {
    let rows = serde_json::Deserializer::from_str(&case.text).into_iter::<Value>();
    let mut rows: Vec<Value> = rows.map(|row| row.expect("a case is JSON")).collect();
    let is_body = rows.len() == 1 && (rows[0].is_array() || rows[0].get("role").is_none());
    let mut body = if is_body { rows.remove(0) } else { Value::Array(rows) };
    for (at, change) in &changes {
        changed(&mut body, *at, change);
    }
    (case.format, body.to_string())
}

fn bodies() -> impl Strategy<Value = (Format, String)> {
    let case = prop_oneof![3 => valid(), 1 => broken()];
    (case, vec((any::<Index>(), change()), 1..=4)).prop_map(mistyped)
}

/// Whether these would leave nothing, were they mended.
fn would_empty(request: &Request, left: &[Finding]) -> bool {
    let named: HashSet<usize> = left.iter().map(|finding| finding.entry).collect();
    named.len() == request.transcript.len()
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn what_repair_yields_is_json_and_no_worse((format, body) in bodies()) {
        let Ok(request) = wire::parse(format, body.clone()) else { return Ok(()) };
        let before = wire::check(&request);
        let repaired = wire::repair(&request);
        let source = repaired.request.source();
        prop_assert!(serde_json::from_str::<Value>(source).is_ok(), "{body}\nbecame\n{source}");
        let left = wire::check(&repaired.request);
        prop_assert!(left.len() <= before.len(), "{:?} became {:?}", before, left);
        prop_assert_eq!(left.len(), repaired.left.len());
        let is_over = left.iter().all(|finding| finding.mend == Mend::Nothing);
        prop_assert!(is_over || would_empty(&repaired.request, &left), "{body}\nbecame\n{source}: {:?}", left);
    }

    #[test]
    fn nothing_panics(
        (format, body) in bodies(),
        percent in select(vec![1_u8, 10, 50, 80]),
        to in select(&Format::ALL[..]),
    ) {
        let Ok(request) = wire::parse(format, body) else { return Ok(()) };
        let compactor = testkit::compactor(to_percent(percent), "o200k");
        let outcome = compactor.compact(&request);
        for request in outcome.iter().map(|outcome| &outcome.request).chain([&request]) {
            prop_assert!(wire::parse(format, request.source().to_string()).is_ok());
            let converted = epitome::convert::convert(request, to);
            prop_assert!(serde_json::from_str::<Value>(&converted.text).is_ok(), "{}", converted.text);
        }
    }
}
