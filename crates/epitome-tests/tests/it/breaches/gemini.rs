//! Gemini: responses by id, name and order, signatures, and contents of the model's in a row.

use epitome::wire::Format;
use expect_test::expect;

use super::check;

const ASK: &str = r#"{"role":"user","parts":[{"text":"Go."}]}"#;
const SAY: &str = r#"{"role":"model","parts":[{"text":"Well."}]}"#;

fn body(frame: &str, contents: &[String]) -> String {
    format!("{{{frame}\"contents\":[{}]}}", contents.join(","))
}

fn said(contents: &[&str]) -> String {
    body("", &contents.iter().map(|content| (*content).to_owned()).collect::<Vec<_>>())
}

/// A call or a response, by its members.
fn of(role: &str, kind: &str, members: &str) -> String {
    let rest = if kind == "functionCall" { r#""args":{}"# } else { r#""response":{"output":"x"}"# };
    format!(r#"{{"role":"{role}","parts":[{{"{kind}":{{{members}{rest}}}}}]}}"#)
}

fn call(members: &str) -> String {
    of("model", "functionCall", members)
}

fn response(members: &str) -> String {
    of("user", "functionResponse", members)
}

#[test]
fn a_response_is_its_calls_by_id_then_by_name_then_by_order() {
    let (a, b) = (r#""id":"a","name":"f","#, r#""id":"b","name":"f","#);
    let nobodys = r#""id":"z","name":"f","#;
    let long = format!(r#""id":"a","name":"{}","#, "f".repeat(129));
    let cached = body(r#""cachedContent":"c","#, &[response(r#""id":"a","#), SAY.to_owned()]);
    check(
        Format::Gemini,
        &[
            ("by id", said(&[ASK, &call(a), &response(a)])),
            (
                "by name, for the call has no id",
                said(&[ASK, &call(r#""name":"f","#), &response(nobodys)]),
            ),
            ("by name, for its id is nobody's", said(&[ASK, &call(a), &response(nobodys)])),
            ("by order, for it says nothing", said(&[ASK, &call(a), &response("")])),
            ("an id alone that is nobody's", said(&[ASK, &call(a), &response(r#""id":"z","#)])),
            (
                "an id that was an earlier call's",
                said(&[ASK, &call(a), &response(a), &call(b), &response(a)]),
            ),
            ("in a later turn", said(&[ASK, &call(a), ASK, SAY, &response(a)])),
            ("before its call", said(&[ASK, SAY, &response(a), &call(a), ASK])),
            ("without a name, for what is cached", cached),
            ("by id, with a name that is too long", said(&[ASK, &call(a), &response(&long)])),
        ],
        &expect![[r#"
            by id: sound
            by name, for the call has no id: sound
            by name, for its id is nobody's
              gemini/response-name in 2: `z`: not its call's Label { result: Slot(2), name: "f", id: Some("a") }
            by order, for it says nothing
              gemini/response-name in 2: ``: not its call's Label { result: Slot(2), name: "f", id: None }
            an id alone that is nobody's
              gemini/answered in 1: `a`: unanswered Answer(Slot(1))
              gemini/orphan in 2: `z`: no such call right before it DropPart(Slot(2))
            an id that was an earlier call's
              gemini/answered in 3: `b`: unanswered Answer(Slot(3))
              gemini/orphan in 4: `a`: no such call right before it DropPart(Slot(4))
            in a later turn
              gemini/response-place in 4: `a`: no such call right before it MoveResult { result: Slot(4), call: Slot(1) }
            before its call
              gemini/orphan in 2: `a`: no such call right before it DropPart(Slot(2))
              gemini/answered in 3: `a`: unanswered Answer(Slot(3))
            without a name, for what is cached
              gemini/response-name in 0: `a`: no name Label { result: Slot(0), name: "unknown", id: None }
            by id, with a name that is too long
              gemini/response-name in 2: `a`: not its call's Label { result: Slot(2), name: "f", id: None }
        "#]],
    );
}

#[test]
fn names_are_as_long_as_they_may_be() {
    let named = |letters: usize| {
        let name = format!(r#""name":"{}","#, "f".repeat(letters));
        let pair = [ASK.to_owned(), call(&name), response(&name)];
        body("", &pair)
    };
    let found = |letters| {
        let request = epitome::wire::parse(Format::Gemini, named(letters)).expect("contents");
        epitome::wire::check(&request).len()
    };
    assert_eq!((found(128), found(129)), (0, 2), "the call's and its response's");
}

#[test]
fn contents_of_the_models_in_a_row_are_one_where_anything_is_called() {
    let a = r#""name":"f","#;
    let code = r#"{"role":"user","parts":[{"executableCode":{"language":"PYTHON","code":"1"}}]}"#;
    check(
        Format::Gemini,
        &[
            ("without a call", said(&[ASK, SAY, SAY, ASK])),
            ("a call behind a text", said(&[ASK, SAY, &call(a), &response(a)])),
            ("a call between texts", said(&[ASK, SAY, &call(a), SAY, &response(a)])),
            ("what a server ran, on the user's side", said(&[code])),
        ],
        &expect![[r#"
            without a call: sound
            a call behind a text
              gemini/call-place in 2: behind another content of the model's Join { into: 1 }
            a call between texts
              gemini/call-place in 2: behind another content of the model's Join { into: 1 }
              gemini/call-place in 3: behind another content of the model's Join { into: 1 }
            what a server ran, on the user's side: sound
        "#]],
    );
}

#[test]
fn the_first_call_of_each_step_of_the_turn_is_signed() {
    let signed = |content: String| {
        content.replace(r#""args":{}}"#, r#""args":{}},"thoughtSignature":"c2ln""#)
    };
    let (one, answer) = (call(r#""name":"f","#), response(r#""name":"f","#));
    let good = signed(one.clone());
    let media = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aa"}}]}}]}"#;
    let served = good.replace(
        r#""parts":["#,
        r#""parts":[{"executableCode":{"language":"PYTHON","code":"1"}},"#,
    );
    let turn = |contents: &[&str]| {
        let contents: Vec<String> = contents.iter().map(|content| (*content).to_owned()).collect();
        body(r#""model":"gemini-3-pro","#, &contents)
    };
    check(
        Format::Gemini,
        &[
            ("signed", turn(&[ASK, &good, &answer])),
            ("behind a part of the server's", turn(&[ASK, &served, &answer])),
            ("one step of the turn isn't", turn(&[ASK, &good, &answer, &one, &answer])),
            ("none is", turn(&[ASK, &one, &answer, &one, &answer])),
            ("with the model's first", turn(&[&one, &answer])),
            ("the model had the last word", turn(&[ASK, &one, &answer, SAY])),
            ("a turn that is over", turn(&[ASK, &one, &answer, SAY, ASK])),
            ("media in a response begin no turn", turn(&[ASK, &one, media])),
            ("behind a text of the model's", turn(&[ASK, SAY, &one, &answer])),
            ("an earlier model", said(&[ASK, &one, &answer])),
        ],
        &expect![[r#"
            signed: sound
            behind a part of the server's: sound
            one step of the turn isn't
              gemini/signature in 3: f Sign(Slot(4))
            none is
              gemini/signature in 1: f Sign(Slot(1))
              gemini/signature in 3: f Sign(Slot(3))
            with the model's first
              gemini/opening in 0: begins with calls LeadIn
              gemini/signature in 0: f Sign(Slot(0))
            the model had the last word
              gemini/signature in 1: f Sign(Slot(1))
            a turn that is over: sound
            media in a response begin no turn
              gemini/signature in 1: f Sign(Slot(1))
            behind a text of the model's
              gemini/call-place in 2: behind another content of the model's Join { into: 1 }
            an earlier model: sound
        "#]],
    );
}
