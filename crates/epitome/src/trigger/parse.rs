//! Triggers in short, for flags and files: `80%`, `100items`, `120k`, `overflow`, `80%,overflow`.

use std::fmt;
use std::str::FromStr;

use super::when::{Condition, TriggerError, When, named};

const EXPECTED: &str = "expected a share of the window (80% or 0.8, >90%), an amount (100items, \
8steps, 4turns, 120k tokens, 500000chars, 1000000bytes), window-16k, or full, asked, asked-by-host, \
asked-by-model, model-switch, overflow, idle, remote; several with a comma between (any of them) or a plus \
(all of them)";

impl FromStr for When {
    type Err = TriggerError;

    /// `80%` or `0.8` (at least), `>90%` or `>0.9` (more than), `100items`, `8steps`, `4turns`, `120k` or
    /// `120000tokens`, `500000chars`, `1000000bytes`, `window-16k`, a name; `80%,overflow` is any
    /// of two, `80%+8steps` both.
    fn from_str(text: &str) -> Result<Self, TriggerError> {
        let unknown = || TriggerError::Unknown { text: text.to_owned(), expected: EXPECTED };
        let each = |between: char| {
            text.split(between).map(str::parse).collect::<Result<Vec<When>, TriggerError>>()
        };
        if text.contains(',') {
            return Ok(When::Any(each(',')?));
        }
        if text.contains('+') {
            return Ok(When::All(each('+')?));
        }
        let text = text.trim();
        match text {
            "model-switch" => return Ok(When::ModelSwitch(When::DEFAULT_SHARE)),
            "idle" => return Ok(When::Idle(When::DEFAULT_LEAD)),
            _ => {}
        }
        if let Some(when) = named(text) {
            return Ok(when);
        }
        let (size, above) = match text.strip_prefix('>') {
            Some(size) => (size.trim(), true),
            None => (text, false),
        };
        let share = match size.strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
            // A whole number would be one of tokens.
            None => size.contains('.').then(|| size.parse().ok()).flatten(),
        };
        if let Some(share) = share {
            return Ok(if above { When::ShareAbove(share) } else { When::Share(share) });
        }
        if let Some(reserve) = text.strip_prefix("window-") {
            return crate::budget::amount(reserve).map(When::Reserve).ok_or_else(unknown);
        }
        amount(text).ok_or_else(unknown)
    }
}

impl fmt::Display for When {
    /// The short form, where it has one that is read back as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a share of 0.07 is in binary isn't 7 %.
        let percent = |share: f64| (share * 1e10).round() / 1e8;
        let list = |list: &[When], between: &str| -> String {
            let each = list.iter().map(|when| match when {
                When::Any(_) => format!("({when})"),
                When::All(_) if between == "+" => format!("({when})"),
                when => when.to_string(),
            });
            each.collect::<Vec<_>>().join(between)
        };
        match self {
            When::Items(most) => write!(f, "{most}items"),
            When::Steps(most) => write!(f, "{most}steps"),
            When::Turns(most) => write!(f, "{most}turns"),
            When::Tokens(limit) => write!(f, "{limit}tokens"),
            When::Characters(limit) => write!(f, "{limit}chars"),
            When::Bytes(limit) => write!(f, "{limit}bytes"),
            When::Share(share) => write!(f, "{}%", percent(*share)),
            When::ShareAbove(share) => write!(f, ">{}%", percent(*share)),
            When::Reserve(reserve) => write!(f, "window-{reserve}"),
            When::Full => f.write_str("full"),
            When::Asked => f.write_str("asked"),
            When::AskedByHost => f.write_str("asked-by-host"),
            When::AskedByModel => f.write_str("asked-by-model"),
            When::ModelSwitch(When::DEFAULT_SHARE) => f.write_str("model-switch"),
            When::ModelSwitch(share) => write!(f, "model-switch at {}%", percent(*share)),
            When::Overflow => f.write_str("overflow"),
            When::Idle(When::DEFAULT_LEAD) => f.write_str("idle"),
            When::Idle(lead) => write!(f, "idle, {lead} s ahead"),
            When::Remote => f.write_str("remote"),
            When::Any(all) => f.write_str(&list(all, ",")),
            When::All(all) => f.write_str(&list(all, "+")),
        }
    }
}

impl FromStr for Condition {
    type Err = TriggerError;

    fn from_str(text: &str) -> Result<Self, TriggerError> {
        text.parse::<When>()?.build()
    }
}

fn amount(text: &str) -> Option<When> {
    let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let (digits, unit) = text.split_at(text.len() - letters.len());
    let unit = unit.trim_start();
    let factor = usize::from(unit.starts_with(['k', 'K', 'm', 'M']));
    let amount = crate::budget::amount(&format!("{digits}{}", &unit[..factor]))?;
    match unit[factor..].trim_start() {
        "item" | "items" => Some(When::Items(usize::try_from(amount).ok()?)),
        "step" | "steps" => Some(When::Steps(usize::try_from(amount).ok()?)),
        "turn" | "turns" => Some(When::Turns(usize::try_from(amount).ok()?)),
        "" | "token" | "tokens" => Some(When::Tokens(amount)),
        "char" | "chars" | "character" | "characters" => Some(When::Characters(amount)),
        "byte" | "bytes" => Some(When::Bytes(amount)),
        _ => None,
    }
}
