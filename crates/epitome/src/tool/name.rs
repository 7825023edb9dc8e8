//! Whether a tool only reads, as far as its name tells.
//!
//! A name is split into words. A call of a tool whose name doesn't clearly say that it reads may have changed something: one
//! line too many costs little, and a deed that is left out may be done again.

use crate::word_list::words;

/// Verbs that only read, first in a name: `get_user`, `read_file`.
const READING: [&str; 10] =
    ["read", "ls", "fetch", "get", "find", "lookup", "show", "describe", "peek", "inspect"];

/// Those that say so behind a name of what the tool is of, too, if no word before them changes anything: `jira_get_issue`.
const READING_BEHIND: [&str; 4] = ["get", "fetch", "find", "describe"];

/// Those that say so alone behind a dot: `metrics.query`, but not `robot.goto`.
const READING_OF: [&str; 7] = ["get", "fetch", "find", "describe", "list", "query", "read"];

/// Those that are nouns, too: `list_directory` lists, but `list_append` changes a list.
const READING_NOUNS: [&str; 10] =
    ["grep", "glob", "list", "search", "view", "query", "cat", "tail", "scroll", "goto"];

/// Words that say so last in a name, too, if no verb of a deed is first: `WebFetch`, `codebase_search`.
const READING_LAST: [&str; 6] = ["read", "fetch", "search", "grep", "lookup", "screenshot"];

/// Names that say so alone.
const READING_ALONE: [&str; 11] =
    words!("think recall open stat tree status info diagnostics screenshot browse explain");

/// Verbs that change something, wherever in a name they stand.
#[rustfmt::skip]
const CHANGING: [&str; 118] = [
    "abort", "accept", "activate", "add", "alter", "append", "apply", "approve", "assign", "attach", "ban", "buy", "cancel",
    "clean", "cleanup", "clear", "click", "compile", "confirm", "consume", "create", "deactivate", "decline", "delete",
    "deploy", "dequeue", "destroy", "detach", "disable", "dismiss", "dispatch", "drag", "drain", "edit", "emit", "enable",
    "enqueue", "erase", "eval", "evict", "exec", "execute", "fill", "flush", "increment", "insert", "install", "invalidate",
    "invite", "invoke", "kill", "launch", "migrate", "modify", "move", "mutate", "mute", "notify", "overwrite", "prune",
    "purge", "put", "reboot", "rebuild", "redeem", "redo", "register", "reindex", "reject", "remove", "rename", "renew",
    "replace", "reserve", "reset", "restart", "restore", "revert", "revoke", "rewrite", "rollback", "rotate", "run", "save",
    "sell", "send", "set", "shutdown", "spawn", "submit", "subscribe", "swap", "sync", "terminate", "toggle", "truncate",
    "unassign", "unblock", "undo", "uninstall", "unlink", "unlock", "unpin", "unregister", "unsubscribe", "update", "upsert",
    "wipe", "withdraw", "write", "decrement", "deposit", "publish", "press", "tap", "archive", "post", "upgrade",
];

/// Those that are nouns, too, and say so first or last in a name, and behind a noun: `get_refund` may ask for one,
/// `get_refund_status` doesn't.
#[rustfmt::skip]
const CHANGING_NOUNS: [&str; 39] = [
    "book", "call", "capture", "change", "checkout", "close", "commit", "drop", "export", "forward", "import", "lock", "mark",
    "merge", "open", "patch", "pause", "pay", "pop", "purchase", "push", "refund", "reply", "resume", "schedule", "share",
    "start", "stop", "transfer", "trash", "trigger", "upload", "use", "vote", "flag", "complete", "fix", "hold", "promote",
];

/// Words that join one act with another: `get_or_create`, `mark_as_read`.
const JOINING: [&str; 4] = ["and", "or", "then", "as"];

/// Tools of agents that keep the agent's own list or plan: nothing happens outside.
const LISTS: [&str; 17] = words!(
    "todowrite todoread todo_write todo_read write_todos read_todos update_todo_list todo \
     task_tracker update_plan taskcreate taskupdate tasklist taskget exitplanmode enterplanmode \
     sequentialthinking"
);

/// The name without what a tool is of: `mcp__shop__book_room` is `book_room`, and `rooms.list` is `list`.
pub(crate) fn bare(tool: &str) -> &str {
    let bare = tool.rsplit("__").next().unwrap_or(tool);
    bare.rsplit('.').next().unwrap_or(bare)
}

/// Whether the tool keeps a list or plan of the agent's own. One of a server may keep somebody else's, unless its name says more.
pub(crate) fn keeps_list(tool: &str) -> bool {
    let bare = bare(tool);
    let is_own = bare.len() == tool.len()
        || ["todo", "thinking"].iter().any(|word| bare.to_ascii_lowercase().contains(word));
    is_own && LISTS.iter().any(|list| bare.eq_ignore_ascii_case(list))
}

/// The words of a name, in lower case: `getHTTPStatus` and `get_http_status` have three.
pub(crate) fn words(tool: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut begins = true;
    let mut chars = bare(tool).chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            begins = true;
            continue;
        }
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        if begins || c.is_uppercase() && (was_lower || next_is_lower) {
            words.push(String::new());
        }
        begins = false;
        was_lower = c.is_lowercase() || c.is_numeric();
        words.last_mut().expect("a word was begun").extend(c.to_lowercase());
    }
    words
}

/// Whether a word is a verb that changes something.
pub(super) fn changes(word: &str) -> bool {
    CHANGING.contains(&word)
}

/// Whether a word may be one, though it may be a noun.
pub(crate) fn may_change(word: &str) -> bool {
    changes(word) || CHANGING_NOUNS.contains(&word)
}

/// Whether the part before a tool's own name says that it changes something and isn't its server: `github__delete__list`.
fn is_of_changes(tool: &str) -> bool {
    let before = &tool[..tool.len() - bare(tool).len()];
    let before = before
        .strip_prefix("mcp__")
        .map_or(before, |rest| rest.split_once("__").map_or("", |(_server, before)| before));
    before.split("__").flat_map(|part| part.split('.')).flat_map(words).any(|word| changes(&word))
}

/// Whether a tool only reads, by its name alone: a word that reads leads, and no word changes anything.
///
/// ```
/// use epitome::checkpoint::only_reads;
///
/// assert!(only_reads("get_user_details") && only_reads("WebFetch") && only_reads("mcp__web__search"));
/// assert!(only_reads("jira_get_issue") && only_reads("metrics.query"));
/// assert!(!only_reads("book_room") && !only_reads("set_target_temperature") && !only_reads("get_and_reset"));
/// ```
pub fn only_reads(tool: &str) -> bool {
    if keeps_list(tool) {
        return true;
    }
    let words = words(tool);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // To open a file is to read it; to open a door isn't.
    let is_of = bare(tool).len() < tool.len();
    let is_dotted = tool.ends_with(&format!(".{}", bare(tool)));
    let alone = |word: &str| READING_ALONE.contains(&word) && !(is_of && may_change(word));
    let reads = |words: &[&str]| match words {
        [] => false,
        [word] if is_dotted => READING_OF.contains(word),
        [word] => READING.contains(word) || READING_NOUNS.contains(word) || alone(word),
        [first, .., last] if may_change(last) || may_change(first) => false,
        [first, second, ..] if READING_NOUNS.contains(first) => !may_change(second),
        [first, .., last] => READING.contains(first) || READING_LAST.contains(last),
    };
    let begins = |at: &usize| {
        let before = &words[..*at];
        // `apt_get` and `go_get` install.
        let is_of_more = *at > 1 || words.len() > 2;
        is_of_more
            && READING_BEHIND.contains(&words[*at])
            && !before.iter().any(|word| may_change(word))
    };
    let reads = reads(&words) || (1..words.len()).filter(begins).any(|at| reads(&words[at..]));
    reads
        && !words.iter().any(|word| changes(word) || JOINING.contains(word))
        && !is_of_changes(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_changed_something_does_not_only_read() {
        for tool in words!(
            "mark_as_read change_order_status pay_details drop_list recall_email think_and_pay \
             stop_search get_or_create mcp__asana__TaskCreate order_status list_append query_kill \
             view_drop get_refund list_append_item read_pop_flush_all query_kill_session \
             view_drop_table upload_screenshot trigger_search unsubscribe_search readAPIDelete \
             github__delete__list read_trash read_replica_promote list_tasks_complete inspect_fix \
             book_get_room account_get_refund budget_get_or_create orders.delete.list garage.open \
             mcp__garage__open sort_list_items play_list apt_get go_get apt_get_upgrade \
             messages.recall robot.goto notification.show"
        ) {
            assert!(!only_reads(tool), "{tool}");
        }
        for tool in words!(
            "read_file NotebookRead google_web_search take_screenshot think open mcp__web__fetch \
             TaskCreate mcp__notes__todo_write getUserDetails getHTTPStatus get_refund_status \
             get_transfer_details list_files search_flights read_query get_order \
             mcp__update_center__list_files functions__read_file stock_levels_get jira_get_issue \
             gmail_get_message metrics.query stripe.charges.list functions.read_file"
        ) {
            assert!(only_reads(tool), "{tool}");
        }
    }
}
