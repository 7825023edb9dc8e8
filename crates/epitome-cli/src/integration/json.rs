//! Members and elements of a JSON text; all else stays as it is, white space too.

use epitome::wire::json::{Scanner, Span, Splices, elements, key_is, members, quote};

type Done<T> = Result<T, String>;

/// The object that a text is; an empty text is one without members.
fn object(text: &str) -> Done<(String, Span)> {
    let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let mut scanner = Scanner::new(&text);
    let read = scanner.value().and_then(|span| scanner.end().map(|()| span));
    let span =
        read.map_err(|error| format!("it isn't JSON: {} at byte {}", error.what, error.at))?;
    if !span.of(&text).starts_with('{') {
        return Err("it isn't a JSON object".to_owned());
    }
    Ok((text, span))
}

/// How far down a path leads: the last value there, and how many names led to it.
fn followed(text: &str, object: Span, path: &[String]) -> (Span, usize) {
    let mut at = object;
    for (depth, name) in path.iter().enumerate() {
        let members = members(text, at).unwrap_or_default();
        match members.iter().rev().find(|(key, _)| key_is(text, *key, name)) {
            Some((_, value)) => at = *value,
            None => return (at, depth),
        }
    }
    (at, path.len())
}

/// Puts an element at the end of a list, which is made if it isn't there.
pub(super) fn append(text: &str, path: &[String], value: &str) -> Done<String> {
    let (text, whole) = object(text)?;
    let (at, depth) = followed(&text, whole, path);
    if depth < path.len() {
        return insert(&text, at, &path[depth], &nested(&path[depth + 1..], &format!("[{value}]")));
    }
    if !at.of(&text).starts_with('[') {
        return Err(format!("{} isn't a list", path.join(".")));
    }
    let all = elements(&text, at).map_err(|error| error.what.to_owned())?;
    Ok(put(&text, at, all.last().copied(), value))
}

/// Sets a member; `None` if it is there.
pub(super) fn set(text: &str, path: &[String], value: &str) -> Done<Option<String>> {
    let (text, whole) = object(text)?;
    let (at, depth) = followed(&text, whole, path);
    if depth == path.len() {
        return Ok(None);
    }
    insert(&text, at, &path[depth], &nested(&path[depth + 1..], value)).map(Some)
}

fn nested(path: &[String], value: &str) -> String {
    path.iter().rev().fold(value.to_owned(), |value, name| format!("{{{}:{value}}}", quote(name)))
}

fn insert(text: &str, object: Span, name: &str, value: &str) -> Done<String> {
    if !object.of(text).starts_with('{') {
        return Err(format!("the parent of {name:?} isn't an object"));
    }
    let all = members(text, object).map_err(|error| error.what.to_owned())?;
    let last = all.last().map(|(key, value)| Span { start: key.start, end: value.end });
    Ok(put(text, object, last, &format!("{}:{value}", quote(name))))
}

/// Puts an item at the end of what holds it, laid out as its neighbours are.
fn put(text: &str, holder: Span, last: Option<Span>, item: &str) -> String {
    let line = |at: u32| text[..at as usize].rsplit('\n').next().unwrap_or_default();
    let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let (hole, with) = if let Some(last) = last {
        let before = line(last.start);
        // An item on a line of its own has neighbours on lines of their own.
        let apart = if before.trim().is_empty() { format!("\n{before}") } else { " ".to_owned() };
        (Span { start: last.end, end: last.end }, format!(",{apart}{}", laid_out(item, &apart)))
    } else {
        let outside = indent(line(holder.start));
        let inside = format!("\n{outside}  ");
        let inner = Span { start: holder.start + 1, end: holder.end - 1 };
        (inner, format!("{inside}{}\n{outside}", laid_out(item, &inside)))
    };
    let mut splices = Splices::default();
    splices.replace(hole, with);
    splices.apply(text)
}

/// An item over several lines, if its neighbours are; `apart` is what stands between two lines.
fn laid_out(item: &str, apart: &str) -> String {
    if !apart.starts_with('\n') {
        return item.to_owned();
    }
    let mut out = String::new();
    let mut depth = 0;
    let mut is_in_string = false;
    let mut is_escaped = false;
    let mut before = ' ';
    for c in item.chars() {
        let is_syntax = !is_in_string;
        if is_in_string {
            is_in_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
        } else if c == '"' {
            is_in_string = true;
        }
        let line = |depth: usize| format!("{apart}{}", "  ".repeat(depth));
        match c {
            '{' | '[' if is_syntax => depth += 1,
            '}' | ']' if is_syntax => {
                depth -= 1;
                if !matches!(before, '{' | '[') {
                    out.push_str(&line(depth));
                }
            }
            _ => {}
        }
        if is_syntax && matches!(before, '{' | '[' | ',') && !matches!(c, '}' | ']') {
            out.push_str(&line(depth - usize::from(matches!(c, '{' | '['))));
        }
        out.push(c);
        if is_syntax && c == ':' {
            out.push(' ');
        }
        before = if is_syntax { c } else { ' ' };
    }
    out
}

/// Removes an element, and a container that held nothing else.
pub(super) fn take_element(
    text: &str,
    path: &[String],
    value: &str,
    likeness: Likeness,
) -> Option<String> {
    let (text, whole) = object(text).ok()?;
    let (list, depth) = followed(&text, whole, path);
    if depth < path.len() || !list.of(&text).starts_with('[') {
        return None;
    }
    let all = elements(&text, list).ok()?;
    let at = all.iter().rposition(|element| is_same(element.of(&text), value, likeness))?;
    if all.len() == 1 {
        return take(&text, whole, path);
    }
    let mut splices = Splices::default();
    splices.remove_items(&all, |index| index == at);
    Some(splices.apply(&text))
}

/// Removes a member, and a container that held nothing else.
pub(super) fn take_member(
    text: &str,
    path: &[String],
    value: &str,
    likeness: Likeness,
) -> Option<String> {
    let (text, whole) = object(text).ok()?;
    let (found, depth) = followed(&text, whole, path);
    if depth < path.len() || !is_same(found.of(&text), value, likeness) {
        return None;
    }
    take(&text, whole, path)
}

fn take(text: &str, whole: Span, path: &[String]) -> Option<String> {
    for depth in (0..path.len()).rev() {
        let (holder, _) = followed(text, whole, &path[..depth]);
        let all = members(text, holder).ok()?;
        if all.len() > 1 || depth == 0 {
            let at = all.iter().rposition(|(key, _)| key_is(text, *key, &path[depth]))?;
            let items: Vec<Span> =
                all.iter().map(|(key, value)| Span { start: key.start, end: value.end }).collect();
            let mut splices = Splices::default();
            splices.remove_items(&items, |index| index == at);
            return Some(splices.apply(text));
        }
    }
    None
}

/// Whether there is a member of that name, or something that can't be looked into.
pub(super) fn has(text: &str, path: &[String]) -> bool {
    object(text).map_or(true, |(text, whole)| followed(&text, whole, path).1 == path.len())
}

/// Whether the list has an element that runs the same command, whatever somebody added to it.
pub(super) fn has_like(text: &str, path: &[String], value: &str) -> bool {
    let Ok((text, whole)) = object(text) else { return true };
    let (list, depth) = followed(&text, whole, path);
    let Ok(value) = serde_json::from_str(value) else { return false };
    let wanted = commands(&value);
    let runs = |element: &Span| {
        let element = serde_json::from_str(element.of(&text)).unwrap_or_default();
        commands(&element).iter().any(|command| wanted.contains(command))
    };
    depth == path.len() && elements(&text, list).is_ok_and(|all| all.iter().any(runs))
}

/// Whether what these members lead to runs the same command.
pub(super) fn is_like(text: &str, path: &[String], value: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    let (whole, value) = (read(text), read(value));
    let wanted = commands(&value);
    let there = path.iter().try_fold(&whole, |at, name| at.get(name));
    there.is_some_and(|there| commands(there).iter().any(|command| wanted.contains(command)))
}

/// What the commands in a value run, without their options and wherever it lies.
fn commands(value: &serde_json::Value) -> Vec<&str> {
    match value {
        serde_json::Value::Array(all) => all.iter().flat_map(commands).collect(),
        serde_json::Value::Object(all) => {
            let own = all.get("command").and_then(serde_json::Value::as_str).and_then(run);
            own.into_iter().chain(all.values().flat_map(commands)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a command runs, without its options and wherever it lies.
fn run(command: &str) -> Option<&str> {
    command.split(" --").next()?.rsplit('/').next()
}

/// How much of the additions must still be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// All of it.
    Exact,
    /// All but where commands lie, and their options.
    SameCommands,
}

/// Whether two values say the same, whatever their white space.
fn is_same(one: &str, other: &str, likeness: Likeness) -> bool {
    let read = |text: &str| {
        let mut value = serde_json::from_str::<serde_json::Value>(text).ok()?;
        if likeness == Likeness::SameCommands {
            shorten(&mut value);
        }
        Some(value)
    };
    read(one).is_some_and(|one| Some(one) == read(other))
}

/// Leaves of commands what they run.
fn shorten(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(all) => all.iter_mut().for_each(shorten),
        serde_json::Value::Object(all) => {
            let own = all.get("command").and_then(serde_json::Value::as_str).and_then(run);
            if let Some(own) = own.map(str::to_owned) {
                all.insert("command".to_owned(), own.into());
            }
            all.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// The programs that the elements of a list start by the same commands.
pub(super) fn programs(text: &str, path: &[String], value: &str) -> Vec<String> {
    let Ok((text, whole)) = object(text) else { return Vec::new() };
    let (found, depth) = followed(&text, whole, path);
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    let (there, value) = (read(found.of(&text)), read(value));
    let wanted = commands(&value);
    let mut programs = Vec::new();
    if depth == path.len() {
        started(&there, &wanted, &mut programs);
    }
    programs
}

/// A program's own path stands before what it is to do, where the two are told apart by one blank.
fn started(value: &serde_json::Value, wanted: &[&str], programs: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(all) => {
            for value in all {
                started(value, wanted, programs);
            }
        }
        serde_json::Value::Object(all) => {
            let command = all.get("command").and_then(serde_json::Value::as_str);
            let ours = command.filter(|command| {
                run(command).is_some_and(|own| wanted.contains(&own) && own.contains(' '))
            });
            let program = ours.and_then(|command| command.split(" --").next()?.split(' ').next());
            // One in quotes isn't looked for.
            programs
                .extend(program.filter(|it| !it.contains(['\'', '"', '\\'])).map(str::to_owned));
            all.values().for_each(|value| started(value, wanted, programs));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn path(path: &str) -> Vec<String> {
        path.split('.').map(ToOwned::to_owned).collect()
    }

    fn appended(text: &str, want: &Expect) {
        let (at, value) =
            (path("hooks.PreCompact"), r#"{"hooks":[{"type":"command","command":"a \"b\" {c}"}]}"#);
        let put = append(text, &at, value).expect("it is put in");
        want.assert_eq(&put);
        let back = take_element(&put, &at, value, Likeness::Exact).expect("it is there");
        let read = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
        let empty = text.trim().is_empty();
        assert_eq!(read(&back), read(if empty { "{}" } else { text }), "{back}");
    }

    #[test]
    fn elements_are_laid_out_as_their_neighbours() {
        appended(
            "",
            &expect![[r#"
                {
                  "hooks": {
                    "PreCompact": [
                      {
                        "hooks": [
                          {
                            "type": "command",
                            "command": "a \"b\" {c}"
                          }
                        ]
                      }
                    ]
                  }
                }
            "#]],
        );
        appended(
            "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreCompact\": [{\"hooks\": []}]\n    }\n}",
            &expect![[r#"
                {
                    "model": "opus",
                    "hooks": {
                        "PreCompact": [{"hooks": []}, {"hooks":[{"type":"command","command":"a \"b\" {c}"}]}]
                    }
                }"#]],
        );
        appended(
            "{\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n",
            &expect![[r#"
                {
                	"hooks": {
                		"Stop": [],
                		"PreCompact": [
                		  {
                		    "hooks": [
                		      {
                		        "type": "command",
                		        "command": "a \"b\" {c}"
                		      }
                		    ]
                		  }
                		]
                	}
                }
            "#]],
        );
        appended(
            r#"{"a":1}"#,
            &expect![[
                r#"{"a":1, "hooks":{"PreCompact":[{"hooks":[{"type":"command","command":"a \"b\" {c}"}]}]}}"#
            ]],
        );
    }

    #[test]
    fn what_is_there_stays() {
        let text = r#"{"statusLine": {"type": "command"}}"#;
        assert_eq!(set(text, &path("statusLine"), "1"), Ok(None));
        assert_eq!(take_member(text, &path("statusLine"), "1", Likeness::Exact), None);
        let both = set(text, &path("mcpServers.epitome"), r#"{"args":[]}"#).expect("an object");
        let both = both.expect("there was none");
        assert_eq!(
            take_member(&both, &path("mcpServers.epitome"), r#"{ "args": [] }"#, Likeness::Exact)
                .as_deref(),
            Some(text)
        );
        assert!(append("[]", &path("hooks.Stop"), "1").is_err());
        assert!(append(r#"{"hooks":[]}"#, &path("hooks.Stop"), "1").is_err());
        assert!(append(r#"{"hooks":{"Stop":{}}}"#, &path("hooks.Stop"), "1").is_err());
        assert!(append("{,}", &path("hooks"), "1").is_err());
    }

    #[test]
    fn a_command_that_was_moved_is_still_the_same() {
        let ours = r#"{"hooks":[{"command":"/a/epitome hook pre-compact --archive /x"}]}"#;
        let moved = ours.replace("/a/", "/gone/").replace("/x", "/y");
        let text = format!(r#"{{"hooks":{{"PreCompact":[{moved},{{"hooks":[]}}]}}}}"#);
        let at = path("hooks.PreCompact");
        assert_eq!(take_element(&text, &at, ours, Likeness::Exact), None);
        let without = take_element(&text, &at, ours, Likeness::SameCommands);
        assert_eq!(without.as_deref(), Some(r#"{"hooks":{"PreCompact":[{"hooks":[]}]}}"#));
        assert_eq!(programs(&text, &at, ours), ["/gone/epitome"]);
        let theirs = text.replace("\"command\"", "\"timeout\":5,\"command\"");
        assert_eq!(take_element(&theirs, &at, ours, Likeness::SameCommands), None);
    }
}
