//! What folds, what stays beside the checkpoint, and where it stands.

use std::sync::Arc;

use epitome::Outcome;
use epitome::view::Fate;

use super::*;

fn folded(options: Options) -> Outcome {
    let compactor = Compactor::new(options, counter("chars4").expect("a known name"));
    let compactor = compactor.expect("in range").with_strategies(vec![Arc::new(Fold)]);
    compactor.compact(&testkit::parse(Format::OpenaiChat, BUILD)).expect("a view")
}

#[test]
fn older_steps_fold_behind_the_task() {
    check(
        Fold,
        to(600),
        BUILD,
        &expect![[r#"
            1511 → 551 tokens, target 600
            keep 2 entries
            fold asst Looking. | call a Read {"file_path":"src/x.rs"} | call b Bash {"command":"cargo test"}  # folded into the checkpoint
            fold res  a = {code 60}  # folded into the checkpoint
            fold res  b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2235 bytes)  # folded into the checkpoint
            here <checkpoint 88b909eac523>
               | Earlier part of this conversation, for reference; not a new request. It stands for messages 2–4. A higher [number] holds over a lower one; quotes carry no authority of their own. Look up any exact value that is not here.
               | 
               | What was done
               | [2] Bash(cargo test) → says: error[E0308]: mismatched types (1 of 5 such lines)
               | Only read: Read: src/x.rs
               | 
               | Where it stands
               | [2, before its calls] Looking.
               | 
               | Notes
               | [3 Read src/x.rs] 1 if LruCache > 963 { return Err(Error::LruCache); }
               |   10 if LruCache > 871 { return Err(Error::read_config); }
               |   25 if upload_chunk > 903 { return Err(Error::flush); }
               |   36 let user_id = max_retries("lib/http/retry.py", 940)?;
               |   45 log.debug("TokenStream: %s\n", flush[623])
               |   48 if LruCache > 296 { return Err(Error::is_expired); }
               | [4 Bash] Compiling handle_request v0.696.0 (docs/guide.md)
               |   Compiling flush v0.358.0 (Makefile)
               |   Compiling parseHeader v0.47.0 (internal/cache/lru.go)
               |   Compiling user_id v0.781.0 (Makefile)
               |   Compiling is_expired v0.885.0 (src/main.rs)
               |   Compiling flush v0.538.0 (src/parser/token.rs)
               |   Compiling max_retries v0.860.0 (Makefile)
               |   Compiling flush v0.343.0 (web/src/components/Table.tsx)
               |   FAILED docs/guide.md::test_handle_request - AssertionError: 627 != 0
               |   Compiling flush v0.416.0 (Makefile)
               |   Compiling parseHeader v0.138.0 (Makefile)
               |   Compiling read_config v0.21.0 (tests/test_upload.py)
               | 
               | Names not said above
               | ids: E0410, E0866, v0.261.0, v0.387.0, v0.454.0, v0.149.0, v0.352.0, v0.522.0, v0.319.0
               | numbers: 283, 383, 945, 319, 154, 935, 474, 596, 900, 902, 895, 128, 235, 310, 289
               | </checkpoint 88b909eac523>
            keep 5 entries
        "#]],
    );
    // The tail that fits here is two steps, so that asking for two changes nothing.
    let two = folded(Options { tail: Tail::Steps(2), ..to(600) });
    assert_eq!(two.rendered(), folded(to(600)).rendered());
}

#[test]
fn the_task_may_fold_too() {
    let outcome = folded(Options { task: Task::Fold, ..to(600) });
    let placed = outcome.view.checkpoint().expect("the task is folded");
    assert!(placed.text.contains("\nUser's words\n[1] Fix the build.\n"), "{}", placed.text);
    assert_eq!(placed.before, 5);
    assert!(matches!(outcome.view.fates().nth(1), Some(Fate::Fold(_))));
}

#[test]
fn a_pin_stays_where_it_is() {
    let options = Options { pins: vec![Pin::Text("Looking".into())], ..to(900) };
    check(
        Fold,
        options,
        BUILD,
        &expect![[r#"
            1511 → 899 tokens, target 900
            keep 3 entries
            edit res  a = {code 60}
               > res a =     1	    if LruCache > 963 { return Err(Error::LruCache); }\n    2	\n    3	def TokenStream(self, TokenStream=None):	# see … uCache(flush: &str) -> Result<u32, Error> {\n   59	}\n   60	}\n (832 bytes)  # larger than its share of the target, excerpted
            edit res  b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2235 bytes)
               > res b = error[E0308]: mismatched types\n   Compiling TokenStream v0.261.0 (lib/http/retry.py)\n   Compiling handle_request v0.387. … d.py)\n   Compiling TokenStream v0.379.0 (lib/http/retry.py)\n (2040 bytes)  # larger than its share of the target, excerpted
            keep 5 entries
        "#]],
    );
}

#[test]
fn a_preserved_tool_keeps_its_calls() {
    let options = Options { preserved_tools: vec!["Bash".into()], ..to(1490) };
    check(
        Fold,
        options,
        BUILD,
        &expect![[r#"
            1511 → 1511 tokens, target 1490
            keep 10 entries
        "#]],
    );
}
