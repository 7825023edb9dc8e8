//! The many names of a model: what clouds, gateways and clients put around its vendor's id.

use crate::word_list::words;

/// Regions, makers and other words that clouds put before an id, with a dot behind.
const BEFORE_A_DOT: [&str; 27] = words!(
    "us eu apac au jp ca sa global us-gov anthropic openai meta mistral mistralai qwen deepseek \
     moonshot moonshotai zai xai x-ai google minimax amazon system ai bedrock"
);

/// How an id is looked up: without case, and with one sign for all that parts its words.
pub(super) fn key(name: &str) -> String {
    name.trim().chars().map(plain).collect()
}

fn plain(c: char) -> char {
    match c {
        '.' | '_' | ' ' | ':' => '-',
        c => c.to_ascii_lowercase(),
    }
}

/// What gateways put behind a colon: how a model is served, not which one it is.
const VARIANTS: [&str; 10] = [
    "free", "paid", "thinking", "nitro", "floor", "online", "beta", "extended", "exacto", "latest",
];

/// Whether what stands behind a colon is a version (`0`, `v1`, `70b`) or a variant.
fn is_variant(behind: &str) -> bool {
    let first = behind.split(':').next().unwrap_or_default();
    first.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
        || VARIANTS.contains(&first)
}

/// The keys to look for, the most literal first.
pub(super) fn keys(name: &str) -> Vec<String> {
    let mut name = name.trim().to_ascii_lowercase();
    let mut keys = vec![key(&name)];
    let mut try_next = |name: &str| {
        let key = key(name);
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
        }
    };
    // `claude-opus-4-6[1m]` is how Claude Code asks for a longer window.
    if let Some((id, _)) = name.split_once('[') {
        name = id.to_owned();
        try_next(&name);
    }
    if let Some((_, id)) = name.rsplit_once('/') {
        name = id.to_owned();
        try_next(&name);
    }
    while let Some((before, id)) = name.split_once('.') {
        if !BEFORE_A_DOT.contains(&before) {
            break;
        }
        name = id.to_owned();
        try_next(&name);
    }
    for before in ["databricks-", "fw-"] {
        if let Some(id) = name.strip_prefix(before) {
            name = id.to_owned();
            try_next(&name);
        }
    }
    // A cloud's version and a gateway's variant (`:free`) both stand behind a colon; Vertex has `@`.
    for sign in ['@', ':'] {
        let is_variant = |rest: &str| sign == '@' || is_variant(rest);
        if let Some((id, _)) =
            name.split_once(sign).filter(|(id, rest)| *id != "ft" && is_variant(rest))
        {
            name = id.to_owned();
            try_next(&name);
        }
    }
    for cut in [version, latest, date] {
        if let Some(id) = cut(&name) {
            name = id.to_owned();
            try_next(&name);
        }
    }
    keys
}

/// What stands before `-v1` (or a longer number) at the end.
fn version(name: &str) -> Option<&str> {
    let (id, number) = name.rsplit_once("-v")?;
    is_number(number).then_some(id)
}

fn latest(name: &str) -> Option<&str> {
    name.strip_suffix("-latest").or_else(|| name.strip_suffix("-default"))
}

/// What stands before a date at the end: `-20251101`, `-2026-03-05`.
fn date(name: &str) -> Option<&str> {
    let digits = |text: &str, many: usize| text.len() == many && is_number(text);
    let (id, last) = name.rsplit_once('-')?;
    if digits(last, 8) && last.starts_with("20") {
        return Some(id);
    }
    let (id, month) = id.rsplit_once('-')?;
    let (id, year) = id.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4) && year.starts_with("20")).then_some(id)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `key` is of the family whose names start with `start`, however that is written: `gpt-4` is no start of `gpt-41`.
pub(super) fn starts(key: &str, start: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let (mut rest, start) = (key.chars(), start.trim());
    start.chars().all(|c| rest.next() == Some(plain(c)))
        && !(start.ends_with(is_digit) && rest.as_str().starts_with(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_around_an_id_comes_off() {
        for (name, id) in [
            ("Claude-Opus-5.5", "claude-opus-5-5"),
            ("claude-opus-4-6[1m]", "claude-opus-4-6"),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
            (
                "bedrock/us-gov-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0",
                "claude-sonnet-4-5",
            ),
            ("vertex_ai/claude-opus-4-6@default", "claude-opus-4-6"),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("openrouter/anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5"),
            ("azure/us/gpt-5.4-2026-03-05", "gpt-5-4"),
            ("models/gemini-2.5-pro", "gemini-2-5-pro"),
            ("databricks/databricks-gpt-6-1-sol", "gpt-6-1-sol"),
            ("bedrock_mantle/openai.gpt-5.6-luna", "gpt-5-6-luna"),
            ("deepseek-ai/DeepSeek-V3.2", "deepseek-v3-2"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ] {
            assert_eq!(keys(name).last().map(String::as_str), Some(id), "{name}");
        }
        assert_eq!(
            keys("ft:gpt-4o:acme::x"),
            ["ft-gpt-4o-acme--x"],
            "a fine-tuned model is another"
        );
        assert_eq!(keys("gpt-4-0613"), ["gpt-4-0613"]);
    }

    #[test]
    fn families_end_at_a_number() {
        assert!(starts("gpt-4-1-mini", "gpt-4-1") && starts("gpt-4-0613", "gpt-4"));
        assert!(!starts("gpt-4-1106-preview", "gpt-4-1") && !starts("gpt-41", "gpt-4"));
        assert!(starts("qwen3-max", "qwen"));
    }
}
