//! Law 18: a specific is kept whole or left out.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use epitome::Outcome;
use epitome::text::cut::{self, visible};
use epitome::text::specifics::{Class, MAX_BYTES, specifics};
use epitome::view::{Fate, Put, Reason};

use super::log::{Lane, Log};

/// Each path, address, id and identifier that the checkpoint, stubs, excerpts and shortened arguments say is one of the
/// request, or stands alone in it. Takes linear time.
///
/// What a summarizer or somebody else's compaction wrote is theirs.
pub(super) fn check(outcome: &Outcome) -> Result<(), String> {
    let mut written: Vec<(String, Cow<'_, str>)> = Vec::new();
    if let Some(placed) = outcome.view.checkpoint() {
        let body = placed.text.split_once('\n').map_or("", |(_, body)| body);
        let body = body.rsplit_once('\n').map_or("", |(body, _)| body);
        let summary = Log::of(&placed.text).lane(Lane::Summary).filter(|lane| !lane.is_empty());
        let body = summary.map_or_else(|| body.to_owned(), |summary| body.replace(summary, ""));
        written.push(("the checkpoint".to_owned(), body.into()));
    }
    for (at, fate) in outcome.view.fates().enumerate() {
        let Fate::Edit(edits) = fate else { continue };
        for edit in edits.iter().filter(|edit| edit.reason != Reason::Delegated) {
            let text = match &edit.put {
                Put::Text(text) | Put::Arguments(text) => Cow::Borrowed(text.as_ref()),
                Put::Nothing => continue,
            };
            written.push((format!("entry {at}, {}", edit.reason.words()), text));
        }
    }
    if written.is_empty() {
        return Ok(());
    }
    let said = said_by(outcome.base.source());
    for (place, text) in &written {
        // Excerpts of JSON have their line feeds as escapes.
        let text = unescaped(text);
        for (class, token) in exact(&text) {
            let cut = said.cut(class, token);
            holds!(cut.is_none(), "{place}: nobody said {cut:?}, as it stands in {token:?}");
        }
    }
    Ok(())
}

/// Every token of a request. That of the last one is kept: many compactions of one request are often checked in a row.
fn said_by(source: &str) -> Rc<RequestTokens> {
    thread_local! {
        static LAST: RefCell<Option<(String, Rc<RequestTokens>)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| match last {
        Some((known, said)) if known == source => Rc::clone(said),
        _ => {
            let said = Rc::new(RequestTokens::of(source));
            *last = Some((source.to_owned(), Rc::clone(&said)));
            said
        }
    })
}

/// The specifics of a text, and what else has a slash between letters: half a path needn't look like one.
fn exact(text: &str) -> impl Iterator<Item = (Class, &str)> {
    let is_path = |token: &&str| {
        let says = |piece: &str| piece.len() > 1 && piece.contains(char::is_alphabetic);
        match token.split_once('/') {
            // Addresses are known by themselves.
            _ if token.contains("//") => false,
            Some(("", rest)) => says(rest) && rest.contains('.'),
            Some((first, rest)) => says(first) && says(rest),
            None => false,
        }
    };
    let tokens = text.split(|c: char| !c.is_ascii() || !is_part(c)).map(trimmed);
    let paths = tokens.filter(is_path).map(|token| (Class::Path, token));
    specifics(text).map(|found| (found.class, found.text)).chain(paths)
}

/// Classes that lose their sense when they are cut.
const EXACT: [Class; 4] = [Class::Path, Class::Url, Class::Id, Class::Identifier];
/// Levels of JSON strings in strings that are resolved: the request's own, arguments in a string, code in those.
const LEVELS: usize = 3;

/// Every token of a request.
struct RequestTokens {
    tokens: HashSet<String>,
    /// What is too long for a specific: data, which may be cut anywhere.
    data: Vec<String>,
}

impl RequestTokens {
    fn of(source: &str) -> Self {
        let mut said = RequestTokens { tokens: HashSet::new(), data: Vec::new() };
        let mut text = source.to_owned();
        said.see(&text);
        for _ in 0..LEVELS {
            text = unescaped(&text);
            said.see(&text);
            // Lines that the engine writes have no unseen characters, and no terminal's escapes.
            if text.chars().any(is_unseen) {
                said.see(&text.chars().filter(|c| !is_unseen(*c)).collect::<String>());
                said.see(&visible(&text));
            }
            if !text.contains('\\') {
                break;
            }
        }
        said
    }

    /// Adds each token, and what stands in it between letters beyond ASCII, `=` and `,`.
    fn see(&mut self, text: &str) {
        specifics(text).for_each(|found| self.add(found.text));
        for run in text.split_inclusive(|c: char| !is_part(c)) {
            // Before its query an address is half of one.
            if run.ends_with('?') && run.contains("://") {
                continue;
            }
            let run = run.trim_end_matches(|c| !is_part(c));
            for piece in run.split(|c: char| !c.is_ascii()) {
                self.add(piece);
                if piece.contains(['=', ',']) {
                    piece.split(['=', ',']).for_each(|piece| self.add(piece));
                }
            }
            if !run.is_ascii() {
                self.add(run);
            }
        }
    }

    fn add(&mut self, token: &str) {
        let token = trimmed(token);
        if self.tokens.contains(token) {
            return;
        }
        // A place in a file says the file.
        if let Some((path, _)) = token.split_once(':').filter(|(path, _)| path.len() > 1) {
            self.tokens.insert(path.to_owned());
        }
        if token.len() > MAX_BYTES {
            self.data.push(token.to_owned());
        } else if token.len() > 1 {
            self.tokens.insert(token.to_owned());
        }
    }

    fn has(&self, token: &str) -> bool {
        self.tokens.contains(token) || self.data.iter().any(|data| data.contains(token))
    }

    /// What of a specific nobody said as it stands there.
    fn cut<'t>(&self, class: Class, text: &'t str) -> Option<&'t str> {
        if !EXACT.contains(&class) || self.has(text) {
            return None;
        }
        let pieces = text.split(|c: char| !c.is_ascii()).map(trimmed);
        let pieces = pieces.filter(|piece| !self.has(piece)).filter_map(|piece| {
            // An address is one; `key=value` are two.
            let is_address = piece.contains("://") && !piece.split("://").next()?.contains('=');
            let marks: &[char] = if is_address { &[] } else { &['=', ','] };
            Some(piece.split(marks))
        });
        pieces.flatten().map(trimmed).find(|piece| {
            let is_exact = exact(piece).any(|(class, _)| EXACT.contains(&class));
            is_exact && !self.has(piece)
        })
    }
}

/// Whether a character stands in tokens, as [`specifics`] splits a text.
fn is_part(c: char) -> bool {
    let is_mark =
        matches!(c, '_' | '/' | '.' | ':' | '~' | '@' | '$' | '%' | '#' | '+' | '\\' | '-');
    !c.is_ascii() || c.is_ascii_alphanumeric() || is_mark
}

/// A token without marks that end a sentence around it.
fn trimmed(token: &str) -> &str {
    token
        .trim_end_matches(['.', ',', ':', '?', '=', '&', '\\', '#', '+', '@'])
        .trim_start_matches([',', ':', '=', '?', '&', '+', '#', '\\', '%'])
}

fn is_unseen(c: char) -> bool {
    cut::is_unseen(c) && !c.is_whitespace()
}

/// The text with each escape of a JSON string resolved.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let Some(next) = escape.chars().next() else { break };
        let mut used = next.len_utf8();
        match next {
            'n' | 'r' | 't' | 'f' | 'b' => out.push('\n'),
            'u' => {
                let code = escape.get(1..5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                used = if code.is_some() { 5 } else { 1 };
                // Half of a pair is a letter beyond ASCII all the same.
                out.push(code.map_or('u', |code| char::from_u32(code).unwrap_or('\u{fffd}')));
            }
            other => out.push(other),
        }
        rest = &escape[used..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{RequestTokens, check, exact, unescaped};
    use crate::laws::made::{edited, made};
    use epitome::Format;
    use epitome::transcript::PartKind;
    use epitome::view::{Put, Reason};
    use std::collections::BTreeSet;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unescaped(r#"a\nb \"c\" \\ \u0041\ud83d \x"#), "a\nb \"c\" \\ A\u{fffd} x");
    }

    #[test]
    fn what_was_said_is_whole() {
        let said = RequestTokens::of(
            r#"{"a":"see src/agents/plugin.ts, (std::mem::take) and JG7FMM\nhttps://example.org/a?b=1&c=2"}"#,
        );
        let cut = |text: &str| {
            let cuts = exact(text).filter_map(|(class, token)| said.cut(class, token));
            cuts.map(str::to_owned).collect::<BTreeSet<_>>()
        };
        for whole in [
            "src/agents/plugin.ts: read [3]",
            "update(id=JG7FMM, std::mem::take) → ok",
            "src/agents/plugin.ts… and then",
            "[elided: x → 2 lines, 43 B]",
            "https://example.org/a?b=1&c=2",
        ] {
            assert_eq!(cut(whole), BTreeSet::new(), "{whole}");
        }
        for (half, of) in [
            ("src/agents/plug…", "src/agents/plug"),
            ("src/…/plugin.ts", "/plugin.ts"),
            ("https://example.org/a", "https://example.org/a"),
            ("id=JG7FM", "JG7FM"),
            ("std::mem", "std::mem"),
        ] {
            assert_eq!(cut(half), BTreeSet::from([of.to_owned()]), "{half}");
        }
    }

    #[test]
    fn checkpoint_excerpts_and_arguments_cut_none() {
        let drawn = "user Begin.\nasst I see src/agents/plugin.ts here.\nasst call a Bash {\"cmd\":\"cat lib/wire/mod.rs\"}\nres  a = in crates/epitome/lib.rs:12\nuser Go on.\n";
        let with = |note: &str| {
            let text = format!(
                "<checkpoint 0a1b>\nIt stands for message 1.\n\nNotes\n[1] {note}\n</checkpoint 0a1b>"
            );
            check(&made(Format::OpenaiChat, drawn, "kfkkk", Some((2, &text))).0)
        };
        assert_eq!(with("I see src/agents/plugin.ts here."), Ok(()));
        assert!(with("I see src/agents/plug").expect_err("it is cut").contains("the checkpoint"));
        let (outcome, _) = made(Format::OpenaiChat, drawn, "kkkkk", None);
        let put = |at, kind, put| check(&edited(&outcome, at, kind, &put, Reason::LongText));
        assert_eq!(
            put(3, PartKind::Result, Put::Text("in crates/epitome/lib.rs:12".into())),
            Ok(())
        );
        assert!(put(3, PartKind::Result, Put::Text("in crates/epitome/li".into())).is_err());
        let arguments = |json: &str| put(2, PartKind::Call, Put::Arguments(json.into()));
        assert_eq!(arguments(r#"{"cmd":"cat lib/wire/mod.rs"}"#), Ok(()));
        assert!(arguments(r#"{"cmd":"cat lib/wire/m…"}"#).is_err());
    }
}
