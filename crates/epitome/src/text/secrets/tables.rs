//! Cells of a table under a head that names a secret, as databases and Markdown draw tables.

use super::called::is_secret;
use super::names::{NameKind, named};
use super::{LOOKED_AT, Secret};
use crate::text::cut;

/// Lines of a table that are looked at.
const MOST: usize = 64;

/// How lines end: in a text, and in one that is a string of JSON.
const ENDS: [&str; 2] = ["\n", "\\n"];

/// The secrets below a name that ends at `end`, if that is a head of a column.
pub(super) fn cells(text: &str, at: usize, end: usize) -> Vec<Secret> {
    let is_head = text[end..].trim_start_matches(' ').starts_with('|')
        || text[..at].trim_end_matches(' ').ends_with('|');
    if !is_head {
        return Vec::new();
    }
    let line = cut::tail(&text[..at], LOOKED_AT);
    let behind = cut::head(&text[end..], LOOKED_AT);
    let first = ENDS.into_iter().filter_map(|it| Some((behind.find(it)?, it))).min();
    let Some((_, end_of_line)) = first else {
        return Vec::new();
    };
    let line = line.rsplit(end_of_line).next().unwrap_or(line);
    let rest = behind.split(end_of_line).next().unwrap_or(behind);
    let Some(kind) = named(&text[..end]).filter(|_| line.len() + rest.len() < LOOKED_AT) else {
        return Vec::new();
    };
    let column = line.matches('|').count();
    let mut from = end + rest.len() + end_of_line.len();
    let mut found = Vec::new();
    for (nth, line) in text[from..].split(end_of_line).take(MOST).enumerate() {
        let is_ruler = line.contains("--") && line.chars().all(|c| "-+|:= ".contains(c));
        // The first line tells that it is a table.
        if !is_ruler && (nth == 0 || !line.contains('|')) {
            break;
        }
        if !is_ruler && let Some(cell) = line.split('|').nth(column) {
            // In JSON a text ends before its line does.
            let cell = &cell[..cell.find(['"', '\\']).unwrap_or(cell.len())];
            let value = cell.trim();
            let start = from + (cell.as_ptr() as usize - line.as_ptr() as usize);
            let start = start + (cell.len() - cell.trim_start().len());
            if kind != NameKind::Header && is_secret(value, kind) {
                found.push(Secret { name: "secret", from: start, to: start + value.len() });
            }
        }
        from += line.len() + end_of_line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::masked;

    #[test]
    fn cells_below_a_name_are_masked() {
        for end in ["\n", "\\n"] {
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
