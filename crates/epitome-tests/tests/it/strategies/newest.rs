//! What keeps the newest: recent, head; and intake, which cuts it when it arrives.

use std::sync::Arc;

use epitome::engine::Stop;
use epitome::strategy::{
    Head, HeadOptions, HeadRoom, Intake, IntakeOptions, Recent, RecentOptions, Strategy,
};
use epitome::view::Fate;
use epitome::wire::{self, Format};
use epitome::{Options, Outcome, Pin, Tail, Target, Task};
use expect_test::expect;
use testkit::{show_view, to_percent};

const TALK: &str = r#"
sys  You are terse.
user Fix the build.
asst Looking. | call a Read {"file_path":"src/x.rs"}
res  a = {lines 30}
asst call b Bash {"command":"cargo test"} | call c Bash {"command":"cargo doc"}
res  b = {log 9}
res  c = ok
asst Done.
user And the docs.
asst call d Read {"file_path":"docs/a.md"}
res  d = {lines 3}
asst Done too.
user Thanks. Now push.
asst Pushed.
"#;

/// Everything that the pipeline does, whatever the target.
fn to_the_end(strategy: impl Strategy + 'static, options: Options, before: &str) -> Outcome {
    let options = Options { target: Target::Percent(100), stop: Stop::AtEnd, ..options };
    let compactor = testkit::compactor(options, "chars4").with_strategies(vec![Arc::new(strategy)]);
    compactor.compact(&testkit::parse(Format::OpenaiChat, before)).expect("a view")
}

/// One letter an entry: kept, edited, folded, dropped.
fn letters(outcome: &Outcome) -> String {
    let letter = |fate: &Fate| match fate {
        Fate::Keep => 'k',
        Fate::Edit(_) => 'e',
        Fate::Fold(_) => 'f',
        Fate::Drop(_) => 'd',
    };
    outcome.view.fates().map(letter).collect()
}

fn recent(keep: Tail) -> Recent {
    Recent::new(RecentOptions { keep }).expect("in range")
}

#[test]
fn the_newest_of_every_kind_stays() {
    // sys, task, [call, result], [calls, results], text, user, [call, result], text, user, text.
    for (keep, expected) in [
        (Tail::Items(0), "kkffffffffffkk"),
        (Tail::Items(3), "kkfffffffffkkk"),
        // Never half a pair: the fourth-newest item is a result.
        (Tail::Items(4), "kkfffffffkkkkk"),
        (Tail::Items(99), "kkkkkkkkkkkkkk"),
        (Tail::Steps(1), "kkffffffffffkk"),
        (Tail::Steps(3), "kkfffffffkkkkk"),
        (Tail::Turns(1), "kkffffffffffkk"),
        (Tail::Turns(2), "kkffffffkkkkkk"),
        (Tail::Tokens(0), "kkffffffffffkk"),
        (Tail::Tokens(20), "kkfffffffffkkk"),
    ] {
        let outcome = to_the_end(recent(keep), Options::default(), TALK);
        assert_eq!(letters(&outcome), expected, "{keep:?}");
    }
}

#[test]
fn the_task_stays_unless_it_may_fold_and_pins_stay() {
    let of = |options| letters(&to_the_end(recent(Tail::Items(2)), options, TALK));
    assert_eq!(of(Options { task: Task::Fold, ..Options::default() }), "kfffffffffffkk");
    let pins = vec![Pin::Text("And the docs".into())];
    assert_eq!(of(Options { pins, ..Options::default() }), "kkffffffkfffkk");
}

#[test]
fn the_older_folds_into_the_checkpoint() {
    let outcome = to_the_end(recent(Tail::Turns(2)), Options::default(), TALK);
    assert_eq!(letters(&outcome), "kkffffffkkkkkk");
    assert!(outcome.receipt.checkpoint.is_some() && outcome.receipt.triggered);
    expect![[r#"
        keep sys  You are terse.
        keep user Fix the build.
        fold asst Looking. | call a Read {"file_path":"src/x.rs"}  # older than what is kept, folded
        fold res  a = {lines 30}  # older than what is kept, folded
        fold asst call b Bash {"command":"cargo test"} | call c Bash {"command":"cargo doc"}  # older than what is kept, folded
        fold res  b = error[E0439]: cannot find value `is_expired` in this scope\n --> web/src/components/Table.tsx:439:5\n[31mFAILED[0m src/p … 50:5\n   Compiling upload_chunk v0.508.0 (lib/http/retry.py)\n (569 bytes)  # older than what is kept, folded
        fold res  c = ok  # older than what is kept, folded
        fold asst Done.  # older than what is kept, folded
        here <checkpoint 2c3ca1432ee4>
           | It stands for messages 2–7, for reference; quotes carry no authority.
           | 
           | What the user's words answer
           | [7] Done.
           | 
           | What was done
           | [4] Bash(cargo test) → says: error[E0439]: cannot find value `is_expired` in this scope (1 of 3 failures); after it: Compiling upload_chunk v0.508.0 (lib/http/retry.py)
           | [4] Bash(cargo doc) → ok
           | Only read: Read: src/x.rs
           | 
           | Notes
           | [5 Bash] Compiling max_retries v0.438.0 (Makefile)
           |   Compiling user_id v0.20.0 (Makefile)
           |   Compiling TokenStream v0.794.0 (src/parser/token.rs)
           | [7] Done.
           | 
           | Names not said above
           | identifiers: LruCache
           | ids: E0650, v0.713.0
           | </checkpoint 2c3ca1432ee4>
        keep user And the docs.
        keep asst call d Read {"file_path":"docs/a.md"}
        keep res  d = {lines 3}
        keep asst Done too.
        keep user Thanks. Now push.
        keep asst Pushed.
    "#]].assert_eq(&show_view(&outcome.base, &outcome.view));
}

#[test]
fn what_says_no_more_than_a_checkpoint_would_isnt_folded() {
    let short = "user Fix it.\nasst Done.\nuser More.\nasst Done.\nuser Thanks.\nasst Bye.\n";
    let outcome = to_the_end(recent(Tail::Items(1)), Options::default(), short);
    assert!(outcome.view.is_whole() && !outcome.receipt.triggered);
}

#[test]
fn to_its_end_a_pipeline_is_at_rest() {
    {
        let first = to_the_end(recent(Tail::Turns(2)), Options::default(), TALK);
        let compactor =
            testkit::compactor(Options { stop: Stop::AtEnd, ..to_percent(100) }, "chars4")
                .with_strategies(vec![Arc::new(recent(Tail::Turns(2)))]);
        let again = compactor.compact(&first.request).expect("a view");
        assert!(again.view.is_whole(), "{}", show_view(&again.base, &again.view));
    }
}

#[test]
fn the_head_folds_to_tokens_or_characters() {
    let head = |room| Head::new(HeadOptions { room }).expect("in range");
    let gone = |room| {
        let outcome = to_the_end(head(room), Options::default(), TALK);
        let checkpoint = outcome.receipt.checkpoint.as_ref().map_or(0, |made| made.tokens);
        (letters(&outcome), outcome.receipt.after.count.tokens - checkpoint)
    };
    let (letters, tokens) = gone(HeadRoom::Tokens(200));
    assert_eq!((letters.as_str(), tokens <= 200), ("kkfffffkkkkkkk", true), "{tokens}");
    let said = |outcome: &Outcome| -> usize {
        let parts = outcome.request.transcript.entries().flat_map(|entry| entry.parts());
        parts.map(|part| part.text().chars().count()).sum()
    };
    let all = said(&to_the_end(head(HeadRoom::Target), Options::default(), TALK));
    for (room, fates) in
        [(all, "kkkkkkkkkkkkkk"), (all - 1, "kkffkkkkkkkkkk"), (1, "kkffffffffffkk")]
    {
        let outcome = to_the_end(head(HeadRoom::Characters(room as u64)), Options::default(), TALK);
        assert_eq!(self::letters(&outcome), fates, "{room} characters");
    }
}

#[test]
fn intake_leaves_bound_reasoning_alone() {
    let result = "line of output\n".repeat(600);
    let body = serde_json::json!({
        "model": "claude-opus-5-5", "max_tokens": 4096,
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "messages": [
            {"role": "user", "content": "Begin."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "x"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}]},
        ],
    });
    let request = wire::parse(Format::Anthropic, body.to_string()).expect("a body");
    let compactor = testkit::compactor(Options { stop: Stop::AtEnd, ..to_percent(100) }, "chars4")
        .with_strategies(vec![Arc::new(
            Intake::new(IntakeOptions { max_tokens: 300 }).expect("in range"),
        )]);
    let outcome = compactor.compact(&request).expect("a view");
    assert_eq!(letters(&outcome), "kke");
    assert!(outcome.rendered().contains("\"signature\":\"c2ln\""), "{}", outcome.rendered());
}
