//! What must stay, and what is cut of it where it doesn't fit.

use epitome::strategy::{Edit, Head, Recent, RecentOptions, Scene};
use epitome::transcript::{PartKind, Slot};
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;

use super::rungs::SESSION;
use super::*;

/// A pinned call whose result an earlier compaction took away.
const STUBBED: &str = r#"
user Fix the build.
asst call a Bash {"command":"make"}
res  a = [elided: Bash {"command":"make --directory=a/place/that/is/far/away --keep-going --jobs=4 --output-sync=recurse all check install and whatever comes behind them"} → 812 lines, 41 kB, ok]
asst It is built. {lorem 30}
user And the docs?
"#;

/// Words of a person of some length, pinned, with words of others that must stay beside them.
const PINNED: &str = r#"
sys  You are terse.
user {lorem 60} The port is 8443. {lorem 40}
asst Well. {lorem 20} | call a Read {"file_path":"src/x.rs"}
res  a = {lines 12}
user {lorem 30}
asst {lorem 20} | call b Read {"file_path":"src/y.rs"} | call c Bash {"command":"ls"}
res  b = {lines 12}
res  c = x
user {lorem 40}
"#;

/// A pinned result, whose call is shorter than anything that could stand for it.
const WORDS_BESIDE: &str = r#"
user Fix the build.
asst call a Read {"n":1}
res  a = {lorem 60}
asst Well. {lorem 40}
user Go on.
"#;

#[test]
fn the_newest_steps_stay() {
    let case = Case { tail: Tail::Steps(2), ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
        646 tokens
        1-111: above, 1 squeeze, 1 head; 185 shown, 0 left for it, floor 185
        112-184: above, 1 squeeze, 1 fold, checkpoint before 2; 185 shown, 28-46 left for it, floor 185
        185-192: lands, 1 squeeze, 1 head; 185 shown, 0 left for it, floor 185
        193-197: lands, 1 squeeze, 1 head, 1 squeeze; 185 shown, 0 left for it, floor 185
        198-202: lands, 1 squeeze, 1 head; 196-199 shown, 0 left for it, floor 185
        203-204: lands, 1 squeeze, 1 head, 1 squeeze; 185 shown, 0 left for it, floor 185
        205: lands, 1 squeeze, 1 head; 199 shown, 0 left for it, floor 185
        206-208: lands, 1 squeeze, 1 head, 1 squeeze; 185 shown, 0 left for it, floor 185
        209: lands, 1 squeeze, 1 head; 209 shown, 0 left for it, floor 185
        210-317: above, 1 outputs; 351 shown, 0 left for it, floor 318
        318-345: lands, 1 outputs, 1 head; 318 shown, 0 left for it, floor 318
        346-350: lands, 1 outputs, 1 fold, checkpoint before 2; 318 shown, 28-32 left for it, floor 318
        351-645: lands, 1 outputs; 351 shown, 0 left for it, floor 318
        646-647: nothing; 646 shown, 0 left for it, floor 318
    "#]],
    );
}

#[test]
fn pins_stay_with_what_belongs_to_them() {
    let pins = vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(6)];
    check(
        &Case { pins, ..Case::drawn(Format::OpenaiChat, PINNED) },
        &expect![[r#"
        672 tokens
        1-7: above, 2 squeeze, 2 head; 317 shown, 0 left for it, floor 317
        8-23: above, 2 squeeze, 1 squeeze, 2 head; 315 shown, 0 left for it, floor 315
        24-43: above, 2 squeeze, 2 head; 317 shown, 0 left for it, floor 317
        44-111: above, 2 squeeze, 1 repeats, 2 head; 317 shown, 0 left for it, floor 317
        112-315: above, 2 squeeze, 1 repeats, 2 fold, checkpoint before 2; 317 shown, 28-78 left for it, floor 317
        316: above, 2 squeeze, 1 repeats, 1 fold, checkpoint before 2; 368 shown, 28 left for it, floor 317
        317-327: lands, 2 squeeze, 2 head; 317-322 shown, 0 left for it, floor 317-318
        328-384: lands, 2 squeeze, 1 repeats, 2 head; 322-383 shown, 0 left for it, floor 318-349
        385-386: lands, 2 squeeze, 1 repeats, 2 head, 1 squeeze; 367 shown, 0 left for it, floor 349
        387-402: lands, 2 squeeze, 1 repeats, 2 head; 375-390 shown, 0 left for it, floor 347-349
        403: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 378 shown, 0 left for it, floor 349
        404-410: lands, 1 squeeze, 1 repeats, 2 head; 404-405 shown, 0 left for it, floor 354
        411: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 376 shown, 0 left for it, floor 354
        412-444: lands, 1 squeeze, 1 repeats, 2 head; 398-436 shown, 0 left for it, floor 359-376
        445-447: lands, 1 repeats, 2 head, 1 squeeze; 386 shown, 0 left for it, floor 364
        448-475: lands, 1 repeats, 2 head; 448 shown, 0 left for it, floor 448
        476-526: lands, 1 repeats, 2 fold, checkpoint before 2; 448 shown, 28-78 left for it, floor 448
        527-567: lands, 1 repeats, 1 fold, checkpoint before 2; 499 shown, 28-68 left for it, floor 448
        568-671: lands, 1 repeats; 568 shown, 0 left for it, floor 448
        672-673: nothing; 672 shown, 0 left for it, floor 448
    "#]],
    );
}

#[test]
fn results_share_an_entry_with_a_persons_words() {
    check(
        &Case::drawn(Format::Anthropic, PINNED),
        &expect![[r#"
        666 tokens
        1-15: above, 1 squeeze, 1 excerpts, 3 head; 174 shown, 0 left for it, floor 174
        16-23: above, 1 squeeze, 1 squeeze, 1 excerpts, 3 head; 173 shown, 0 left for it, floor 173
        24-111: above, 1 squeeze, 1 excerpts, 3 head; 174 shown, 0 left for it, floor 174
        112-173: above, 1 squeeze, 1 excerpts, 3 fold, checkpoint before 1; 174 shown, 28-43 left for it, floor 174
        174-179: lands, 1 squeeze, 1 excerpts, 3 head; 173-174 shown, 0 left for it, floor 173-174
        180-181: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        182-188: lands, 1 squeeze, 1 excerpts, 3 head; 181-186 shown, 0 left for it, floor 174
        189: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        190-197: lands, 1 squeeze, 1 excerpts, 3 head; 183-195 shown, 0 left for it, floor 174
        198: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        199: lands, 1 squeeze, 1 excerpts, 3 head; 195 shown, 0 left for it, floor 174
        200: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        201-207: lands, 1 squeeze, 1 excerpts, 3 head; 191-206 shown, 0 left for it, floor 174
        208-209: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        210-218: lands, 1 squeeze, 1 excerpts, 3 head; 203-209 shown, 0 left for it, floor 174
        219: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        220-221: lands, 1 squeeze, 1 excerpts, 3 head; 220 shown, 0 left for it, floor 174
        222: lands, 1 squeeze, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        223-232: lands, 1 squeeze, 1 excerpts, 3 head; 217-223 shown, 0 left for it, floor 174
        233-236: lands, 1 squeeze, 1 repeats, 1 excerpts, 3 head; 217-220 shown, 0 left for it, floor 174
        237-238: lands, 1 squeeze, 1 repeats, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        239-255: lands, 1 squeeze, 1 repeats, 1 excerpts, 3 head; 239-241 shown, 0 left for it, floor 174
        256-258: lands, 1 repeats, 1 excerpts, 3 head, 1 squeeze; 174 shown, 0 left for it, floor 174
        259: lands, 1 repeats, 1 excerpts, 3 head; 259 shown, 0 left for it, floor 259
        260-286: lands, 1 repeats, 1 excerpts, 1 outputs, 3 head; 259 shown, 0 left for it, floor 259
        287-337: lands, 1 repeats, 1 excerpts, 3 fold, checkpoint before 1; 259 shown, 28-78 left for it, floor 259
        338-437: lands, 1 repeats, 1 excerpts, 2 fold, checkpoint before 1; 310 shown, 28-127 left for it, floor 259
        438-539: lands, 1 repeats, 1 excerpts, 3 fold, checkpoint before 1; 259 shown, 179-280 left for it, floor 259
        540-544: lands, 1 repeats, 1 excerpts; 540 shown, 0 left for it, floor 259
        545-547: lands, 1 repeats, 1 excerpts, 3 fold, checkpoint before 1; 259 shown, 286-288 left for it, floor 259
        548-561: lands, 1 repeats, 1 excerpts; 540-551 shown, 0 left for it, floor 259
        562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 259
        666-667: nothing; 666 shown, 0 left for it, floor 259
    "#]],
    );
    let pins = vec![Pin::Text("The port is 8443.".to_owned())];
    check(
        &Case { pins, tail: Tail::Items(2), ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
        666 tokens
        1-7: above, 2 squeeze, 1 squeeze, 2 head; 309 shown, 0 left for it, floor 309
        8-83: above, 2 squeeze, 2 head; 311 shown, 0 left for it, floor 311
        84-111: above, 2 squeeze, 1 repeats, 2 head; 311 shown, 0 left for it, floor 311
        112-129: above, 2 squeeze, 1 repeats, 2 fold, checkpoint before 1; 311 shown, 28-32 left for it, floor 311
        130-315: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 1; 356 shown, 32-78 left for it, floor 356
        316-362: above, 1 squeeze, 1 repeats, 1 fold, checkpoint before 1; 405-414 shown, 28-39 left for it, floor 354-363
        363-390: lands, 1 squeeze, 1 repeats, 2 head; 362-388 shown, 0 left for it, floor 362-372
        391: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 370 shown, 0 left for it, floor 370
        392-404: lands, 1 squeeze, 1 repeats, 2 head; 380-399 shown, 0 left for it, floor 370-372
        405: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 370 shown, 0 left for it, floor 370
        406-438: lands, 1 squeeze, 1 repeats, 2 head; 392-430 shown, 0 left for it, floor 370-380
        439-441: lands, 1 repeats, 2 head, 1 squeeze; 373-384 shown, 0 left for it, floor 373-384
        442-469: lands, 1 repeats, 2 head; 442 shown, 0 left for it, floor 442
        470-520: lands, 1 repeats, 2 fold, checkpoint before 1; 442 shown, 28-78 left for it, floor 442
        521-561: lands, 1 repeats, 1 fold, checkpoint before 1; 493 shown, 28-68 left for it, floor 442
        562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 442
        666-667: nothing; 666 shown, 0 left for it, floor 442
    "#]],
    );
}

#[test]
fn what_preserved_tools_gave_stays_whole_where_it_fits() {
    let tools = vec!["Read".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::OpenaiChat, PINNED) },
        &expect![[r#"
        672 tokens
        1-111: above, 3 squeeze, 1 head; 446 shown, 0 left for it, floor 446
        112-122: above, 3 squeeze, 1 fold, checkpoint before 4; 446 shown, 28-30 left for it, floor 446
        123-203: above, 1 squeeze, 1 fold, checkpoint before 4; 536 shown, 30-50 left for it, floor 536
        204-447: above, 1 squeeze; 586-614 shown, 0 left for it, floor 535-563
        448-602: above; 672 shown, 0 left for it, floor 565-603
        603-617: lands, 1 squeeze, 1 head; 601-603 shown, 0 left for it, floor 601-603
        618-620: lands, 1 head, 1 squeeze; 603 shown, 0 left for it, floor 603
        621-648: lands, 1 head; 621 shown, 0 left for it, floor 621
        649-671: lands, 1 fold, checkpoint before 4; 621 shown, 28-50 left for it, floor 621
        672-673: nothing; 672 shown, 0 left for it, floor 621
    "#]],
    );
    let tools = vec!["Bash".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
        666 tokens
        1-111: above, 2 squeeze, 2 head; 312 shown, 0 left for it, floor 312
        112-126: above, 2 squeeze, 1 repeats, 2 fold, checkpoint before 1; 312 shown, 28-31 left for it, floor 312
        127-315: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 1; 357 shown, 31-78 left for it, floor 357
        316-365: above, 1 squeeze, 1 repeats, 1 fold, checkpoint before 1; 407-417 shown, 28-40 left for it, floor 356-366
        366-371: lands, 1 squeeze, 1 repeats, 2 head; 364-369 shown, 0 left for it, floor 364-366
        372: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 364 shown, 0 left for it, floor 364
        373-380: lands, 1 squeeze, 1 repeats, 2 head; 366-378 shown, 0 left for it, floor 364-369
        381: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 373 shown, 0 left for it, floor 373
        382: lands, 1 squeeze, 1 repeats, 2 head; 378 shown, 0 left for it, floor 373
        383: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 373 shown, 0 left for it, floor 373
        384-390: lands, 1 squeeze, 1 repeats, 2 head; 374-389 shown, 0 left for it, floor 370
        391-392: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 370 shown, 0 left for it, floor 370
        393-401: lands, 1 squeeze, 1 repeats, 2 head; 386-392 shown, 0 left for it, floor 367-374
        402: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 367 shown, 0 left for it, floor 367
        403-404: lands, 1 squeeze, 1 repeats, 2 head; 403 shown, 0 left for it, floor 367-378
        405: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 378 shown, 0 left for it, floor 378
        406-419: lands, 1 squeeze, 1 repeats, 2 head; 400-406 shown, 0 left for it, floor 366-382
        420-421: lands, 1 squeeze, 1 repeats, 2 head, 1 squeeze; 378 shown, 0 left for it, floor 378
        422-438: lands, 1 squeeze, 1 repeats, 2 head; 422-424 shown, 0 left for it, floor 374-384
        439-441: lands, 1 repeats, 2 head, 1 squeeze; 374-378 shown, 0 left for it, floor 374-378
        442-469: lands, 1 repeats, 2 head; 442 shown, 0 left for it, floor 442
        470-520: lands, 1 repeats, 2 fold, checkpoint before 1; 442 shown, 28-78 left for it, floor 442
        521-561: lands, 1 repeats, 1 fold, checkpoint before 1; 493 shown, 28-68 left for it, floor 442
        562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 442
        666-667: nothing; 666 shown, 0 left for it, floor 442
    "#]],
    );
}

#[test]
fn what_stands_for_a_result_is_as_short_as_it_gets() {
    let pins = vec![Pin::Entry(1)];
    check(
        &Case { pins, ..Case::drawn(Format::OpenaiChat, STUBBED) },
        &expect![[r#"
            157 tokens
            1-101: above, 1 excerpts, 1 head; 102 shown, 0 left for it, floor 102
            102-129: lands, 1 excerpts, 1 head; 102 shown, 0 left for it, floor 102
            130-148: lands, 1 excerpts, 1 fold, checkpoint before 3; 102 shown, 28-46 left for it, floor 102
            149-156: lands, 1 excerpts; 149 shown, 0 left for it, floor 102
            157-158: nothing; 157 shown, 0 left for it, floor 102
        "#]],
    );
}

#[test]
fn a_checkpoint_that_shares_a_message_leaves_it() {
    let shared = r#"{"messages":[
        {"role":"user","content":[{"type":"text","text":"<checkpoint-1a2b3c4d5e6f>\nNot a request. Earlier work, in short.\nThe rest was left out to save room for what comes.\n</checkpoint-1a2b3c4d5e6f>"},{"type":"text","text":"Fix the build."}]},
        {"role":"assistant","content":"Looking at what there is of it, from the start, one by one."},
        {"role":"user","content":"And the docs."},
        {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"a.md"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1 Some text\n2 More text\n3 And yet more of the same\n4 To the end of it\n5 Or nearly\n6 Now it is\n"}]}]}"#;
    let request = wire::parse(Format::Anthropic, shared.to_owned()).expect("messages");
    let request = standing(request, 0);
    check(
        &Case::of(request.clone()),
        &expect![[r#"
        113 tokens
        1-16: above, 2 head, 1 fold; 17 shown, 0 left for it, floor 17
        17-44: lands, 2 head, 1 fold; 17 shown, 0 left for it, floor 17
        45-112: lands, 1 fold, 2 fold, checkpoint before 1; 17 shown, 28-95 left for it, floor 17
        113-114: nothing; 113 shown, 0 left for it, floor 53
    "#]],
    );
    // Nothing folds, and it leaves as a last resort.
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Head::default())];
    check(
        &Case { strategies, means: Means::Listed, ..Case::of(request) },
        &expect![[r#"
        113 tokens
        1-16: above, 2 head, 1 fold; 17 shown, 0 left for it, floor 17
        17-52: lands, 2 head, 1 fold; 17 shown, 0 left for it, floor 17
        53-94: lands, 2 head; 53 shown, 0 left for it, floor 53
        95-112: lands, 1 head; 95 shown, 0 left for it, floor 53
        113-114: nothing; 113 shown, 0 left for it, floor 53
    "#]],
    );
}

#[test]
fn without_a_task_the_first_words_may_leave() {
    let case = Case { task: Task::Fold, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
        646 tokens
        1-23: above, 4 head; 41 shown, 0 left for it, floor 41
        24-40: above, 1 excerpts, 4 head; 41 shown, 0 left for it, floor 41
        41-46: lands, 4 head; 41 shown, 0 left for it, floor 41
        47-56: lands, 1 excerpts, 4 head; 41 shown, 0 left for it, floor 41
        57-68: lands, 1 excerpts, 3 head; 57 shown, 0 left for it, floor 41
        69-80: lands, 1 excerpts, 4 fold, checkpoint before 1; 41 shown, 28-39 left for it, floor 41
        81-84: lands, 1 failed, 1 excerpts, 3 fold, checkpoint before 1; 41 shown, 40-43 left for it, floor 41
        85-120: lands, 1 failed, 1 excerpts, 2 fold, checkpoint before 2; 57 shown, 28-63 left for it, floor 41
        121-154: lands, 1 failed, 1 outputs, 1 excerpts, 2 fold, checkpoint before 2; 57 shown, 64-97 left for it, floor 41
        155-317: lands, 1 failed, 1 outputs, 1 excerpts; 155-173 shown, 0 left for it, floor 41
        318-612: lands, 1 failed, 1 outputs; 318 shown, 0 left for it, floor 41
        613-645: lands, 1 failed; 613 shown, 0 left for it, floor 41
        646-647: nothing; 646 shown, 0 left for it, floor 41
    "#]],
    );
}

#[test]
fn images_and_instructions_are_never_cut() {
    let notation = "sys  {lorem 30} The port is 8443.\nuser {lorem 80} {img 640x480}\nasst Well. {lorem 30} | call a Read\nres  a = {lines 9}\nuser {lorem 60}\nasst {lorem 20}\nuser Go on, {lorem 30} {img 64x64}\n";
    let pins = || vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(4)];
    check(
        &Case { pins: pins(), ..Case::drawn(Format::OpenaiChat, notation) },
        &expect![[r#"
        1234 tokens
        1-7: above, 2 squeeze, 2 excerpts, 2 head; 975 shown, 0 left for it, floor 975
        8-15: above, 2 squeeze, 1 squeeze, 2 excerpts, 2 head; 963 shown, 0 left for it, floor 963
        16-31: above, 2 squeeze, 2 excerpts, 2 head; 975 shown, 0 left for it, floor 975
        32-55: above, 2 squeeze, 1 squeeze, 2 excerpts, 2 head; 973-974 shown, 0 left for it, floor 973-974
        56-111: above, 2 squeeze, 2 excerpts, 2 head; 975 shown, 0 left for it, floor 975
        112-279: above, 2 squeeze, 2 excerpts, 2 fold, checkpoint before 2; 975 shown, 28-69 left for it, floor 975
        280-375: above, 2 squeeze, 2 excerpts, 1 fold, checkpoint before 2; 998-1033 shown, 35-58 left for it, floor 963-998
        376-503: above, 1 squeeze, 2 excerpts, 1 fold, checkpoint before 2; 1034-1063 shown, 59-90 left for it, floor 999-1028
        504-531: above, 2 excerpts, 1 fold, checkpoint before 2; 1076 shown, 91-97 left for it, floor 1041
        532-635: above, 2 excerpts; 1174-1176 shown, 0 left for it, floor 1041
        636-771: above, 1 excerpts; 1184 shown, 0 left for it, floor 1041
        772-1040: above; 1234 shown, 0 left for it, floor 1041
        1041-1068: lands, 2 excerpts, 2 head; 1041 shown, 0 left for it, floor 1041
        1069-1110: lands, 2 excerpts, 2 fold, checkpoint before 2; 1041 shown, 28-69 left for it, floor 1041
        1111-1173: lands, 2 excerpts, 1 fold, checkpoint before 2; 1076 shown, 35-97 left for it, floor 1041
        1174-1199: lands, 2 excerpts; 1174-1176 shown, 0 left for it, floor 1041
        1200-1233: lands, 1 excerpts; 1184 shown, 0 left for it, floor 1041
        1234-1235: nothing; 1234 shown, 0 left for it, floor 1041
    "#]],
    );
    check(
        &Case { pins: pins(), tail: Tail::Steps(1), ..Case::drawn(Format::Anthropic, notation) },
        &expect![[r#"
        1231 tokens
        1-111: above, 1 squeeze, 2 excerpts, 2 head; 929 shown, 0 left for it, floor 929
        112-499: above, 1 squeeze, 2 excerpts, 2 fold, checkpoint before 1; 917-963 shown, 28-124 left for it, floor 917-963
        500-503: above, 1 squeeze, 2 excerpts, 1 fold, checkpoint before 1; 1059 shown, 28 left for it, floor 962
        504-779: above, 2 excerpts, 1 fold, checkpoint before 1; 1073 shown, 29-97 left for it, floor 976
        780-895: above, 2 excerpts; 1171-1173 shown, 0 left for it, floor 976
        896-975: above, 1 excerpts; 1181 shown, 0 left for it, floor 976
        976-1003: lands, 2 excerpts, 2 head; 976 shown, 0 left for it, floor 976
        1004-1100: lands, 2 excerpts, 2 fold, checkpoint before 1; 976 shown, 28-124 left for it, floor 976
        1101-1170: lands, 2 excerpts, 1 fold, checkpoint before 1; 1073 shown, 28-97 left for it, floor 976
        1171-1199: lands, 2 excerpts; 1171-1173 shown, 0 left for it, floor 976
        1200-1230: lands, 1 excerpts; 1181 shown, 0 left for it, floor 976
        1231-1232: nothing; 1231 shown, 0 left for it, floor 976
    "#]],
    );
}

#[test]
fn what_stays_beside_an_edit_is_cut_where_only_the_newest_is_kept() {
    let recent = Recent::new(RecentOptions { keep: Tail::Items(1) });
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(recent.expect("in range"))];
    let pins = vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(6)];
    let case =
        Case { strategies, pins, stop: Stop::AtEnd, ..Case::drawn(Format::OpenaiChat, PINNED) };
    check(
        &case,
        &expect![[r#"
        672 tokens
        1-316: above, 2 recent, 2 squeeze, checkpoint before 2; 317 shown, 0 left for it, floor 317
        317-447: lands, 2 recent, 2 squeeze, checkpoint before 2; 317-376 shown, 0-83 left for it, floor 317-376
        448-673: lands, 2 recent, checkpoint before 2; 448 shown, 0-224 left for it, floor 448
    "#]],
    );
}

#[test]
fn instructions_in_a_tail_are_never_cut() {
    let said = "user Fix the build.\nasst Well.\nsys  {lorem 90}\nuser Go on.\n";
    let case = Case { tail: Tail::Items(2), ..Case::drawn(Format::OpenaiChat, said) };
    let slots = case.request.transcript.entry(2).slots();
    for target in 1..140 {
        let plan = case.plan(target).expect("a plan");
        let is_cut = slots.clone().any(|slot| plan.draft.is_edited(Slot(slot)));
        assert!(!is_cut && plan.draft.is_shown(2), "at {target}");
    }
}

/// Says more of a call than its arguments do.
#[derive(Debug)]
struct Wordy;

impl Strategy for Wordy {
    fn name(&self) -> &'static str {
        "wordy"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let parts = scene.matter.transcript.entries().flat_map(|entry| entry.parts());
        let calls = parts.filter(|p| p.kind() == PartKind::Call && !scene.draft.is_edited(p.slot));
        let words = "what was asked for here, at greater length than it was asked".repeat(3);
        let put = Put::Arguments(format!(r#"{{"elided":"{words}"}}"#).into());
        let edit = |at| PartEdit { at, put: put.clone(), reason: Reason::LongArguments };
        calls.map(|call| Edit::Put(edit(call.slot))).collect()
    }
}

#[test]
fn what_strategies_make_longer_comes_back_where_only_the_least_fits() {
    let pins = vec![Pin::Entry(2)];
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Wordy), Arc::new(Head::default())];
    let case = |means| Case {
        pins: pins.clone(),
        strategies: strategies.clone(),
        means,
        ..Case::drawn(Format::OpenaiChat, WORDS_BESIDE)
    };
    check(
        &case(Means::All),
        &expect![[r#"
        212 tokens
        1-124: above, 2 squeeze, 1 head; 172 shown, 0 left for it, floor 125
        125-132: lands, 1 fold, 1 squeeze, checkpoint before 3; 123-125 shown, 0-9 left for it, floor 123-125
        133-136: lands, 1 fold, 1 squeeze, 1 squeeze, checkpoint before 3; 125 shown, 8-11 left for it, floor 125
        137-143: lands, 1 fold, 1 squeeze, checkpoint before 3; 125-137 shown, 0-18 left for it, floor 125
        144-171: lands, 1 fold, checkpoint before 3; 144 shown, 0-27 left for it, floor 144
        172-190: lands, 1 wordy, 1 head, 1 squeeze; 172 shown, 0 left for it, floor 144
        191-211: lands, 1 wordy, 1 head; 191 shown, 0 left for it, floor 144
        212-213: nothing; 212 shown, 0 left for it, floor 144
    "#]],
    );
    // Whoever lists strategies gets no more than these.
    check(
        &case(Means::Listed),
        &expect![[r#"
        212 tokens
        1-124: above, 2 squeeze, 1 head; 172 shown, 0 left for it, floor 125
        125-132: short, 1 squeeze, 1 wordy, 1 head; 170-172 shown, 0 left for it, floor 125
        133-140: short, 1 squeeze, 1 wordy, 1 head, 1 squeeze; 172 shown, 0 left for it, floor 125
        141-171: short, 1 wordy, 1 head, 1 squeeze; 172 shown, 0 left for it, floor 125-144
        172-190: lands, 1 wordy, 1 head, 1 squeeze; 172 shown, 0 left for it, floor 144
        191-211: lands, 1 wordy, 1 head; 191 shown, 0 left for it, floor 144
        212-213: nothing; 212 shown, 0 left for it, floor 144
    "#]],
    );
}
