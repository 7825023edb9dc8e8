//! One line that stands for an old tool result.

use super::arguments::whole_arguments;
use super::outcome::{CallStatus, judge};
use super::secrets::masked;
use super::{cut, figure};

/// Characters of the call in a stub.
const MAX_CALL: usize = 160;
/// Characters of the failing line in a stub.
const MAX_LINE: usize = 100;

/// What is left of a result: the call in short, how much it said, and how it went. Secrets are masked.
///
/// One line of at most about 300 characters without control characters. It may be longer than a
/// short output: the caller compares.
///
/// ```
/// use epitome::text::{CallStatus, stub};
///
/// let output = "Compiling x\nerror[E0308]: mismatched types\n";
/// assert_eq!(
///     stub("Bash", r#"{"command":"cargo test"}"#, output, CallStatus::Error),
///     "[elided: Bash(cargo test) → 2 lines, 43 B, failed: error[E0308]: mismatched types]",
/// );
/// ```
pub fn stub(tool: &str, arguments_json: &str, output: &str, reported: CallStatus) -> String {
    noted_stub(tool, arguments_json, output, reported, "")
}

/// How a stub begins.
pub(crate) const STUB: &str = "[elided: ";

/// A [`stub`] with a note behind what it says of the result.
pub(crate) fn noted_stub(
    tool: &str,
    arguments_json: &str,
    output: &str,
    reported: CallStatus,
    note: &str,
) -> String {
    let call = whole_arguments(tool, arguments_json, MAX_CALL);
    let verdict = judge(output, reported);
    let lines = figure::counted(figure::lines(output), "line");
    let size = figure::size(output.len());
    let code = verdict.exit_code.filter(|&code| code != 0);
    let went = match (verdict.outcome, code) {
        (CallStatus::Ok, None) => ", ok".to_owned(),
        (CallStatus::Ok, Some(code)) => format!(", ok, exit code {code}"),
        (CallStatus::Unknown, _) => String::new(),
        (CallStatus::Error, code) => {
            let code = code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
            let line = verdict
                .line
                .map(|line| cut::whole_words(&masked(line), MAX_LINE))
                .filter(|line| !line.is_empty());
            format!(", failed{code}{}", line.map(|line| format!(": {line}")).unwrap_or_default())
        }
    };
    // A result may come without its call.
    let of = if call.is_empty() { String::new() } else { format!("{call} → ") };
    let gap = if note.is_empty() { "" } else { "; " };
    format!("{STUB}{of}{lines}, {size}{went}{gap}{note}]")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stubs_say_what_was_there() {
        let read = r#"{"file_path":"src/main.rs","offset":1,"limit":80}"#;
        let stubs = [
            stub("Read", read, &"fn main() {}\n".repeat(80), CallStatus::Ok),
            stub("get_user", r#"{"id":"mia_3668"}"#, "Error: user not found", CallStatus::Unknown),
            stub(
                "Bash",
                r#"{"command":"npm run check"}"#,
                "x\n\nCommand exited with code 2",
                CallStatus::Error,
            ),
            stub("Grep", r#"{"pattern":"a\u0000b"}"#, "", CallStatus::Unknown),
            stub("", "", "found", CallStatus::Unknown),
        ]
        .join("\n");
        expect![[r"
            [elided: Read(src/main.rs, 1-80) → 80 lines, 1.0 kB, ok]
            [elided: get_user(id=mia_3668) → 1 line, 21 B, failed: Error: user not found]
            [elided: Bash(npm run check) → 3 lines, 29 B, failed (exit code 2): x]
            [elided: Grep(ab) → 0 lines, 0 B]
            [elided: 1 line, 5 B]"]]
        .assert_eq(&stubs);
    }

    proptest! {
        #[test]
        fn any_stub_is_one_short_clean_line(tool: String, arguments: String, output: String) {
            for outcome in [CallStatus::Ok, CallStatus::Error, CallStatus::Unknown] {
                let stub = stub(&tool, &arguments, &output, outcome);
                prop_assert!(stub.chars().count() <= 340);
                prop_assert!(!stub.chars().any(cut::is_unseen));
            }
        }
    }
}
