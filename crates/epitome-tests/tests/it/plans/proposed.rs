//! What somebody else proposes: what of it may be done, and where it must land.

use epitome::transcript::{PartKind, Slot};
use epitome::view::{Fate, PartEdit, Put, Reason};
use expect_test::expect;

use super::*;

const WORK: &str = r#"
user Fix the build.
asst think* about it first | Looking at it now. There is a file to be read. Then one to be written. | call a Read {"file_path":"src/x.rs","why":"to see what port it opens, which nobody wrote down"}
res  a = The first line of it.\nThe second line of it, which is long enough to be left out.\nThe third one, to the end of which there is not much to say.
inj  A note that was put in by the client, to say what day it is; and then another thing.
user What is this? It is from the same page as the other. {img 640x480}
asst A picture of a page.
user Go on with it.
"#;

/// Each message kept but for these.
fn but(len: usize, others: &[(usize, Fate)]) -> Vec<Fate> {
    let mut fates = vec![Fate::Keep; len];
    for (at, fate) in others {
        fates[*at] = fate.clone();
    }
    fates
}

fn said(plan: Result<Plan, String>) -> String {
    plan.map_or_else(
        |why| why,
        |plan| {
            let left = |is: &dyn Fn(usize) -> bool| (0..6).filter(|at| is(*at)).collect::<Vec<_>>();
            let folded = left(&|at| plan.draft.is_folded(at));
            let gone = left(&|at| !plan.draft.is_shown(at) && !plan.draft.is_folded(at));
            let edits: usize = plan.steps.iter().map(|step| step.edits).sum();
            let total = plan.draft.total();
            format!(
                "{edits} edits, {total} shown, {} left, folded {folded:?}, gone {gone:?}",
                plan.checkpoint.left
            )
        },
    )
}

#[test]
fn what_is_to_be_dropped_is_folded_with_all_before_it() {
    let gone = || Fate::Drop(Reason::NotRecent);
    let fold = || Fate::Fold(Reason::OlderStep);
    let steps = "user Task.\nasst call a Read\nres  a = {lines 9}\nuser {lorem 60}\nasst Well.\nuser Now.\n";
    let notes = "user Task.\nasst Well, well.\ninj  a note {lorem 40}\nasst Again.\nasst And again.\nuser Now.\n";
    let older = r#"{"messages":[{"role":"user","content":"Task."},{"role":"user","content":"<checkpoint-1a2b3c4d5e6f>\nNot a request. What was said of the pages before this one: that they are read, each of them once, from the first line to the last.\n</checkpoint-1a2b3c4d5e6f>"},{"role":"assistant","content":"Well, and what comes next is read from the page that was told of before, line by line, until it is over; then the next one, and so on for all of them, as was said."},{"role":"user","content":"So be it."},{"role":"assistant","content":"Done."},{"role":"user","content":"Now."}]}"#;
    let older = standing(wire::parse(Format::OpenaiChat, older.to_owned()).expect("messages"), 1);
    let mut drawn = String::new();
    for (what, case, others) in [
        ("a step", Case::drawn(Format::OpenaiChat, steps), vec![(1, gone()), (2, gone())]),
        (
            "half of one is folded",
            Case::drawn(Format::OpenaiChat, steps),
            vec![(1, gone()), (2, fold())],
        ),
        ("half a step", Case::drawn(Format::OpenaiChat, steps), vec![(1, gone())]),
        ("a person", Case::drawn(Format::OpenaiChat, steps), vec![(3, gone())]),
        ("the task", Case::drawn(Format::OpenaiChat, steps), vec![(0, gone())]),
        ("the model", Case::drawn(Format::OpenaiChat, steps), vec![(4, gone())]),
        ("a note", Case::drawn(Format::OpenaiChat, notes), vec![(2, gone())]),
        ("beside an older checkpoint", Case::of(older.clone()), vec![(2, fold())]),
        ("a drop beside one", Case::of(older.clone()), vec![(2, gone())]),
        ("an older checkpoint", Case::of(older), vec![(1, gone())]),
        ("nothing", Case::drawn(Format::OpenaiChat, steps), Vec::new()),
    ] {
        let plan = case.ask(1_000, |subject| subject.proposed("somebody", &but(6, &others)));
        let _ = writeln!(drawn, "{what}: {}", said(plan));
    }
    expect![[r#"
        a step: 1 edits, 134 shown, 108 left, folded [1, 2], gone []
        half of one is folded: 1 edits, 134 shown, 108 left, folded [1, 2], gone []
        half a step: it parts messages 1 to 2, which stay or go together
        a person: 2 edits, 37 shown, 205 left, folded [1, 2, 3], gone []
        the task: it takes message 0 away, which must stay
        the model: 3 edits, 32 shown, 210 left, folded [1, 2, 3, 4], gone []
        a note: 2 edits, 43 shown, 83 left, folded [1, 2], gone []
        beside an older checkpoint: 2 edits, 23 shown, 93 left, folded [1, 2], gone []
        a drop beside one: 2 edits, 23 shown, 93 left, folded [1, 2], gone []
        an older checkpoint: 1 edits, 67 shown, 49 left, folded [1], gone []
        nothing: it compacts nothing
    "#]]
    .assert_eq(&drawn);
}

#[test]
fn a_checkpoint_that_shares_a_message_leaves_it_for_the_next() {
    let shared = r#"{"messages":[
        {"role":"user","content":[{"type":"text","text":"<checkpoint-1a2b3c4d5e6f>\nNot a request. Earlier work, in short.\n</checkpoint-1a2b3c4d5e6f>"},{"type":"text","text":"Fix the build."}]},
        {"role":"assistant","content":"Looking at what there is of it, from the start, one by one, and then at the rest of it, which is longer than that."},
        {"role":"user","content":"And the docs?"},
        {"role":"assistant","content":"They come next, all of them."},
        {"role":"user","content":"Well?"},
        {"role":"assistant","content":"Soon."}]}"#;
    let request = wire::parse(Format::Anthropic, shared.to_owned()).expect("messages");
    let case = Case::of(standing(request, 0));
    let mut drawn = String::new();
    for (what, fate) in
        [("a fold", Fate::Fold(Reason::OlderStep)), ("a drop", Fate::Drop(Reason::NotRecent))]
    {
        let fates = but(6, &[(1, fate)]);
        let first = case.request.transcript.entry(0).parts().next().expect("a checkpoint").slot;
        let (plan, stands) = case.ask(1_000, |subject| {
            let plan = subject.proposed("somebody", &fates);
            let stands = plan.as_ref().is_ok_and(|plan| !plan.draft.is_gone(first));
            (plan, stands)
        });
        let _ = writeln!(drawn, "{what}: {}; it stands: {stands}", said(plan));
    }
    expect![[r#"
        a fold: 2 edits, 37 shown, 55 left, folded [1], gone []; it stands: false
        a drop: 2 edits, 37 shown, 55 left, folded [1], gone []; it stands: false
    "#]]
    .assert_eq(&drawn);
}

#[test]
fn it_lands_where_it_must_and_leaves_room_for_a_checkpoint() {
    let case = Case::drawn(
        Format::OpenaiChat,
        "user Task.\nasst call a Read\nres  a = {lines 9}\nasst A few words, no more than that.\nuser Now.\n",
    );
    let mut drawn = String::new();
    for (what, others) in [("a step", vec![1, 2]), ("a few words", vec![3])] {
        let others: Vec<(usize, Fate)> =
            others.into_iter().map(|at| (at, Fate::Fold(Reason::OlderStep))).collect();
        let mut before = String::new();
        for target in 1..240 {
            let plan = case.ask(target, |subject| subject.proposed("somebody", &but(5, &others)));
            let now = match plan {
                Ok(plan) => format!("{} shown", plan.draft.total()),
                Err(why) => why.split(" tokens, and").next().expect("words").to_owned(),
            };
            if now != before {
                let _ = writeln!(drawn, "{what}, from {target}: {now}");
            }
            before = now;
        }
    }
    // A checkpoint takes a line: what is folded must be worth it.
    let mut before = None;
    for letters in 40..160 {
        let words = "w".repeat(letters);
        let notation = format!("user Task.\nasst {words}\nasst And so on.\nuser Now.\n");
        let case = Case::drawn(Format::OpenaiChat, &notation);
        let fates = but(4, &[(1, Fate::Fold(Reason::OlderStep))]);
        let (saved, taken) = case.ask(1_000, |subject| {
            (subject.tally.entry(1), subject.proposed("somebody", &fates).is_ok())
        });
        if before != Some(taken) {
            let counter = BytesPer::new(NonZeroU32::new(4).expect("it isn't"));
            let line = least_tokens(std::iter::empty(), &[], &counter);
            let _ = writeln!(drawn, "from {saved} tokens on, where a line is {line}: {taken}");
        }
        before = Some(taken);
    }
    expect![[r#"
        a step, from 1: it leaves 94
        a step, from 94: 43 shown
        a few words, from 1: it leaves 83
        a few words, from 83: 32 shown
        from 13 tokens on, where a line is 51: false
    "#]]
    .assert_eq(&drawn);
}

#[test]
fn nothing_is_put_into_anybodys_mouth() {
    let case = Case::drawn(Format::Anthropic, WORK);
    let slot = |at: usize, kind: PartKind| {
        let parts = case.request.transcript.entry(at).parts();
        let mut parts = parts.filter(|part| part.kind() == kind);
        parts.next().unwrap_or_else(|| panic!("no {kind:?} in {at}")).slot
    };
    let text = |words: &str| Put::Text(words.into());
    let mut drawn = String::new();
    let media = epitome::strategy::Named::Media(epitome::strategy::Setting::default());
    let media = media.build().expect("in range").expect("on");
    let media = Case { strategies: vec![media], ..Case::drawn(Format::Anthropic, WORK) };
    let note = media.ask(60, |subject| {
        let plan = subject.plan(&media.strategies);
        let entry = case.request.transcript.entry(4);
        plan.draft.puts(entry).map(|edit| edit.put.clone()).next()
    });
    let outputs: Arc<dyn Strategy> = Arc::new(epitome::strategy::OldOutputs::default());
    let stubbing = Case { strategies: vec![outputs], ..Case::drawn(Format::Anthropic, WORK) };
    let stub = stubbing.ask(60, |subject| {
        let plan = subject.plan(&stubbing.strategies);
        let entry = case.request.transcript.entry(2);
        plan.draft.puts(entry).map(|edit| edit.put.clone()).next()
    });
    for (what, at, kind, put) in [
        ("a thought leaves", 1, PartKind::Reasoning, Put::Nothing),
        ("a model's sentence", 1, PartKind::Text, text("Looking at it now. [… 60 B elided …]")),
        ("half of one", 1, PartKind::Text, text("Looking at it now. There is [… 60 B elided …]")),
        ("another one", 1, PartKind::Text, text("Not looking at it. [… 60 B elided …]")),
        ("no words", 1, PartKind::Text, Put::Nothing),
        (
            "a result's line",
            2,
            PartKind::Result,
            text("The first line of it.\n[… 2 lines (90 B) elided …]"),
        ),
        ("a word on a result", 2, PartKind::Result, text("It was read [once].")),
        ("more than there was", 2, PartKind::Result, text(&"more ".repeat(400))),
        ("an image leaves", 4, PartKind::Media, Put::Nothing),
        ("a word on an image", 4, PartKind::Media, text("A page.")),
        ("a person's image as it is noted here", 4, PartKind::Media, note.unwrap_or(text("none"))),
        ("a person's words", 4, PartKind::Text, text("What is this?")),
        ("part of a note", 3, PartKind::Text, text("A note that was put in [… 60 B elided …]")),
        ("another note", 3, PartKind::Text, text("A person said so.")),
        ("a stub as it is written here", 2, PartKind::Result, stub.unwrap_or(text("none"))),
        (
            "shorter arguments",
            1,
            PartKind::Call,
            Put::Arguments(
                r#"{"file_path":"src/x.rs","why":"to see what [… 43 bytes elided]"}"#.into(),
            ),
        ),
        ("arguments", 1, PartKind::Call, Put::Arguments(r#"{"file_path":"src/x.rs"}"#.into())),
        (
            "shorter ones",
            1,
            PartKind::Call,
            Put::Arguments(r#"{"file_path":"src/x.rs","why":"to see what […]"}"#.into()),
        ),
        ("words as arguments", 1, PartKind::Call, text("x")),
    ] {
        let at_slot = slot(at, kind);
        let edit = PartEdit { at: at_slot, put, reason: Reason::OldOutput };
        let fates = but(7, &[(at, Fate::Edit([edit].into()))]);
        let words = case.ask(4_000, |subject| {
            subject.proposed("somebody", &fates).map(|plan| {
                let puts: Vec<Put> = plan
                    .draft
                    .puts(case.request.transcript.entry(at))
                    .map(|edit| edit.put.clone())
                    .collect();
                let gone = if plan.draft.is_gone(at_slot) { "gone" } else { "put" };
                format!("{gone} {puts:?}")
            })
        });
        let _ = writeln!(drawn, "{what}: {}", words.unwrap_or_else(|why| why));
    }
    let elsewhere = PartEdit { at: Slot(0), put: Put::Nothing, reason: Reason::OldOutput };
    let fates = but(7, &[(2, Fate::Edit([elsewhere].into()))]);
    let why = case.ask(4_000, |subject| subject.proposed("somebody", &fates)).err();
    let _ = writeln!(drawn, "a part of another message: {}", why.unwrap_or_default());
    expect![[r#"
        a thought leaves: gone []
        a model's sentence: put [Text("Looking at it now. [… 52 B elided …] ")]
        half of one: put [Text("Looking at it now. [… 52 B elided …] ")]
        another one: what it puts into part 1 of message 1 can't stand there
        no words: what it puts into part 1 of message 1 can't stand there
        a result's line: put [Text("The first line of it.\n[… 2 lines (90 B) elided …]")]
        a word on a result: put [Text("[a compactor's words: It was read |once|.]")]
        more than there was: part 0 of message 2 would be no smaller
        an image leaves: gone []
        a word on an image: put [Text("[a compactor's words: A page.]")]
        a person's image as it is noted here: put [Text("[elided: image/png, iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAAAAAAA, 46 bytes]")]
        a person's words: it edits part 0 of message 4, which must stay
        part of a note: what it puts into part 0 of message 3 can't stand there
        another note: what it puts into part 0 of message 3 can't stand there
        a stub as it is written here: put [Text("[a compactor's words: none]")]
        shorter arguments: put [Arguments("{\"file_path\":\"src/x.rs\",\"why\":\"to see what [… 43 bytes elided]\"}")]
        arguments: what it puts into part 2 of message 1 can't stand there
        shorter ones: what it puts into part 2 of message 1 can't stand there
        words as arguments: what it puts into part 2 of message 1 can't stand there
        a part of another message: an edit of message 2 names a part of another one
    "#]].assert_eq(&drawn);
}

#[test]
fn what_may_be_asked_for_is_said_beforehand() {
    let thinking = "user Fix it.\nasst think* one | call a Read\nres  a = x\nasst think* two | call b Read\nres  b = x\n";
    let mut drawn = String::new();
    for (what, case) in [
        ("steps of an open loop", Case::drawn(Format::Anthropic, thinking)),
        (
            "a closed one",
            Case::drawn(
                Format::Anthropic,
                &format!("{thinking}asst think* three | Done.\nuser Thanks.\n"),
            ),
        ),
    ] {
        case.ask(400, |subject| {
            for (at, known) in subject.known().iter().enumerate() {
                let (unit, tokens) = (known.unit, known.tokens);
                let (leaves, edits) = (known.may_leave, &known.may_edit);
                let _ = writeln!(
                    drawn,
                    "{what}, {at}: unit {unit}, {tokens} tokens, leaves {leaves}, edits {edits:?}"
                );
            }
        });
    }
    expect![[r#"
        steps of an open loop, 0: unit 0, 5 tokens, leaves false, edits [false]
        steps of an open loop, 1: unit 1, 9 tokens, leaves true, edits [true, true]
        steps of an open loop, 2: unit 1, 7 tokens, leaves true, edits [true]
        steps of an open loop, 3: unit 2, 9 tokens, leaves false, edits [false, true]
        steps of an open loop, 4: unit 2, 7 tokens, leaves false, edits [true]
        a closed one, 0: unit 0, 5 tokens, leaves false, edits [false]
        a closed one, 1: unit 1, 9 tokens, leaves true, edits [true, true]
        a closed one, 2: unit 1, 7 tokens, leaves true, edits [true]
        a closed one, 3: unit 2, 9 tokens, leaves true, edits [true, true]
        a closed one, 4: unit 2, 7 tokens, leaves true, edits [true]
        a closed one, 5: unit 3, 7 tokens, leaves true, edits [true, true]
        a closed one, 6: unit 4, 5 tokens, leaves false, edits [false]
    "#]]
    .assert_eq(&drawn);
}
