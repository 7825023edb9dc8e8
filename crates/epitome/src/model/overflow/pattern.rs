//! Patterns of error texts: literal words with places for figures.

/// Figures that a text names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// `{used}`; several are added up.
    pub(super) used: Option<u64>,
    /// `{reply}`.
    pub(super) reply: Option<u64>,
    /// `{limit}`.
    pub(super) limit: Option<u64>,
}

/// The most that `{*}` stands for.
const GAP: usize = 200;

/// Looks for `pattern` anywhere in `text`, which is in lower case as the pattern is.
pub(super) fn find(pattern: &str, text: &str) -> Option<Figures> {
    let first = pattern.split('{').next().unwrap_or_default();
    if first.is_empty() {
        // None begins with a figure.
        return None;
    }
    text.match_indices(first).find_map(|(at, _)| {
        let mut figures = Figures::default();
        follow(&pattern[first.len()..], &text[at + first.len()..], &mut figures)?;
        Some(figures)
    })
}

fn follow(pattern: &str, text: &str, figures: &mut Figures) -> Option<()> {
    let Some(rest) = pattern.strip_prefix('{') else {
        return pattern.is_empty().then_some(());
    };
    let (place, rest) = rest.split_once('}')?;
    let literal = rest.split('{').next().unwrap_or_default();
    if place == "*" {
        let reach = text.floor_char_boundary(GAP + literal.len());
        let (at, _) = text[..reach].match_indices(literal).next()?;
        return follow(&rest[literal.len()..], &text[at + literal.len()..], figures);
    }
    let (figure, after) = number(text)?;
    match place {
        "used" => figures.used = Some(figures.used.unwrap_or(0).saturating_add(figure)),
        "reply" => figures.reply = Some(figure),
        "limit" => figures.limit = Some(figure),
        _ => {}
    }
    follow(&rest[literal.len()..], after.strip_prefix(literal)?, figures)
}

/// The number at the beginning, its thousands apart or not, and what follows it.
fn number(text: &str) -> Option<(u64, &str)> {
    let mut digits = String::new();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        match c {
            '0'..='9' => digits.push(c),
            ',' | '_' if text[at + 1..].starts_with(|next: char| next.is_ascii_digit()) => {}
            _ => break,
        }
        end = at + 1;
    }
    Some((digits.parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_their_places() {
        let found = find("{", "x");
        assert_eq!(found, None);
        let found = find(
            "limit of {limit} tokens{*}in {used} tok",
            "a limit of 1,048,576 tokens. So in 2000000 tok",
        );
        let wanted = Figures { used: Some(2_000_000), limit: Some(1_048_576), reply: None };
        assert_eq!(found, Some(wanted));
        let found = find("got {used} and {used}, not {reply}", "got 1 and got 2 and 3, not 4");
        assert_eq!(found, Some(Figures { used: Some(5), limit: None, reply: Some(4) }));
        assert_eq!(find("limit {limit}", "limit x"), None);
        assert_eq!(find("limit {limit}", "limit 99999999999999999999999"), None);
    }
}
