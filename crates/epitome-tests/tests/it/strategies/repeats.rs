//! What is said again later, and what is stale.

use std::sync::Arc;

use epitome::strategy::{Repeats, RepeatsOptions, Stale};
use epitome::{Format, Options, Pin};
use expect_test::expect;
use testkit::{check, check_in};

use super::to;

const AGAIN: &str = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs"}
res  a = {code 30}
asst call b Bash {"command":"cargo test","description":"Run the tests"}
res  b = Exit code 1\n{log 30}
asst call c Read {"file_path":"src/x.rs"} | call d Read {"file_path":"src/y.rs"}
res  c = {code 30}
res  d = {lines 30}
asst call e Bash {"command":"cargo test","description":"Again"}
res  e = ok\n{log 31}
user Go on.
asst Fine.
"#;

#[test]
fn the_same_words_and_the_same_question_keep_their_newest() {
    check(
        Repeats::default(),
        to(100),
        AGAIN,
        &expect![[r#"
            2019 → 1298 tokens, target 100
            keep 2 entries
            edit res  a = {code 30}
               > res a = [elided: Read(src/x.rs) → 30 lines, 1.4 kB; said again later]  # said again later, replaced by a pointer
            keep asst call b Bash {"command":"cargo test","description":"Run the tests"}
            edit res  b = Exit code 1\n   Compiling user_id v0.597.0 (docs/guide.md)\n   Compiling is_expired v0.29.0 (lib/http/retry.py)\n   Compili … onfig v0.413.0 (Makefile)\nwarning: unused variable: `flush`\n (1641 bytes)
               > res b = [elided: Bash(cargo test) → 32 lines, 1.6 kB, failed (exit code 1): FAILED docs/guide.md::test_TokenStream - AssertionError: 154 != 0; asked again later]  # superseded by what came later
            keep 7 entries
        "#]],
    );
}

const STALE: &str = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs","offset":1,"limit":30}
res  a = {code 30}
asst call b Read {"file_path":"src/y.rs"}
res  b = {lines 30}
asst call c Read {"file_path":"src/z.rs"}
res  c = {lines 31}
asst call d Edit {"file_path":"src/y.rs","old_string":"a","new_string":"b"}
res  d = ok
asst call e Write {"file_path":"src/z.rs","content":"anew"}
res  e = ok
asst call f Read {"file_path":"src/x.rs"}
res  f = {code 40}
asst call g Read {"file_path":"src/y.rs","offset":5,"limit":2}
res  g = {lines 2}
user Go on.
asst {lorem 40}
"#;

#[test]
fn reads_are_stale_once_the_file_was_read_written_or_edited() {
    check(
        Repeats::default(),
        to(100),
        STALE,
        &expect![[r#"
            1837 → 873 tokens, target 100
            keep 2 entries
            edit res  a = {code 30}
               > res a = [elided: Read(src/x.rs, 1-30) → 30 lines, 1.4 kB; read again later]  # superseded by what came later
            keep asst call b Read {"file_path":"src/y.rs"}
            edit res  b = {lines 30}
               > res b = [elided: Read(src/y.rs) → 30 lines, 1.2 kB; edited since]  # superseded by what came later
            keep asst call c Read {"file_path":"src/z.rs"}
            edit res  c = {lines 31}
               > res c = [elided: Read(src/z.rs) → 31 lines, 1.2 kB; overwritten since]  # superseded by what came later
            keep 9 entries
            edit asst {lorem 40}
               > text = lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur [… 120 B elided …] enim dolor do dolore nostrud adipiscing ut minim sit eiusmod  # larger than its share of the target, excerpted
        "#]],
    );
}

#[test]
fn what_is_stale_can_be_narrowed() {
    let of = |stale| {
        Repeats::new(RepeatsOptions { stale, ..RepeatsOptions::default() }).expect("in range")
    };
    check(
        of(Stale::Reread),
        to(100),
        STALE,
        &expect![[r#"
            1837 → 1464 tokens, target 100
            keep 2 entries
            edit res  a = {code 30}
               > res a = [elided: Read(src/x.rs, 1-30) → 30 lines, 1.4 kB; read again later]  # superseded by what came later
            keep 13 entries
            edit asst {lorem 40}
               > text = lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur [… 120 B elided …] enim dolor do dolore nostrud adipiscing ut minim sit eiusmod  # larger than its share of the target, excerpted
        "#]],
    );
    check(
        of(Stale::Overwritten),
        to(100),
        STALE,
        &expect![[r#"
            1837 → 1165 tokens, target 100
            keep 2 entries
            edit res  a = {code 30}
               > res a = [elided: Read(src/x.rs, 1-30) → 30 lines, 1.4 kB; read again later]  # superseded by what came later
            keep 3 entries
            edit res  c = {lines 31}
               > res c = [elided: Read(src/z.rs) → 31 lines, 1.2 kB; overwritten since]  # superseded by what came later
            keep 9 entries
            edit asst {lorem 40}
               > text = lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur [… 120 B elided …] enim dolor do dolore nostrud adipiscing ut minim sit eiusmod  # larger than its share of the target, excerpted
        "#]],
    );
}

#[test]
fn nothing_is_superseded_by_a_failure_or_by_another_file() {
    let before = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs"}
res  a = {code 30}
asst call b Read {"file_path":"src/x.rs"}
res! b = no such file
asst call c Edit {"file_path":"src/x.rs","old_string":"q","new_string":"r"}
res! c = no match found
asst call d Read {"file_path":"src/xx.rs"}
res  d = {code 31}
asst call e book {"room":1}
res  e = {lines 20}
asst call f book {"room":1}
res  f = {lines 21}
user Go on.
asst Fine.
"#;
    check_in(
        Format::Anthropic,
        vec![Arc::new(Repeats::default())],
        to(100),
        before,
        &expect![[r#"
            1274 → 1274 tokens, target 100
            keep 15 entries
        "#]],
    );
}

#[test]
fn the_newest_step_pins_and_preserved_tools_stay() {
    let before = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs"}
res  a = {code 30}
asst call b Grep {"pattern":"x"}
res  b = {lines 30}
asst call c Grep {"pattern":"x"}
res  c = {lines 30}
asst call d Read {"file_path":"src/x.rs"} | call e Read {"file_path":"src/x.rs"}
res  d = {code 30}
res  e = {code 30}
"#;
    let options =
        Options { pins: vec![Pin::Entry(2)], preserved_tools: vec!["Grep".into()], ..to(1_300) };
    check(
        Repeats::default(),
        options,
        before,
        &expect![[r#"
            1827 → 1686 tokens, target 1300
            keep 2 entries
            edit res  a = {code 30}
               > res a =     1	    // lorem elit labore veniam\n    2	}\n    3	    if user_id > 780 { return Err(Error::user_id); }\n    4	}\n    5	\n … ig = read_config("Makefile", 224)?;\n   28	}\n   29	}\n   30	}\n (1278 bytes)  # larger than its share of the target, excerpted
            keep 5 entries
            edit res  d = {code 30}
               > res d =     1	    // lorem elit labore veniam\n    2	}\n    3	    if user_id > 780 { return Err(Error::user_id); }\n    4	}\n    5	\n … ig = read_config("Makefile", 224)?;\n   28	}\n   29	}\n   30	}\n (1278 bytes)  # larger than its share of the target, excerpted
            edit res  e = {code 30}
               > res e =     1	    // lorem elit labore veniam\n    2	}\n    3	    if user_id > 780 { return Err(Error::user_id); }\n    4	}\n    5	\n … ig = read_config("Makefile", 224)?;\n   28	}\n   29	}\n   30	}\n (1278 bytes)  # larger than its share of the target, excerpted
        "#]],
    );
}
