//! Transcripts as text that reads like a diagram, in both directions.
//!
//! One line an entry: who speaks, then its parts, separated by ` | `.
//!
//! ```text
//! sys  You are terse.
//! user Fix the build.  # two blanks and a hash begin a comment
//! inj  look at the time
//! asst Looking. | think the build is red | call a Read {"path":"src/x.rs"} | call b Bash {"cmd":"ls"}
//! res  a = {lines 120}
//! res! b = error: no such file | and hurry up
//! asst think* signed words | redacted | srv s web_search {"query":"x"} | srv s = A page
//! user What is this? {img 640x480} {doc}
//! ```
//!
//! | tag | entry |
//! |---|---|
//! | `sys`, `dev` | instructions: an entry (Anthropic and Gemini, first line: the body's own) |
//! | `user`, `inj` | human words; injected ones (in a `<system-reminder>` unless they begin with `<`) |
//! | `asst` | the model |
//! | `res`, `res!` | a tool result; one that failed. Chat, Responses: an entry each. Else: lines in a row are one user entry, an empty line between them begins another; what follows ` \| ` is the user's |
//! | `raw` | an entry as JSON |
//!
//! | part | is |
//! |---|---|
//! | `call id Tool {…}` | a tool call, its arguments as JSON (`{}` if left out) |
//! | `fn Tool {…}` | a call without id (chat, Gemini); `fn Tool = …` after `res` is its result |
//! | `think …`, `think* …`, `redacted` | reasoning: in the clear, signed, encrypted |
//! | `sig` | Gemini: the signature of the part before it |
//! | `id fc_1` | Responses: the id of the item itself; parts of a line are items |
//! | `srv id tool {…}`, `srv id = …` | a call of a tool that the provider runs, and its result |
//! | `compaction …` | the provider's own compaction |
//! | `opaque {…}` | a content block as JSON |
//! | `res id = …`, `res! id = …` | a result that isn't first in its user entry |
//! | `inj …` | injected text beside other parts |
//! | `say …` | words that begin like one of these |
//! | anything else | words |
//!
//! In words `\n` is a line feed, `\|` a bar and `\\` a backslash; `{lorem 400}` stands for 400 words,
//! `{lines 120}` for 120 lines, `{code 40}` and `{log 40}` for what coding agents read, `{img 640x480}`
//! and `{doc}` for media. A part that ends in `@cache` has a cache marker.

use epitome::wire::{self, Format, Request};

use crate::draft::{Block, Draft, Message, Shape, is_flat};
use crate::prose;
use crate::responses;
pub use crate::show::{show, show_view};

/// The request that `notation` draws, as a whole body without any flourish.
///
/// # Panics
/// If the notation can't be read; it is part of a test.
pub fn parse(format: Format, notation: &str) -> Request {
    let (text, _) = draft(format, notation).write(0);
    wire::parse(format, text).expect("drafts are well-formed")
}

/// The same before it is JSON.
///
/// # Panics
/// If the notation can't be read.
pub fn draft(format: Format, notation: &str) -> Draft {
    let mut draft = Draft::new(format);
    let mut joins = false;
    for line in notation.lines() {
        let line = line.split_once("  #").map_or(line, |(line, _comment)| line).trim();
        let (tag, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        let is_result = tag.starts_with("res");
        let has_blocks = !is_flat(format);
        let joined = std::mem::replace(&mut joins, is_result && has_blocks);
        let (role, parts) = match tag {
            "" | "#" => continue,
            "sys"
                if format != Format::OpenaiChat
                    && draft.messages.is_empty()
                    && draft.system.is_none() =>
            {
                draft.system = Some(words(rest));
                continue;
            }
            "sys" => ("system", rest.to_owned()),
            "dev" => ("developer", rest.to_owned()),
            "user" => ("user", rest.to_owned()),
            "inj" => ("user", format!("inj {rest}")),
            "asst" => ("assistant", rest.to_owned()),
            "res" | "res!" if has_blocks => ("user", line.to_owned()),
            "res" | "res!" if format == Format::OpenaiResponses => ("tool", line.to_owned()),
            "res" | "res!" if rest.starts_with("fn ") => ("function", line.to_owned()),
            "res" | "res!" => ("tool", line.to_owned()),
            "raw" => ("", format!("opaque {rest}")),
            other => panic!("no such tag: `{other}` in `{line}`"),
        };
        let blocks: Vec<Block> = segments(&parts).iter().flat_map(|part| read_part(part)).collect();
        match draft.messages.last_mut() {
            Some(last) if joined && is_result => last.blocks.extend(blocks),
            _ if format == Format::OpenaiResponses => {
                draft.messages.extend(responses::items(Message::new(role, blocks)));
            }
            _ => draft.messages.push(Message::new(role, blocks)),
        }
    }
    draft
}

/// Splits at ` | `, but not inside a part's JSON.
fn segments(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in line.split(" | ") {
        match parts.last_mut().filter(|last| is_cut_off(last)) {
            Some(last) => {
                last.push_str(" | ");
                last.push_str(piece);
            }
            None => parts.push(piece.trim().to_owned()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn is_cut_off(part: &str) -> bool {
    let holds_json = ["call ", "fn ", "srv ", "opaque "].iter().any(|head| part.starts_with(head));
    let json = part.find('{').filter(|_| holds_json).map(|at| &part[at..]);
    json.is_some_and(|json| {
        serde_json::from_str::<serde::de::IgnoredAny>(json).is_err_and(|e| e.is_eof())
    })
}

fn read_part(part: &str) -> Vec<Block> {
    let (head, rest) = part.split_once(' ').unwrap_or((part, ""));
    let mut two = rest.splitn(3, ' ');
    let mut next = || two.next().unwrap_or_default().to_owned();
    let block = match head {
        "think" => Block::Think(words(rest)),
        "think*" => Block::Signed(words(rest)),
        "redacted" => Block::Redacted,
        "sig" => Block::Signature(rest.to_owned()),
        "id" => Block::Own(rest.to_owned()),
        "compaction" => Block::Compaction((!rest.is_empty()).then(|| words(rest))),
        "opaque" => Block::Opaque(rest.to_owned()),
        "call" => Block::Call { id: next(), name: next(), input: or_empty(&next()) },
        "fn" => Block::Function { name: next(), input: or_empty(&[next(), next()].join(" ")) },
        "srv" => match rest.split_once(" = ") {
            Some((id, text)) => Block::ServerResult {
                id: id.to_owned(),
                name: "web_search".to_owned(),
                text: words(text),
            },
            None => Block::ServerCall { id: next(), name: next(), input: or_empty(&next()) },
        },
        "res" | "res!" => {
            let (id, text) = rest.split_once('=').unwrap_or((rest, ""));
            let text = text.trim_start();
            if let Some(name) = id.trim().strip_prefix("fn ") {
                Block::FunctionResult { name: name.to_owned(), text: words(text) }
            } else {
                let content = content(text);
                let is_plain = matches!(content.as_slice(), [] | [Block::Text(_)]);
                Block::Result {
                    id: id.trim().to_owned(),
                    failed: head == "res!",
                    shape: if is_plain { Shape::String } else { Shape::List },
                    content,
                }
            }
        }
        "inj" if rest.starts_with('<') => Block::Text(words(rest)),
        "inj" => Block::Text(prose::reminder(&words(rest))),
        "say" => return content(rest),
        _ => return content(part),
    };
    vec![block]
}

fn or_empty(json: &str) -> String {
    if json.trim().is_empty() { "{}".to_owned() } else { json.trim().to_owned() }
}

/// Words and the media between them.
fn content(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let macro_end = from.find('}').map_or(from.len(), |end| end + 1);
        if let Some(medium) = medium(&from[..macro_end]) {
            flush(&mut plain, &mut blocks);
            blocks.push(medium);
            rest = from[macro_end..].trim_start();
        } else {
            plain.push('{');
            rest = &from[1..];
        }
    }
    plain.push_str(rest);
    flush(&mut plain, &mut blocks);
    blocks
}

fn flush(plain: &mut String, blocks: &mut Vec<Block>) {
    let text = std::mem::take(plain);
    let text = text.trim();
    match text.strip_suffix("@cache") {
        Some(text) => blocks.push(Block::Cached(words(text.trim_end()))),
        None if text.is_empty() => {}
        None => blocks.push(Block::Text(words(text))),
    }
}

fn medium(text: &str) -> Option<Block> {
    if text == "{doc}" {
        return Some(Block::Document);
    }
    let (width, height) = text.strip_prefix("{img ")?.strip_suffix('}')?.split_once('x')?;
    Some(Block::Image(width.parse().ok()?, height.parse().ok()?))
}

/// Words with escapes resolved and helpers filled in.
fn words(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let used = if let Some(escaped) = from.strip_prefix('\\') {
            let escaped = escaped.chars().next();
            match escaped {
                Some('n') => out.push('\n'),
                Some(c) => out.push(c),
                None => out.push('\\'),
            }
            1 + escaped.map_or(0, char::len_utf8)
        } else if let Some((bulk, used)) = bulk(from) {
            out.push_str(&bulk);
            used
        } else {
            out.push('{');
            1
        };
        rest = &from[used..];
    }
    out.push_str(rest);
    out
}

/// `{lorem 400}` and the like, and how long that is in the notation.
fn bulk(text: &str) -> Option<(String, usize)> {
    let end = text.find('}')?;
    let (kind, count) = text[1..end].split_once(' ')?;
    let count: usize = count.parse().ok()?;
    let text = match kind {
        "lorem" => prose::lorem(count),
        "lines" => prose::lines(count),
        "code" => prose::code(count as u64, count),
        "log" => prose::log(count as u64, count),
        _ => return None,
    };
    Some((text, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use epitome::view::{Fate, PartEdit, Placed, Put, Reason, View};
    use expect_test::expect;

    const CHAT: &str = "\
sys  You are terse.
user Fix the build.
inj  look at the time
asst Looking. | think the build is red | call a Read {\"path\":\"src/x.rs\"} | call b Bash {\"cmd\":\"ls | wc\"}
res  a = {lines 120}
res  b = 12\\nlines \\| more
dev  Speak French now.
asst Voilà.
";

    const ANTHROPIC: &str = "\
sys  You are terse.
user Fix the build. | inj hurry | {img 640x480}
asst think* signed words | Looking. | call a Read {\"path\":\"x\"} | call b Bash | call c Bash
res  a = {lorem 400}
res! b = error: no such file | and hurry up

res  c = a picture | {img 10x20}
asst redacted | srv s web_search {\"query\":\"x\"} | srv s = A page
asst compaction We did things.
user What | {doc} | stays @cache
sys  Mind the gap.
raw  {\"role\":\"user\",\"content\":[]}
";

    #[test]
    fn what_is_parsed_is_shown() {
        for (format, notation) in [(Format::OpenaiChat, CHAT), (Format::Anthropic, ANTHROPIC)] {
            let request = parse(format, notation);
            let shown = show(&request);
            let again = parse(format, &shown);
            assert_eq!(again.source(), request.source(), "{shown}");
        }
        expect![[r#"
            sys  You are terse.
            user Fix the build.
            inj  look at the time
            asst think the build is red | Looking. | call a Read {"path":"src/x.rs"} | call b Bash {"cmd":"ls | wc"}
            res  a = {lines 120}
            res  b = 12\nlines \| more
            dev  Speak French now.
            asst Voilà.
        "#]]
        .assert_eq(&show(&parse(Format::OpenaiChat, CHAT)));
        expect![[r#"
            sys  You are terse.
            user Fix the build. | inj hurry | {img 640x480}
            asst think* signed words | Looking. | call a Read {"path":"x"} | call b Bash {} | call c Bash {}
            res  a = {lorem 400}
            res! b = error: no such file | and hurry up

            res  c = a picture | {img 10x20}
            asst redacted | srv s web_search {"query":"x"} | srv s = A page
            asst compaction We did things.
            user What | {doc} | stays @cache
            sys  Mind the gap.
            raw  {"role":"user","content":[]}
        "#]].assert_eq(&show(&parse(Format::Anthropic, ANTHROPIC)));
    }

    #[test]
    fn fates_are_shown() {
        let request = parse(Format::OpenaiChat, CHAT);
        let part = |entry: usize, nth: usize| {
            request.transcript.entry(entry).parts().nth(nth).expect("the notation above").slot
        };
        let mut view = View::default();
        view.push(Fate::Keep);
        view.push(Fate::Fold(Reason::OlderStep));
        view.push(Fate::Drop(Reason::LastResort));
        let gone = PartEdit { at: part(3, 0), put: Put::Nothing, reason: Reason::OldReasoning };
        view.push(Fate::Edit(Box::new([gone])));
        let stub = Put::Text("[120 lines]".into());
        view.push(Fate::Edit(Box::new([PartEdit {
            at: part(4, 0),
            put: stub,
            reason: Reason::OldOutput,
        }])));
        for _ in 5..8 {
            view.push(Fate::Keep);
        }
        view.place(Placed { before: 2, text: "Earlier work:\nnone".into() });
        expect![[r#"
            keep sys  You are terse.
            fold user Fix the build.  # folded into the checkpoint
            here Earlier work:
               | none
            drop inj  look at the time  # folded as a last resort
            edit asst think the build is red | Looking. | call a Read {"path":"src/x.rs"} | call b Bash {"cmd":"ls | wc"}
               > think = nothing  # old reasoning, dropped
            edit res  a = {lines 120}
               > res a = [120 lines]  # old tool output, stubbed
            keep res  b = 12\nlines \| more
            keep dev  Speak French now.
            keep asst Voilà.
        "#]].assert_eq(&show_view(&request, &view));
    }

    #[test]
    fn both_formats_are_accepted() {
        for (format, notation) in [(Format::OpenaiChat, CHAT), (Format::Anthropic, ANTHROPIC)] {
            let whole = parse(format, notation);
            let verdict = crate::accepted::accepted(&whole);
            assert_eq!(verdict.is_ok(), format == Format::OpenaiChat, "{verdict:?}");
        }
    }
}
