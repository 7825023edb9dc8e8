//! Cells below a head that names a secret: as databases, Markdown and lists of commas draw tables, as commands align
//! columns, and as SQL inserts rows.

use super::called::is_secret;
use super::names::{NameKind, named};
use super::values::{Literal, is_written, strength};
use super::{LINE_ENDS, LOOKED_AT, Secret};
use crate::text::cut;

/// Lines of a table that are looked at.
const MOST: usize = 64;

/// What stands around a name or a value.
const AROUND: [char; 7] = ['"', '\'', '`', '\\', ' ', '[', ']'];

/// The secrets below a name that ends at `end`, if that is a head of a column.
pub(super) fn cells(text: &str, at: usize, end: usize) -> Vec<Secret> {
    let next = text[end..].trim_start_matches(AROUND).chars().next();
    let before = text[..at].trim_end_matches(AROUND).chars().next_back();
    let sign = [next, before].into_iter().flatten().find(|c| "|,;\t".contains(*c));
    let is_aligned = text[end..].starts_with(['\n', '\r', '\\']) || text[end..].starts_with("  ");
    let is_aligned = is_aligned && text[..at].ends_with("  ");
    if sign.is_none() && !is_aligned {
        return Vec::new();
    }
    let Some(kind) = named(&text[..end]).filter(|kind| *kind < NameKind::Header) else {
        return Vec::new();
    };
    let found = match sign {
        Some(',') => inserted(text, at, end),
        _ => None,
    };
    let found = found.or_else(|| below(text, at, end, sign));
    let mut all = found.unwrap_or_default();
    all.retain(|secret| is_cell(&text[secret.from..secret.to], kind));
    all
}

fn is_cell(value: &str, kind: NameKind) -> bool {
    is_secret(value, kind)
        || kind == NameKind::Password && (strength(value) > 1 || is_written(value, Literal::Quoted))
}

/// The value in a cell, which is part of `text`.
fn value(text: &str, cell: &str) -> Secret {
    let cell = cell.trim_matches(AROUND);
    // In JSON a text ends before its line does.
    let cell = &cell[..cell.find(['"', '\\']).unwrap_or(cell.len())];
    let cell = cell.trim();
    let from = cut::place_in(text, cell);
    // Behind a backslash stands an escape.
    let cell = if text[..from].ends_with('\\') { "" } else { cell };
    Secret { name: "secret", from, to: from + cell.len() }
}

/// The cells on the lines below a head; without a sign between them they begin where the head does.
fn below(text: &str, at: usize, end: usize, sign: Option<char>) -> Option<Vec<Secret>> {
    let line = cut::tail(&text[..at], LOOKED_AT);
    let behind = cut::head(&text[end..], LOOKED_AT);
    let first = LINE_ENDS.into_iter().filter_map(|it| Some((behind.find(it)?, it))).min();
    let (_, end_of_line) = first?;
    let line = line.rsplit(end_of_line).next().unwrap_or(line);
    let rest = behind.split(end_of_line).next().unwrap_or(behind);
    (line.len() + rest.len() < LOOKED_AT).then_some(())?;
    let start = at - line.len();
    let head = &text[start..end + rest.len()];
    // The heads of what has no ruler are words.
    let has_bars = sign == Some('|');
    let is_name = |c: char| c.is_alphanumeric() || AROUND.contains(&c) || "_-|,;\t".contains(c);
    (has_bars || head.chars().all(is_name)).then_some(())?;
    let below = &text[start + head.len() + end_of_line.len()..];
    let mut found = Vec::new();
    for (nth, row) in below.split(end_of_line).take(MOST).enumerate() {
        let row = cut::head(row, 2 * LOOKED_AT);
        let is_ruler = row.contains("--") && row.chars().all(|c| "-+|:= ".contains(c));
        let cell = match sign {
            // The first line tells that it is a table.
            Some('|') if !is_ruler && (nth == 0 || !row.contains('|')) => break,
            _ if is_ruler => continue,
            Some('|') => row.split('|').nth(line.matches('|').count()),
            Some(sign) => {
                let cells = fields(row, sign);
                if cells.len() != fields(head, sign).len() {
                    break;
                }
                cells.get(fields(line, sign).len() - 1).copied()
            }
            None => {
                let cell = row.get(line.len()..).filter(|_| row[..line.len()].ends_with(' '));
                let Some(cell) = cell else { break };
                cell.split(' ').next()
            }
        };
        found.extend(cell.map(|cell| value(text, cell)));
    }
    Some(found)
}

/// The cells of rows as `INSERT INTO t (user, password) VALUES (…), (…)` has them.
fn inserted(text: &str, at: usize, end: usize) -> Option<Vec<Secret>> {
    let before = cut::tail(&text[..at], LOOKED_AT);
    let before = &before[before.rfind('(')? + 1..];
    let behind = cut::head(&text[end..], LOOKED_AT);
    let close = end + behind.find(')')?;
    (!before.contains(')')).then_some(())?;
    let rest = text[close + 1..].trim_start();
    let values = rest.get(..6).filter(|it| it.eq_ignore_ascii_case("values"))?;
    let rest = cut::head(&rest[values.len()..], MOST * 16);
    let nth = fields(before, ',').len() - 1;
    let (mut found, mut field, mut depth, mut from, mut quote) = (Vec::new(), 0, 0, 0, None);
    for (at, c) in rest.char_indices() {
        if quote.is_some() {
            quote = quote.filter(|open| *open != c);
            continue;
        }
        match c {
            '\'' | '"' if depth > 0 => quote = Some(c),
            '(' => {
                depth += 1;
                (field, from) = if depth == 1 { (0, at + 1) } else { (field, from) };
            }
            ',' | ')' if depth == 1 => {
                if field == nth {
                    found.push(value(text, &rest[from..at]));
                }
                depth -= usize::from(c == ')');
                (field, from) = (field + 1, at + 1);
            }
            ')' if depth > 1 => depth -= 1,
            ',' | '\\' => {}
            'n' | 'r' | 't' if rest[..at].ends_with('\\') => {}
            _ if c.is_whitespace() => {}
            _ if depth == 0 => break,
            _ => {}
        }
    }
    Some(found)
}

/// The fields of a row; between quotes a sign is part of one.
fn fields(row: &str, sign: char) -> Vec<&str> {
    let (mut all, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, c) in row.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' => quote = Some(c),
            None if c == sign => {
                all.push(&row[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    all.push(&row[from..]);
    all
}

#[cfg(test)]
mod tests {
    use super::super::masked;

    #[test]
    fn cells_below_a_name_are_masked() {
        for end in super::super::LINE_ENDS {
            let drawn = |value: &str| {
                [
                    format!(
                        "| user | password | age |{end}|------|----------|---|{end}| kim | {value} | 31 |"
                    ),
                    format!(
                        " username | password {end}----------+----------{end} app | {value}{end}(1 row)"
                    ),
                    format!(
                        "+--+--+{end}| id | api_key |{end}+--+--+{end}| 1 | {value} |{end}| 2 | NULL |{end}+--+--+"
                    ),
                    format!("user,password{end}kim,{value}{end}"),
                    format!("HOST  PASSWORD{end}db1   {value}{end}"),
                ]
            };
            for (text, shown) in drawn("aB3dE6gH9jK2").into_iter().zip(drawn("[masked: secret]")) {
                assert_eq!(masked(&text), shown);
            }
        }
    }

    #[test]
    fn a_table_at_the_end_of_a_string_leaves_json() {
        let table = "id | api_token\n---+---\n 1 | aB3dE6gH9jK2";
        let json = serde_json::json!([{ "text": table }, { "text": "more" }]).to_string();
        let shown = json.replace("aB3dE6gH9jK2", "[masked: secret]");
        assert_eq!(masked(&json), shown);
    }

    #[test]
    fn other_tables_stay() {
        for text in [
            "| setting | password |\n|---|---|\n| minimum | eight characters |\n| kind | required |",
            "a | password\nplain | aB3dE6gH9jK2 no ruler stands between",
            "| user | password |\n|---|---|\nThe key aB3dE6gH9jK2 stands below.",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
