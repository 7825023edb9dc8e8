//! The table of rules with a body that breaks each, as a page:
//! `cargo run -p testkit --example rules -- [--check] docs/rules.md`
//!
//! Writes the page, or, with `--check`, fails where it says something else than the code does.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use epitome::Format;
use epitome::model::capability::MisfitKind;
use epitome::wire::json::{self, Span};
use epitome::wire::{self, RULES, Rule};
use testkit::breaches::failing;
use testkit::paper;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const HEAD: &str = "\
# Rules

What providers demand of a transcript, as `epitome check` holds it: for each rule the error that the provider \
answers with, the smallest body that breaks it, and what is left of that body when it is mended. Nothing here is typed \
by hand; the page is made by

```sh
cargo run -p testkit --example rules -- docs/rules.md
```

and `./test` fails when it is out of date. Another test holds that each of these bodies is found, mended where the rule \
says so, and refused by a second reading of the providers' rules. In error texts `…` stands for ids and positions. \
Sources are sections of [PROVIDERS.md](PROVIDERS.md) and public issues; `[BK]` marks what nothing public confirms: a \
default. Any rule can be waived, for a gateway that is known to be laxer: `epitome check --except RULE`.

What a provider's SDK has no shape for (`unknown-type`, `value`, `missing`, most of `extra-member`, and how what a provider ran \
belongs together) only `check` and `convert` look for: a provider may know it by tomorrow, so a compaction carries it.

A mend changes no more than the offending parts, and receipts name it. Where there is none only the author of the request \
knows what was meant.
";

fn main() -> Result<ExitCode> {
    paper::keep("rules", &format!("{} rules", RULES.len()), page)
}

fn page() -> Result<String> {
    let mut out = HEAD.to_owned();
    for format in Format::ALL {
        let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.format == format).collect();
        write!(out, "\n## {}\n\n| rule | demands | mended |\n|---|---|---|\n", title(format))?;
        for rule in &rules {
            let anchor = rule.id.0.replace('/', "");
            let mend = if rule.repair.is_empty() { "–" } else { rule.repair };
            writeln!(out, "| [`{}`](#{anchor}) | {} | {mend} |", rule.id, rule.demand)?;
        }
        for rule in rules {
            out += &section(rule)?;
        }
    }
    out += &models()?;
    Ok(out)
}

fn title(format: Format) -> &'static str {
    match format {
        Format::OpenaiChat => "OpenAI Chat Completions",
        Format::Anthropic => "Anthropic Messages",
        Format::Gemini => "Gemini generateContent",
        Format::OpenaiResponses => "OpenAI Responses",
        Format::GeminiInteractions => "Gemini Interactions",
        Format::Bedrock => "AWS Bedrock Converse",
        _ => "Others",
    }
}

/// One rule, its error, and what it is broken by.
fn section(rule: &Rule) -> Result<String> {
    let mut out = String::new();
    let body = failing(rule.id.0);
    writeln!(out, "\n### {}\n", rule.id)?;
    writeln!(out, "> {}\n", rule.error.replace('*', "\\*"))?;
    writeln!(out, "Source: {}.\n\n```json\n{}\n```", rule.source, laid_out(&body)?)?;
    let request = wire::parse(rule.format, body)?;
    let repaired = wire::repair_inspected(&request, &[]);
    if rule.repair.is_empty() {
        writeln!(out, "\nOnly its author can mend it.")?;
        return Ok(out);
    }
    let done: Vec<&str> = repaired.mended.iter().map(|mended| &*mended.mend).collect();
    let mended = laid_out(repaired.request.source())?;
    writeln!(out, "\nMended ({}):\n\n```json\n{mended}\n```", done.join("; "))?;
    Ok(out)
}

/// Longer ones are cut: a line, and the lines of a list.
const MOST: (usize, usize) = (400, 12);

/// One line for the frame and for each message.
fn laid_out(body: &str) -> Result<String> {
    let whole = Span::new(0..body.len());
    let (list, inset) = if body.starts_with('[') {
        (whole, "  ")
    } else {
        let keys = ["messages", "contents", "input"];
        let list = keys.into_iter().find_map(|key| json::member(body, whole, key));
        (list.ok_or("a body without a list")?, "    ")
    };
    let lines: Vec<String> =
        json::elements(body, list)?.iter().map(|span| cut(span.of(body))).collect();
    let more = lines.len().saturating_sub(MOST.1);
    let mut shown = lines[..lines.len() - more].join(&format!(",\n{inset}"));
    if more > 0 {
        write!(shown, ",\n{inset}… {more} more …")?;
    }
    let (head, tail) = (&body[..list.start as usize], &body[list.end as usize..]);
    let outdent = &inset[2..];
    Ok(format!("{head}[\n{inset}{shown}\n{outdent}]{tail}"))
}

fn cut(line: &str) -> String {
    let count = line.chars().count();
    if count <= MOST.0 {
        return line.to_owned();
    }
    let kept: String = line.chars().take(MOST.0).collect();
    format!("{kept}… ({count} characters)")
}

/// Rules that hang on the model.
fn models() -> Result<String> {
    let mut out = String::from(
        "\n## Models\n\nWhat one model refuses that another of the same format takes: `epitome check --for FORMAT:MODEL`, \
         from the [registry](../crates/epitome/data/models.json). None is mended.\n\n| rule | finds |\n|---|---|\n",
    );
    for subject in MisfitKind::ALL {
        writeln!(out, "| `{}` | {} |", subject.name(), subject.words())?;
    }
    Ok(out)
}
