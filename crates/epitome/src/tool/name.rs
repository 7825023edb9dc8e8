//! Whether a tool only reads, as far as its name tells.
//!
//! A name is split into words. A tool only reads if its first or last word says so and no word says that it writes. Of a
//! name that says neither, a call may have changed something.

/// Words of tools that only read, first or last in their names. The first are those of the agents whose recordings are read.
const READING: [&str; 31] = [
    "read",
    "grep",
    "glob",
    "ls",
    "list",
    "fetch",
    "search",
    "view",
    "get",
    "find",
    "think",
    "query",
    "lookup",
    "show",
    "describe",
    "cat",
    "tail",
    "scroll",
    "goto",
    "peek",
    "inspect",
    "info",
    "status",
    "details",
    "stat",
    "tree",
    "recall",
    "diagnostics",
    "browse",
    "screenshot",
    "explain",
];

/// Words of tools that write, wherever they stand.
const WRITING: [&str; 22] = [
    "set", "update", "delete", "create", "write", "reset", "remove", "add", "edit", "send",
    "cancel", "modify", "insert", "replace", "execute", "run", "apply", "save", "post", "put",
    "submit", "move",
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
pub(super) fn bare(tool: &str) -> &str {
    tool.rsplit("__").next().unwrap_or(tool)
}

/// Whether the tool keeps a list or plan of the agent's own.
pub(crate) fn keeps_list(tool: &str) -> bool {
    LISTS.iter().any(|list| bare(tool).eq_ignore_ascii_case(list))
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
    let is = |word: Option<&String>| word.is_some_and(|word| READING.contains(&word.as_str()));
    // To open a file is to read it; to open a ticket isn't.
    let opens = words.len() == 1 && words[0] == "open";
    (opens || is(words.first()) || is(words.last()))
        && !words.iter().any(|word| WRITING.contains(&word.as_str()))
}
