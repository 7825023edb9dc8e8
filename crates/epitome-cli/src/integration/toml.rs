//! A table at the end of a TOML text.

use ::toml::{Table, Value};

/// Puts a table at the end; `None` if there is one of that name.
pub(super) fn append(text: &str, path: &[String], table: &str) -> Result<Option<String>, String> {
    let known: Table = text
        .parse()
        .map_err(|error: ::toml::de::Error| format!("it isn't TOML: {}", error.message()))?;
    if is_there(&known, path) {
        return Ok(None);
    }
    let mut whole = text.to_owned();
    if !whole.is_empty() {
        whole.push_str(if whole.ends_with('\n') { "\n" } else { "\n\n" });
    }
    whole.push_str(table);
    // What is written in one line (`mcp_servers = {}`) takes no more tables.
    match whole.parse::<Table>() {
        Ok(read) if is_there(&read, path) => Ok(Some(whole)),
        _ => Err(format!("no table can follow what it says of {}", path[0])),
    }
}

/// Whether there is a table of that name, or something that can't be looked into.
pub(super) fn has(text: &str, path: &[String]) -> bool {
    text.parse().map_or(true, |table| is_there(&table, path))
}

fn is_there(table: &Table, path: &[String]) -> bool {
    let mut at = table;
    for (depth, name) in path.iter().enumerate() {
        match at.get(name) {
            Some(_) if depth + 1 == path.len() => return true,
            Some(Value::Table(inner)) => at = inner,
            _ => return false,
        }
    }
    false
}

/// Removes the table if it is as it was added.
pub(super) fn take(text: &str, table: &str) -> Option<String> {
    let at = text.find(table)?;
    let (before, behind) = (&text[..at], &text[at + table.len()..]);
    // The blank line before it came along.
    let before =
        before.strip_suffix("\n\n").map_or(before.to_owned(), |before| format!("{before}\n"));
    let whole = format!("{before}{behind}");
    // What follows may belong to it by now; a comment is whoever wrote it's.
    let mut lines = behind.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let first = first.and_then(|line| line.chars().next());
    let (left, put) = (whole.parse::<Table>().ok()?, table.parse::<Table>().ok()?);
    (matches!(first, None | Some('[')) && !holds(&left, &put)).then_some(whole)
}

/// Whether something of a table that was put in is still there: a part of it that somebody added, or all of it
/// where only its text was found elsewhere.
fn holds(left: &Table, put: &Table) -> bool {
    put.iter().any(|(key, value)| match (left.get(key), value) {
        (None, _) => false,
        (Some(Value::Table(left)), Value::Table(put)) if put.values().any(Value::is_table) => {
            holds(left, put)
        }
        (Some(Value::Array(left)), Value::Array(put)) => put.iter().any(|it| left.contains(it)),
        (Some(_), _) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_go_in_at_the_end_and_out_again() {
        let path: Vec<String> = ["mcp_servers", "epitome"].map(ToOwned::to_owned).into();
        let table = "[mcp_servers.epitome]\ncommand = \"epitome\"\n";
        for text in ["", "model = \"gpt\"\n", "# said\n[mcp_servers.other]\ncommand = \"x\"\n"] {
            let put = append(text, &path, table).expect("TOML").expect("there was none");
            assert_eq!(append(&put, &path, table), Ok(None));
            assert_eq!(take(&put, table).as_deref(), Some(text));
            let more = format!("{put}\n[mcp_servers.more]\ncommand = \"y\"\n");
            let left = take(&more, table).expect("it is there");
            assert!(left.contains("more") && !left.contains("epitome"), "{left}");
            let commented = format!("{put}# mine\n\n[mcp_servers.more]\n");
            let left = take(&commented, table).expect("it is there");
            assert!(left.ends_with("# mine\n\n[mcp_servers.more]\n"), "{left}");
            for more in ["cwd = \"/\"\n", "# mine\ncwd = \"/\"\n"] {
                assert_eq!(take(&format!("{put}{more}"), table), None, "somebody went on in it");
            }
        }
        let put = append("", &path, table).expect("TOML").expect("there was none");
        let more = format!("{put}\n[mcp_servers.epitome.env]\nA = \"b\"\n");
        assert_eq!(take(&more, table), None, "a part of it would stay");
        let quoted = format!("said = \"\"\"\n{table}\"\"\"\n\n{table}");
        assert_eq!(take(&quoted, table), None, "it isn't that text");
        assert!(append("mcp_servers = {}\n", &path, table).is_err());
        assert!(append("= 1", &path, table).is_err());
    }
}
