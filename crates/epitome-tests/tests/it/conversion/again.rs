//! A conversion to the format that a request is in: it passes the same look as any other.

use std::fmt::Write as _;

use epitome::convert::convert;
use epitome::wire;
use expect_test::expect_file;
use proptest::prelude::*;
use testkit::generate::{broken, cases};
use testkit::page;

#[test]
fn what_is_found_is_mended_or_left() {
    page::check(&expect_file!["again.txt"], |case| {
        let (format, _) = case.format();
        let request = case.request(format);
        let done = convert(&request, format);
        let mut all = String::new();
        for mended in &done.mended {
            let _ = writeln!(all, "mended: {} {}", mended.rule, mended.detail);
        }
        for left in &done.left {
            let _ = writeln!(all, "left: {} {}", left.rule, left.detail);
        }
        if done.text != case.given {
            let _ = writeln!(all, "{}", done.text);
        }
        all
    });
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_is_left_is_what_a_look_finds(case in broken()) {
        let request = case.request();
        let done = convert(&request, case.format);
        let written = wire::parse(case.format, done.text).expect("a request");
        prop_assert_eq!(wire::inspect(&written, &[]), done.left);
    }
}
