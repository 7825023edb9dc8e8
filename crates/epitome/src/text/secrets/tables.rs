//! Cells below a head that names a secret: as databases, Markdown and lists of commas draw tables, as commands align
//! columns, and as SQL inserts rows.

use std::collections::VecDeque;

use super::called::is_secret;
use super::names::{NameKind, named};
use super::values::{Literal, is_written, strength};
use super::{LINE_ENDS, LOOKED_AT, Secret};
use crate::text::cut;

/// So much of a row is looked at; where it goes on, the table ends.
const ROW: usize = 16 * LOOKED_AT;

/// What stands around a name or a value.
const AROUND: [char; 7] = ['"', '\'', '`', '\\', ' ', '[', ']'];

/// The tables that a place of a text stands in, one of each kind. Each row is looked at once, so that a text of heads
/// takes no longer than others.
#[derive(Default)]
pub(super) struct Tables(Vec<Table>);

/// A table some of whose columns hold secrets.
struct Table {
    kind: Kind,
    /// How its lines end; of rows in brackets nothing.
    line_end: &'static str,
    columns: Vec<Column>,
    /// Where the next row begins.
    next: usize,
}

/// How the cells of a row are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A sign stands between so many.
    Parted { sign: char, cells: usize },
    /// Bars stand around them, and a ruler below the head.
    Ruled,
    /// They begin where their heads do.
    Aligned,
    /// They stand in brackets, as in `VALUES (…), (…)`.
    Inserted,
}

impl Kind {
    /// What stands between cells.
    fn sign(self) -> char {
        match self {
            Kind::Parted { sign, .. } => sign,
            Kind::Ruled => '|',
            Kind::Aligned => ' ',
            Kind::Inserted => '(',
        }
    }
}

struct Column {
    /// Its number, or where it begins.
    nth: usize,
    name: NameKind,
}

impl Tables {
    /// Begins a column if a name that ends at `end` is its head. Whether it is, and its cells stand near it.
    pub(super) fn begin(&mut self, text: &str, at: usize, end: usize) -> bool {
        let next = text[end..].trim_start_matches(AROUND).chars().next();
        let before = text[..at].trim_end_matches(AROUND).chars().next_back();
        let sign = [next, before].into_iter().flatten().find(|c| "|,;\t".contains(*c));
        let is_aligned =
            text[end..].starts_with(['\n', '\r', '\\']) || text[end..].starts_with("  ");
        let is_aligned = is_aligned && text[..at].ends_with("  ");
        if sign.is_none() && !is_aligned {
            return false;
        }
        let Some(name) = named(&text[..end]).filter(|name| *name < NameKind::Header) else {
            return false;
        };
        let begun = match sign {
            Some(',') => inserted(text, at, end),
            _ => None,
        };
        let Some((mut table, nth)) = begun.or_else(|| below(text, at, end, sign)) else {
            return false;
        };
        let is_same = |it: &Table| (it.kind, it.line_end) == (table.kind, table.line_end);
        let is_near = table.kind == Kind::Inserted;
        let column = Column { nth, name };
        match self.0.iter_mut().find(|it| it.kind.sign() == table.kind.sign()) {
            // What stood on the rows before stays told.
            Some(it) if is_same(it) && it.next <= table.next => {
                it.columns.retain(|it| it.nth != nth);
                it.columns.push(column);
            }
            known => {
                table.columns.push(column);
                match known {
                    Some(it) => *it = table,
                    None => self.0.push(table),
                }
            }
        }
        is_near
    }

    /// Tells the secrets of the rows that begin up to `to`, in order, until one is told.
    pub(super) fn tell(&mut self, text: &str, to: usize, told: &mut VecDeque<Secret>) {
        loop {
            let to = told.front().map_or(to, |first| first.from.min(to));
            let first = self.0.iter_mut().min_by_key(|it| it.next);
            let Some(table) = first.filter(|it| it.next <= to) else { return };
            let is_last = table.row(text, told).is_none();
            if is_last {
                self.0.retain(|it| !it.columns.is_empty());
            }
            told.make_contiguous().sort_by_key(|it| it.from);
        }
    }
}

impl Table {
    /// Tells the secrets of the next row, and goes on behind it. Without columns it ends.
    fn row(&mut self, text: &str, told: &mut VecDeque<Secret>) -> Option<()> {
        let mut tell = |column: &Column, cell: &str| {
            let cell = value(text, cell);
            if is_cell(&text[cell.from..cell.to], column.name) {
                told.push_back(cell);
            }
        };
        let columns = std::mem::take(&mut self.columns);
        if self.kind == Kind::Inserted {
            let (cells, next) = bracketed(text, self.next)?;
            for column in &columns {
                cells.get(column.nth).into_iter().for_each(|cell| tell(column, cell));
            }
            (self.columns, self.next) = (columns, next);
            return Some(());
        }
        let (row, next) = row(text, self.next, self.line_end);
        let mut left = Vec::with_capacity(columns.len());
        if is_ruler(row) {
            left = columns;
        } else {
            let cells = match self.kind {
                Kind::Parted { sign, cells } => {
                    Some(fields(row, sign)).filter(|found| found.len() == cells)
                }
                Kind::Ruled => {
                    Some(row.split('|').collect()).filter(|found: &Vec<_>| found.len() > 1)
                }
                _ => None,
            };
            for column in columns {
                let cell = match &cells {
                    Some(cells) => Some(cells.get(column.nth).copied().unwrap_or_default()),
                    None if self.kind == Kind::Aligned => row
                        .get(column.nth..)
                        .filter(|_| row[..column.nth].ends_with(' '))
                        .and_then(|cell| cell.split(' ').next()),
                    None => None,
                };
                if let Some(cell) = cell {
                    tell(&column, cell);
                    left.push(column);
                }
            }
        }
        self.next = next?;
        self.columns = left;
        (!self.columns.is_empty()).then_some(())
    }
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

/// The table whose column a head on a line begins, and which column that is.
fn below(text: &str, at: usize, end: usize, sign: Option<char>) -> Option<(Table, usize)> {
    let line = cut::tail(&text[..at], LOOKED_AT);
    let behind = cut::head(&text[end..], LOOKED_AT);
    let first = LINE_ENDS.into_iter().filter_map(|it| Some((behind.find(it)?, it))).min();
    let (_, line_end) = first?;
    let line = line.rsplit(line_end).next().unwrap_or(line);
    let line = match opening(line_end) {
        Some(quote) => &line[unescaped(line, quote).last().map_or(0, |at| at + 1)..],
        None => line,
    };
    let rest = behind.split(line_end).next().unwrap_or(behind);
    (line.len() + rest.len() < LOOKED_AT).then_some(())?;
    let start = at - line.len();
    let head = &text[start..end + rest.len()];
    // The heads of what has no ruler are words.
    let has_bars = sign == Some('|');
    let is_name = |c: char| c.is_alphanumeric() || AROUND.contains(&c) || "_-|,;\t".contains(c);
    (has_bars || head.chars().all(is_name)).then_some(())?;
    let next = start + head.len() + line_end.len();
    let (kind, nth) = match sign {
        Some('|') => {
            // The first line tells that it is a table.
            is_ruler(row(text, next, line_end).0).then_some(())?;
            (Kind::Ruled, line.matches('|').count())
        }
        Some(sign) => {
            let cells = fields(head, sign).len();
            (Kind::Parted { sign, cells }, fields(line, sign).len() - 1)
        }
        None => (Kind::Aligned, line.len()),
    };
    Some((Table { kind, line_end, columns: Vec::new(), next }, nth))
}

fn is_ruler(row: &str) -> bool {
    row.contains("--") && row.chars().all(|c| "-+|:= ".contains(c))
}

/// The row that begins at `from`, and where the next one does. In JSON the last one ends with its string.
fn row<'t>(text: &'t str, from: usize, line_end: &str) -> (&'t str, Option<usize>) {
    let seen = cut::head(&text[from..], ROW);
    let end = seen.find(line_end);
    let next = end.map(|end| from + end + line_end.len());
    let row = &seen[..end.unwrap_or(seen.len())];
    match opening(line_end).and_then(|quote| unescaped(row, quote).next()) {
        Some(end) => (&row[..end], None),
        None => (row, next),
    }
}

/// What stands around a text whose lines end so.
fn opening(line_end: &str) -> Option<char> {
    line_end.starts_with('\\').then_some('"')
}

/// Where `quote` stands without a backslash.
fn unescaped(text: &str, quote: char) -> impl Iterator<Item = usize> {
    text.match_indices(quote).map(|(at, _)| at).filter(|at| !text[..*at].ends_with('\\'))
}

/// The rows that `INSERT INTO t (user, password) VALUES (…), (…)` has, and which column a head is.
fn inserted(text: &str, at: usize, end: usize) -> Option<(Table, usize)> {
    let before = cut::tail(&text[..at], LOOKED_AT);
    let before = &before[before.rfind('(')? + 1..];
    let behind = cut::head(&text[end..], LOOKED_AT);
    let close = end + behind.find(')')?;
    (!before.contains(')')).then_some(())?;
    let rest = text[close + 1..].trim_start();
    let values = rest.get(..6).filter(|it| it.eq_ignore_ascii_case("values"))?;
    let next = cut::place_in(text, rest) + values.len();
    let table = Table { kind: Kind::Inserted, line_end: "", columns: Vec::new(), next };
    Some((table, fields(before, ',').len() - 1))
}

/// The cells of the brackets that begin behind `from`, and where these end.
fn bracketed(text: &str, from: usize) -> Option<(Vec<&str>, usize)> {
    let rest = cut::head(&text[from..], ROW);
    let (mut cells, mut depth, mut begin, mut quote) = (Vec::new(), 0, 0, None);
    for (at, c) in rest.char_indices() {
        if quote.is_some() {
            quote = quote.filter(|open| *open != c);
            continue;
        }
        match c {
            '\'' | '"' if depth > 0 => quote = Some(c),
            '(' => {
                depth += 1;
                begin = if depth == 1 { at + 1 } else { begin };
            }
            ',' | ')' if depth == 1 => {
                cells.push(&rest[begin..at]);
                begin = at + 1;
                if c == ')' {
                    return Some((cells, from + at + 1));
                }
            }
            ')' if depth > 1 => depth -= 1,
            ',' | '\\' => {}
            'n' | 'r' | 't' if rest[..at].ends_with('\\') => {}
            _ if c.is_whitespace() => {}
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
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

    /// Tables of many rows, with a value in each.
    fn long(value: impl Fn(usize) -> String) -> Vec<String> {
        let rows = |row: &dyn Fn(usize, String) -> String| {
            (0..200).map(|n| row(n, value(n))).collect::<Vec<_>>().join("\n")
        };
        vec![
            format!("user,password\n{}", rows(&|n, it| format!("bob{n},{it}"))),
            format!("user\tpassword\tage\n{}", rows(&|n, it| format!("bob{n}\t{it}\t{n}"))),
            format!(
                "| user | password |\n|--|--|\n{}",
                rows(&|n, it| format!("| bob{n} | {it} |"))
            ),
            format!("USER    PASSWORD\n{}", rows(&|n, it| format!("bob{n:<5}{it}"))),
            format!(
                "INSERT INTO t (user, password) VALUES\n{}",
                rows(&|n, it| format!("('bob{n}', '{it}'),"))
            ),
            format!("user,password,token\n{}", rows(&|n, it| format!("bob{n},{it},{it}"))),
        ]
    }

    #[test]
    fn a_column_holds_to_the_end_of_its_table() {
        let tables = long(|n| format!("Zx9Kq2Lm8Vb4Nc6{n}"));
        for (text, shown) in tables.into_iter().zip(long(|_| "[masked: secret]".to_owned())) {
            assert_eq!(masked(&text), shown);
            if !text.contains('\t') {
                let json = |content| serde_json::json!([{ "content": content }, "end"]).to_string();
                assert_eq!(masked(&json(text)), json(shown));
            }
        }
    }

    #[test]
    fn a_second_head_names_its_own_column() {
        let text = "a,password\nplain,x\nb,c\ntoken,d\nZx9Kq2Lm8Vb4Nc6,Zx9Kq2Lm8Vb4Nc7";
        let shown = "a,password\nplain,x\nb,c\ntoken,d\n[masked: secret],[masked: secret]";
        assert_eq!(masked(text), shown);
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
