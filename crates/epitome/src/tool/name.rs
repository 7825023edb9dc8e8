//! Whether a tool only reads, as far as its name tells.
//!
//! A name is split into words. A call of a tool whose name doesn't clearly say that it reads may have changed something: one
//! line too many costs little, and a deed that is left out may be done again.

/// Verbs that only read, first in a name: `get_user`, `list_directory`.
const READING: [&str; 20] = [
    "read", "grep", "glob", "ls", "list", "fetch", "search", "view", "get", "find", "query",
    "lookup", "show", "describe", "cat", "tail", "scroll", "goto", "peek", "inspect",
];

/// Words that say so last in a name, too, if no verb of a deed is first: `WebFetch`, `codebase_search`.
const READING_LAST: [&str; 6] = ["read", "fetch", "search", "grep", "lookup", "screenshot"];

/// Names that say so alone. To open a file is to read it; to open a ticket isn't.
const READING_ALONE: [&str; 11] = [
    "think",
    "recall",
    "open",
    "stat",
    "tree",
    "status",
    "info",
    "diagnostics",
    "screenshot",
    "browse",
    "explain",
];

/// Words by which a tool may do more than read, wherever they stand.
const WRITING: [&str; 26] = [
    "set", "update", "delete", "create", "write", "reset", "remove", "add", "edit", "send",
    "cancel", "modify", "insert", "replace", "execute", "run", "apply", "save", "post", "put",
    "submit", "move", "and", "or", "then", "as",
];

/// Verbs of deeds, first in a name: `stop_search` ends one.
const DOING: [&str; 24] = [
    "start", "stop", "kill", "close", "open", "clear", "drop", "mark", "change", "share",
    "schedule", "pause", "resume", "toggle", "enable", "disable", "publish", "import", "export",
    "sync", "book", "pay", "call", "use",
];

/// Further ones, last in a name: `list_append`, `query_kill`.
const DOING_LAST: [&str; 14] = [
    "append", "flush", "pop", "push", "rename", "capture", "refund", "purge", "merge", "commit",
    "approve", "reject", "transfer", "trash",
];

/// Tools of agents that keep the agent's own list or plan: nothing happens outside.
const LISTS: [&str; 17] = [
    "todowrite",
    "todoread",
    "todo_write",
    "todo_read",
    "write_todos",
    "read_todos",
    "update_todo_list",
    "todo",
    "task_tracker",
    "update_plan",
    "taskcreate",
    "taskupdate",
    "tasklist",
    "taskget",
    "exitplanmode",
    "enterplanmode",
    "sequentialthinking",
];

/// The name without the server that a tool is of: `mcp__shop__book_room` is `book_room`.
pub(crate) fn bare(tool: &str) -> &str {
    tool.rsplit("__").next().unwrap_or(tool)
}

/// Whether the tool keeps a list or plan of the agent's own. One of a server may keep somebody else's, unless its name says more.
pub(crate) fn keeps_list(tool: &str) -> bool {
    let bare = bare(tool);
    let is_own = bare.len() == tool.len()
        || ["todo", "thinking"].iter().any(|word| bare.to_ascii_lowercase().contains(word));
    is_own && LISTS.iter().any(|list| bare.eq_ignore_ascii_case(list))
}

/// The words of a name, in lower case: `getUserDetails` and `get_user_details` have three.
pub(super) fn words(tool: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut begins = true;
    for c in bare(tool).chars() {
        if !c.is_alphanumeric() {
            begins = true;
            continue;
        }
        if begins || was_lower && c.is_uppercase() {
            words.push(String::new());
        }
        begins = false;
        was_lower = c.is_lowercase() || c.is_numeric();
        words.last_mut().expect("a word was begun").extend(c.to_lowercase());
    }
    words
}

/// Whether an argument of this name, said to be true, asks for more than to read: `delete_after`.
pub(super) fn asks_to_write(argument: &str) -> bool {
    let is_deed = |word: &String| {
        [&WRITING[..], &DOING[..], &DOING_LAST[..]].iter().any(|list| list.contains(&word.as_str()))
    };
    words(argument).iter().any(is_deed)
}

/// Whether a tool only reads, by its name alone.
///
/// ```
/// use epitome::tool::only_reads;
///
/// assert!(only_reads("get_user_details") && only_reads("WebFetch") && only_reads("mcp__web__search"));
/// assert!(!only_reads("book_room") && !only_reads("set_target_temperature") && !only_reads("get_and_reset"));
/// ```
pub fn only_reads(tool: &str) -> bool {
    if keeps_list(tool) {
        return true;
    }
    let words = words(tool);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => false,
        [word] => READING.contains(word) || READING_ALONE.contains(word),
        [first, .., last] => {
            let reads =
                READING.contains(first) || READING_LAST.contains(last) && !DOING.contains(first);
            let does = DOING.contains(last) || DOING_LAST.contains(last);
            reads && !does && !words.iter().any(|word| WRITING.contains(word))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_changed_something_does_not_only_read() {
        for tool in [
            "mark_as_read",
            "change_order_status",
            "pay_details",
            "drop_list",
            "recall_email",
            "think_and_pay",
            "stop_search",
            "get_or_create",
            "mcp__asana__TaskCreate",
            "order_status",
            "list_append",
            "query_kill",
            "view_drop",
            "get_refund",
        ] {
            assert!(!only_reads(tool), "{tool}");
        }
        for tool in [
            "read_file",
            "NotebookRead",
            "google_web_search",
            "take_screenshot",
            "think",
            "open",
            "mcp__web__fetch",
            "TaskCreate",
            "mcp__notes__todo_write",
            "getUserDetails",
        ] {
            assert!(only_reads(tool), "{tool}");
        }
    }
}
