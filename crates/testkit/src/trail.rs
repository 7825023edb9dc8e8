//! Which files an agent's calls changed, read off their arguments and results without the library; and which of them a view
//! still names.

use std::collections::{BTreeMap, BTreeSet};

use epitome::Request;
use epitome::transcript::{Marks, PartKind};
use epitome::word_list::words;
use serde_json::Value;

/// Calls that change the file that they name.
const WRITERS: [&str; 9] =
    words!("create edit edit_file file_editor multiedit notebookedit replace write write_file");
/// What an editor does that changes nothing, or takes back what it changed.
const LOOKS: [&str; 2] = ["view", "undo_edit"];

/// The files that calls changed, as they named them: all calls that have a result that is no failure.
pub fn changed(request: &Request) -> BTreeSet<String> {
    let parts = || request.transcript.entries().flat_map(|entry| entry.parts());
    let results = parts().filter(|part| part.kind() == PartKind::Result);
    let went: BTreeMap<String, bool> = results
        .map(|part| {
            let failed = part.is(Marks::ERROR) || says_failure(&part.text());
            (part.id().into_owned(), !failed)
        })
        .collect();
    let calls = parts().filter(|part| part.kind() == PartKind::Call);
    let files = calls.filter_map(|call| {
        let arguments: Value = serde_json::from_str(&call.text()).ok()?;
        let text = |key: &&str| arguments[*key].as_str().map(str::to_owned);
        let only_looks = text(&"command").is_some_and(|act| LOOKS.contains(&act.as_str()));
        let is_made = went.get(call.id().as_ref()) == Some(&true) && !only_looks;
        let path = ["file_path", "path", "filename", "notebook_path"].iter().find_map(text);
        path.filter(|_| is_made && WRITERS.contains(&call.name().to_lowercase().as_str()))
    });
    files.collect()
}

/// How many of these files the view names, in whatever place: where they are shown, or in a checkpoint.
pub fn named_in(view: &Request, files: &BTreeSet<String>) -> usize {
    let parts = view.transcript.entries().flat_map(|entry| entry.parts());
    let texts: Vec<String> = parts.map(|part| part.text().into_owned()).collect();
    let says = |words: &str| texts.iter().any(|text| text.contains(words));
    let below: Vec<&str> = texts
        .iter()
        .filter_map(|text| text.split_once("Paths are below: ")?.1.split_whitespace().next())
        .collect();
    let is_named = |path: &&String| {
        let rests = below.iter().filter_map(|root| path.strip_prefix(root));
        says(path) || rests.filter(|rest| !rest.is_empty()).any(says)
    };
    files.iter().filter(is_named).count()
}

/// Whether an output names an exit code that isn't 0.
fn says_failure(output: &str) -> bool {
    let lower = output.to_lowercase();
    ["exit code: ", "exit code ", "exited with code ", "exit status "].iter().any(|mark| {
        lower.split(mark).skip(1).any(|rest| rest.starts_with(|c: char| ('1'..='9').contains(&c)))
    })
}

#[cfg(test)]
mod tests {
    use epitome::Format;

    use super::*;

    #[test]
    fn files_that_calls_changed_are_read_and_found_again() {
        let request = crate::parse(
            Format::OpenaiChat,
            r#"user Mend it.
asst call a Edit {"file_path":"/r/src/a.rs"}
res  a = done
asst call b file_editor {"path":"/r/src/b.rs","command":"view"}
res  b = fn b() {}
asst call c Write {"file_path":"/r/src/c.rs"}
res  c = exit code 1
"#,
        );
        let files = changed(&request);
        assert_eq!(files, ["/r/src/a.rs".to_owned()].into());
        assert_eq!(named_in(&request, &files), 1);
        for (said, named) in [
            ("Paths are below: /r/ Files changed: src/a.rs", 1),
            ("Paths are below: /other/ Files changed: src/a.rs", 0),
            ("/r/src/a.rs", 1),
        ] {
            let view = crate::parse(Format::OpenaiChat, &format!("user {said}\n"));
            assert_eq!(named_in(&view, &files), named, "{said}");
        }
    }
}
