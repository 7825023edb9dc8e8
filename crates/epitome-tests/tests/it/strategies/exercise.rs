//! The exercise of CONTRIBUTING.md: a strategy in one file, and one test.

use std::fmt::Write as _;

use epitome::strategy::{Edit, Strategy, StrategyContext};
use epitome::transcript::PartKind;
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;
use testkit::{check, to};

/// Says lines of old outputs that come many times in a row once, and how often they came.
#[derive(Debug)]
struct SameLines;

impl Strategy for SameLines {
    fn name(&self) -> &'static str {
        "same-lines"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        context
            .old_entries(context.budget.recent())
            .flat_map(|entry| context.editable(entry))
            .filter(|part| part.kind() == PartKind::Result)
            .filter_map(|part| {
                let once = once(&context.counts.part_text(&part));
                let saves = context.counts.put_tokens(&part, &once) < context.tokens(&part);
                let put = Put::Text(once.into());
                let reason = Reason::Custom("same-lines".parse().expect("a label"));
                let edit = PartEdit { at: part.slot, put, reason };
                saves.then_some(Edit::Put(edit))
            })
            .collect()
    }
}

fn once(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for run in lines.chunk_by(|one, next| one == next) {
        let _ = match run.len() {
            1 => writeln!(out, "{}", run[0]),
            many => writeln!(out, "{} (× {many})", run[0]),
        };
    }
    out
}

#[test]
fn a_line_that_comes_again_is_said_once() {
    let wait = "waiting for the lock\\n".repeat(40);
    let before = format!(
        "user Wait for it.\nasst call a Bash {{\"command\":\"lock\"}}\nres  a = begin\\n{wait}got it\nasst {{lorem 30}}\n"
    );
    check(
        SameLines,
        to(100),
        &before,
        &expect![[r#"
            311 → 98 tokens, target 100
            keep 2 entries
            edit res  a = begin\nwaiting for the lock\nwaiting for the lock\nwaiting for the lock\nwaiting for the lock\nwaiting for the lock\nwaiting f … or the lock\nwaiting for the lock\nwaiting for the lock\ngot it (852 bytes)
               > res a = begin\nwaiting for the lock (× 40)\ngot it\n  # same-lines
            edit asst {lorem 30}
               > text = lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur [… 65 B elided …] eiusmod magna ipsum sed et quis consectetur incididunt  # larger than its share of the target, excerpted
        "#]],
    );
}
