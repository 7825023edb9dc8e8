//! Failed calls.

use std::sync::Arc;

use epitome::Format;
use epitome::count::counter;
use epitome::strategy::Failed;
use epitome::{Compactor, Options, Target, wire};
use expect_test::expect;
use testkit::check_in;
use testkit::laws::check_all;

use super::to;

const TRIES: &str = r#"
user Book a room.
asst call a book {"room":"12","guest":"Mia"}
res! a = {lorem 60}
asst Room 12 is taken, so I try another one. | call b book {"room":"13"}
res! b = {lorem 60}
asst call c book {"room":"14"} | call d look {"room":"15"}
res! c = {lorem 60}
res  d = free
asst call e book {"room":"15"}
res  e = Error: the card was declined {lorem 60}
asst call f read_file {"path":"a.log"}
res  f = Error: this is what the file says {lorem 60}
user And breakfast?
asst call g book {"room":"16"}
res! g = {lorem 60}
asst {lorem 20}
"#;

#[test]
fn an_old_failed_result_is_a_line_that_says_how() {
    check_in(
        Format::Anthropic,
        vec![Arc::new(Failed)],
        to(100),
        TRIES,
        &expect![[r#"
            781 → 493 tokens, target 100
            keep 2 entries
            edit res! a = {lorem 60}
               > res! a = [elided: book(room=12, guest=Mia) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep asst Room 12 is taken, so I try another one. | call b book {"room":"13"}
            edit res! b = {lorem 60}
               > res! b = [elided: book(room=13) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep asst call c book {"room":"14"} | call d look {"room":"15"}
            edit res! c = {lorem 60}
            edit res  d = free
               > res! c = [elided: book(room=14) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep asst call e book {"room":"15"}
            edit res  e = Error: the card was declined lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim d … ore nostrud adipiscing ut minim sit eiusmod magna lorem elit (405 bytes)
               > res e = [elided: book(room=15) → 1 line, 405 B, failed: Error: the card was declined lorem elit labore veniam amet tempor aliqua ipsum sed et quis …]  # failed call, stubbed
            keep 4 entries
            edit res! g = {lorem 60}
               > res! g = [elided: book(room=16) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep asst {lorem 20}
        "#]],
    );
}

#[test]
fn a_pair_stays_beside_reasoning_and_signatures() {
    let before = r#"
user Book a room.
asst think* hm | call a book {"room":"12"} | call b look {"room":"13"}
res! a = {lorem 60}
res  b = free

asst think* so | call c book {"room":"13"}
res! c = {lorem 60}

user And breakfast?
asst Fine.
"#;
    check_in(
        Format::Anthropic,
        vec![Arc::new(Failed)],
        to(100),
        before,
        &expect![[r#"
            277 → 165 tokens, target 100
            keep 2 entries
            edit res! a = {lorem 60}
            edit res  b = free
               > res! a = [elided: book(room=12) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep asst think* so | call c book {"room":"13"}
            edit res! c = {lorem 60}
               > res! c = [elided: book(room=13) → 1 line, 376 B, failed: lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do …]  # failed call, stubbed
            keep 2 entries
        "#]],
    );
}

/// A batch is looked at though the bound thought that it began with has left: a second compaction,
/// which never saw the thought, would.
#[test]
fn a_batch_whose_first_entry_left_is_looked_at() {
    let body = concat!(
        r#"{"model":"gpt-6.2-sol","store":false,"reasoning":{"effort":"medium","summary":null},"too"#,
        r#"ls":[{"type":"function","name":"Read","parameters":{"type":"object"},"strict":false},"#,
        r#"{"type":"custom","name":"Edit"}],"input":[{"type":"program","id":"prg_1","call_id":"prog"#,
        r#"_1","code":"ok","fingerprint":"f1"},"#,
        r#"{"type":"function_call","name":"Read","arguments":"{}","call_id":"call_1"},"#,
        r#"{"type":"function_call_output","output":"ok","call_id":"call_1"},"#,
        r#"{"type":"program_output","id":"pro_1","call_id":"prog_1","result":"done","status":"compl"#,
        r#"eted"},"#,
        r#"{"type":"function_call","name":"Read","arguments":"{\"file_path\":\"ok\",\"limit\":1.0e2"#,
        r#"}","call_id":"call_3"},"#,
        r#"{"type":"function_call_output","output":"ok","call_id":"call_3"},"#,
        r#"{"role":"user","content":"lorem elit labore veniam amet tempor aliqua ipsum sed et quis "#,
        r#"consectetur incididunt enim dolor do dolore nostrud adipiscing ut minim sit eiusmod magn"#,
        r#"a ipsum sed et quis consectetur incididunt enim dolor do dolore nostrud adipiscing ut mi"#,
        r#"nim sit eiusmod magna lorem elit labore veniam amet tempor aliqua dolor do dolore nostru"#,
        r#"d adipiscing ut minim sit eiusmod magna lorem elit labore veniam amet tempor aliqua ipsu"#,
        r#"m sed et quis consectetur incididunt enim sit eiusmod magna lorem elit labore veniam ame"#,
        r#"t"},"#,
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Thinking."}],"content":nul"#,
        r#"l,"encrypted_content":"ok"},"#,
        r#"{"type":"shell_call","action":{"commands":["lorem"],"timeout_ms":null},"call_id":"shell_"#,
        r#"6"},"#,
        r#"{"type":"message","role":"system","content":[{"type":"input_text","text":"Obey."}]},"#,
        r#"{"type":"function_call","name":"Read","arguments":"{\"file_path\":\"ok\",\"limit\":1.0e2"#,
        r#"}","call_id":"call_8"},"#,
        r#"{"type":"shell_call_output","output":[{"stdout":"","stderr":"1: lorem elit labore veniam"#,
        r#" amet\n2: lorem elit labore veniam amet tempor\n3: lorem elit labore veniam amet tempor "#,
        r#"aliqua\n4: lorem elit labore veniam amet tempor aliqua ipsum","outcome":{"type":"exit",""#,
        r#"exit_code":1}},"#,
        r#"{"stdout":"done","stderr":"","outcome":{"type":"exit","exit_code":1}}],"call_id":"shell_"#,
        r#"6"},"#,
        r#"{"type":"function_call_output","output":"ok","call_id":"call_8"},"#,
        r#"{"type":"function_call","name":"Grep","arguments":"{ \"q\" : [\"ok\", {\"deep\":{}}] }","#,
        r#""call_id":"call_10"},"#,
        r#"{"type":"function_call_output","output":"ok","call_id":"call_10"}],"stream":true}"#,
    );
    let request = wire::parse(Format::OpenaiResponses, body.to_owned()).expect("JSON");
    let options = Options {
        target: Target::Percent(16),
        preserved_tools: vec!["Grep".to_owned()],
        ..Options::default()
    };
    let compactor = Compactor::new(options, counter("o200k").expect("a known name"));
    check_all(&request, &compactor.expect("in range")).expect("the laws hold");
}
