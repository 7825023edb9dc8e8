//! What breaks a rule and what just doesn't, side by side: each breach, where it is, and how it is mended.

mod bedrock;
mod body;
mod gemini;
mod objects;
mod responses;

use std::fmt::Write as _;

use epitome::wire::{self, Format};
use expect_test::Expect;

/// What is found in each of these bodies.
fn check<S: AsRef<str>>(format: Format, cases: &[(&str, S)], expected: &Expect) {
    let mut said = String::new();
    for (what, body) in cases {
        let request = wire::parse(format, body.as_ref().to_owned()).expect("a request");
        let found = wire::check(&request);
        let verdict = testkit::accepted(&request);
        assert_eq!(found.is_empty(), verdict.is_ok(), "{what}: {found:?} but {verdict:?}");
        let _ = writeln!(said, "{what}{}", if found.is_empty() { ": sound" } else { "" });
        for found in found {
            let _ = writeln!(
                said,
                "  {} in {}: {} {:?}",
                found.rule, found.entry, found.detail, found.mend
            );
        }
    }
    expected.assert_eq(&said);
}
