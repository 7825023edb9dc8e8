//! Whether the arguments of a call ask for more than to read, though the name of its tool says that it reads.

use super::name::{changes, may_change, only_reads, words};
use crate::text::arguments::Arguments;
use crate::word_list::words;

/// Words of SQL, Cypher or GraphQL by which a statement changes something.
#[rustfmt::skip]
const STATEMENTS: [&str; 27] = [
    "insert", "update", "delete", "drop", "alter", "create", "truncate", "merge", "grant", "revoke", "replace", "call", "exec",
    "vacuum", "mutation", "into", "copy", "load", "rename", "attach", "detach", "reindex", "refresh", "remove", "set", "setval",
    "nextval",
];

/// Words that begin a statement which reads, unless one of the others stands in it.
const QUERIES: [&str; 10] =
    ["select", "with", "show", "describe", "desc", "explain", "values", "table", "pragma", "match"];

/// Values by which an argument says that something isn't asked for.
const NO: [&str; 9] = ["false", "no", "off", "none", "null", "never", "0", "[]", "{}"];
/// And that it is.
const YES: [&str; 5] = ["true", "yes", "on", "1", "always"];

/// Arguments that are looked for, looked at or shown: what they say is not done.
const TEXTS: [&str; 12] = words!(
    "query q pattern regex search_term text name path file_path prompt description explanation"
);

/// Whether the arguments of a tool that reads by its name ask for more: another method than GET or a body, an action that doesn't
/// read, a statement that writes, or any argument whose name or whole value is a verb that changes something.
pub(super) fn asks_for_more(arguments: &Arguments<'_>) -> bool {
    let is = |names: &[&str], acts: &dyn Fn(&str) -> bool| {
        arguments.get(names).is_some_and(|value| acts(&value))
    };
    arguments.all().any(|(name, raw)| is_change(name, raw))
        || is(&METHODS, &|method| !is_safe(method))
        || is(&["body", "data", "payload"], &|_| true)
        || is(&["action", "operation", "op"], &|action| !only_reads(action))
        || is(&["sql", "statement", "statements"], &|sql| !is_query(sql))
        || is(&["query", "q"], &|query| is_statement(query) && !is_query(query))
}

/// Verbs in the names of tools that do what their arguments say: `execute_sql`, `call_api`.
const DOING: [&str; 5] = words!("exec execute run invoke call");
/// What else says that it takes a statement, and that it takes a method.
const TAKES_STATEMENTS: [&str; 6] = words!("sql query db database cypher graphql");
const TAKES_METHODS: [&str; 7] = words!("http https request api rest fetch url");

/// Whether a call says that it only asks, though the name of its tool doesn't: with a statement that reads, or a safe method of HTTP
/// (RFC 9110, section 9.2.1).
pub(super) fn says_that_it_reads(tool: &str, arguments: &Arguments<'_>) -> bool {
    let is_query = |sql: &str| is_statement(sql) && is_query(sql);
    let sql = arguments.get(&["sql", "statement", "statements", "query"]);
    let method = arguments.get(&METHODS);
    let named = words(tool);
    let takes = |what: &[&str]| named.iter().any(|word| what.contains(&word.as_str()));
    let asks = takes(&TAKES_STATEMENTS) && sql.is_some_and(|sql| is_query(&sql))
        || takes(&TAKES_METHODS) && method.is_some_and(|it| is_safe(&it));
    let acts = |word: &String| may_change(word) && !DOING.contains(&word.as_str());
    asks && !named.iter().any(acts) && !asks_for_more(arguments)
}

/// Names of an argument that is a method of HTTP.
const METHODS: [&str; 2] = ["method", "http_method"];

fn is_safe(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|safe| safe.eq_ignore_ascii_case(method))
}

/// Whether an argument asks for a change: `delete_after=30`, `refund=true`, `mode=append`.
fn is_change(name: &str, raw: &str) -> bool {
    let value = raw.trim_matches('"');
    let is = |list: &[&str]| list.iter().any(|one| one.eq_ignore_ascii_case(value));
    let named = words(name);
    // What has an id or a name of its own is a thing: `run_id`.
    let is_thing = named.last().is_some_and(|last| matches!(last.as_str(), "id" | "ids" | "name"));
    let is_asked = |word: &String| changes(word) && !is_thing || may_change(word) && is(&YES);
    let is_verb = || words(value).len() == 1 && changes(&value.to_ascii_lowercase());
    !value.is_empty()
        && (!is(&NO) && named.iter().any(is_asked) || !TEXTS.contains(&name) && is_verb())
}

/// The words of a statement, in lower case.
fn terms(statement: &str) -> impl Iterator<Item = String> {
    let terms = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
    terms.filter(|term| !term.is_empty()).map(str::to_ascii_lowercase)
}

/// Whether a text is a statement, and not words to search for, as far as its beginnings tell.
fn is_statement(text: &str) -> bool {
    let begins = |term: String| {
        let is_known = |list: &[&str]| list.contains(&term.as_str());
        is_known(&STATEMENTS) || is_known(&QUERIES)
    };
    let is_graph = || text.contains('{') && terms(text).any(|term| term == "mutation");
    text.trim_start().starts_with(['/', '-', '('])
        || text.split(';').filter_map(|part| terms(part).next()).any(begins)
        || is_graph()
}

/// Whether all that a text states only asks. What isn't known to ask may do something.
fn is_query(text: &str) -> bool {
    let mut text = text.trim_start();
    while let Some(comment) = text.strip_prefix("--") {
        text = comment.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    let mut begins = text.split(';').filter_map(|part| terms(part).next());
    // A function does what its name says: `pg_terminate_backend(7)`.
    let calls = text.split('(').filter_map(|before| terms(before).last());
    let sets =
        || terms(text).next().is_some_and(|term| term == "pragma") && text.contains(['=', '(']);
    let acts = terms(text).any(|term| STATEMENTS.contains(&term.as_str()))
        || calls.flat_map(|name| words(&name)).any(|word| may_change(&word));
    begins.all(|term| QUERIES.contains(&term.as_str())) && !acts && !sets()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_tell_of_a_change() {
        for arguments in [
            r#"{"path":"a","delete_after":true}"#,
            r#"{"path":"a","delete_after":30}"#,
            r#"{"path":"a","deleteAfter":"yes"}"#,
            r#"{"id":"a","refund":true}"#,
            r#"{"id":"a","mode":"append"}"#,
            r#"{"url":"https://a.org","body":"b"}"#,
            r#"{"sql":"DO $$ BEGIN END $$"}"#,
            r#"{"sql":"SELECT 1; SET ROLE a"}"#,
            r#"{"sql":"SELECT * INTO b FROM a"}"#,
            r#"{"sql":"SELECT pg_terminate_backend(7)"}"#,
            r#"{"query":"WITH a AS (SELECT 1) DELETE FROM b"}"#,
            r#"{"query":"/* a */ DELETE FROM b"}"#,
            r#"{"query":"EXPLAIN ANALYZE DELETE FROM b"}"#,
            r#"{"query":"query A { a } mutation B { b }"}"#,
            r#"{"query":"MATCH (n) DETACH DELETE n"}"#,
        ] {
            assert!(asks_for_more(&Arguments::read(arguments)), "{arguments}");
        }
        for arguments in [
            r#"{"path":"a","delete_after":false}"#,
            r#"{"path":"a","delete_after":"no"}"#,
            r#"{"run_id":7,"update_id":8,"commit":"abc"}"#,
            r#"{"created_after":"2024-05-21","format":"json"}"#,
            r#"{"pattern":"delete","path":"a"}"#,
            r#"{"sql":"-- all\nSELECT count(*) FROM a WHERE updated_at > 3;"}"#,
            r#"{"query":"how do I delete a branch; and why"}"#,
            r#"{"query":"SELECT * FROM a"}"#,
            r#"{"query":"{ user { name } }"}"#,
        ] {
            assert!(!asks_for_more(&Arguments::read(arguments)), "{arguments}");
        }
    }
}
