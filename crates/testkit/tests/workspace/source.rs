//! A Rust source file as a reader for rules sees it: without comments, literals and tests.

/// The code of `text`, line for line: comments, the contents of string literals, and items under
/// `#[cfg(test)]` are blanked out.
pub(crate) fn code(text: &str) -> String {
    without_tests(&without_words(text))
}

fn without_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let before = out.chars().next_back().unwrap_or(' ');
        let skip = match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => string(rest),
            'r' if !before.is_alphanumeric() || before == 'b' => raw_string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        if skip == 0 {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            let (gone, left) = rest.split_at(skip);
            out.push_str(if gone.starts_with(['"', 'r']) { "\"\"" } else { " " });
            out.extend(gone.chars().filter(|c| *c == '\n'));
            rest = left;
        }
    }
    out
}

/// Length of the string literal at the beginning.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the raw string literal at the beginning; 0 if there is none.
fn raw_string(text: &str) -> usize {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    if !text[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 2;
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// Length of the character literal at the beginning; 0 if it is a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(0, |at| at + 4),
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// Drops what stands under `#[cfg(test)]`. The files are formatted, so an item ends with the first
/// line of its own indentation that closes it.
fn without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let closes = [format!("{indent}}}"), format!("{indent}}};"), format!("{indent})")];
        out.push('\n');
        for line in lines.by_ref() {
            out.push('\n');
            let is_short = line.starts_with(&format!("{indent}mod "))
                || line.starts_with(&format!("{indent}use "));
            if closes.iter().any(|close| line == close) || is_short && line.ends_with(';') {
                break;
            }
        }
    }
    out
}

/// Where `word` stands in `line` as a word of its own.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

#[test]
fn only_code_is_left() {
    let text = "use a; // wire\nlet b = \"wire \\\" wire\"; /* wire\nwire */ let c = br#\"wire \" \"#;\n\
                let d = ('\"', '\\'', 'w'); fn e<'a>() {}\n#[cfg(test)]\nmod tests {\n    wire\n}\n#[cfg(test)]\nuse wire;\nlet f;\n";
    let code = code(text);
    assert!(!has_word(&code, "wire"), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
    for kept in ["use a", "let b", "let c", "let d", "fn e<'a>() {}", "let f"] {
        assert!(code.contains(kept), "{kept} in {code}");
    }
    assert!(has_word("crate::wire::x", "wire") && !has_word("rewired", "wire"));
}
