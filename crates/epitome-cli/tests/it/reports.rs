//! What read-only commands say of real sessions.

use expect_test::{expect, expect_file};

use crate::bench::{Bench, EDGES, RUN, SESSION, SHORT, TRAJECTORY};

/// One breach of every common kind.
const BROKEN: &str = r#"{"model":"claude-sonnet-4-5","messages":[
 {"role":"assistant","content":"Hello"},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"orphan"}]},
 {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
 {"role":"user","content":"never answered"}]}"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    bench.copy(SHORT, "short.jsonl");
    bench.copy(EDGES, "edges.jsonl");
    bench.copy(RUN, "run.json");
    bench.copy(TRAJECTORY, "warmup.traj");
    bench.write("broken.json", BROKEN);
    bench
}

#[test]
fn stats_of_a_session() {
    expect![[r#"
        exit 0
        --- stdout
        118,934 tokens estimated by claude, at most 163,144
        427.5 kB, 140 messages, 67 steps, 8 turns, 76 calls, 12 parallel batches
        claude-sonnet-4-5: 59.5 % of the 200,000 that it takes; $0.446 a request, $0.0357 from a warm cache
        claude-code, as anthropic for claude-sonnet-4-5-20250929

        What fills it
        tool results     ██████████████████████████████████████████████████  71.0 %     84,483   256.6 kB
        call arguments   ████████████▌                                       17.8 %     21,169    64.2 kB
        model text       ████▌                                                6.5 %      7,735    27.7 kB
        reasoning        ██▋                                                  3.8 %      4,524    17.2 kB
        injected         ▎                                                    0.4 %        423     1.6 kB
        wrapping         ▎                                                    0.4 %        423    59.5 kB
        human            ▏                                                    0.1 %        177      577 B
        A person wrote 0.1 % of it, in 8 messages.

        Tools
                                                                  calls failed arguments   results   share
        Read     ███████████████████████████████████████████████     10      1       308    45,642  38.6 %
        Edit     ██████████████████████████▉                         18           11,906    14,458  22.2 %
        Bash     █████████████████████████▌                          38      4     2,883    22,160  21.1 %
        Write    ██████                                               1            5,852        37   5.0 %
        Glob     ██▎                                                  8              151     2,167   1.9 %
        Skill    ▏                                                    1               69        19   0.1 %

        Growth  tokens in the context, from the first message to the last
          118,934                                                                            ▁▁▂▃▄▅▅▅▆▆▆▇▇▇▇
                                                                                      ▁▁▁▁▁▁████████████████
                                                                    ▁▁▂▃▃▃▃▄▄▄▅▅▅▅▅▆▇███████████████████████
                                           ▃▃▃▃▃▃▃▄▄▅▆▆▆▆▆▆▆▆▆▆▇▇▇██████████████████████████████████████████
                                 ▂▂▃▇▇▇▇▇███████████████████████████████████████████████████████████████████
                              ▇█████████████████████████████████████████████████████████████████████████████
                0       ▁▁▁▁▂▂██████████████████████████████████████████████████████████████████████████████
            added ▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▂▁▁▃▁▁▁▁▁▁▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▅▁▁▁▁▂▁▁▁▁▁▁▁▁▁▁

        Biggest steps
           29,011 [13–14]     Read(/Users/user/repo/src/agents/plugins/codex.plugin.ts) · Read(/Users/user…
           14,884 [115–116]   Read(/Users/user/repo/_bmad/_config/agent-manifest.csv) · Read(…/tech-spec-c…
            8,623 [25–26]     Bash(find ~/.codex/sessions -name "*.jsonl" -size +5k | head -1 | xargs cat)
            5,992 [35–36]     Write(…/tech-spec-codex-metrics-plugin.md)
            5,225 [19–20]     Bash(head -3 ~/.codex/sessions/2026/01/02/*.jsonl 2>/dev/null | head -50) · …

        Rules that no pin protects  --pin TEXT keeps one verbatim
        [8]     analyze existing codex folder for sessions structure and writen details. there is a need t…
        [118]   TODO is not acceptable, implementation must be full. comments about performance also valid…

        check found nothing by the rules of anthropic
    "#]].assert_eq(&bench().run("stats session.jsonl").shown());
}

#[test]
fn stats_of_a_run_with_tool_definitions() {
    let bench = bench();
    let tool = |name: &str| {
        format!(
            r#"{{"type":"function","function":{{"name":"{name}","parameters":{{"type":"object"}}}}}}"#
        )
    };
    let body = format!(
        r#"{{"model":"gpt-4o","tools":[{},{}],"messages":[
        {{"role":"system","content":"Be brief."}},
        {{"role":"user","content":"What is in the folder?"}},
        {{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"ls","arguments":"{{\"path\":\".\"}}"}}}}]}},
        {{"role":"tool","tool_call_id":"c1","content":"a.txt b.txt c.txt"}},
        {{"role":"assistant","content":"Three files."}}]}}"#,
        tool("ls"),
        tool("rm")
    );
    bench.write("tools.json", body);
    expect![[r"
        exit 0
        --- stdout
        84 tokens exact by o200k
        578 B, 5 messages, 2 steps, 1 turn, 1 call
        gpt-4o: 0.1 % of the 128,000 that it takes; $0.00021 a request
        openai-chat for gpt-4o

        What fills it
        tool definitions ██████████████████████████████████████████████████  42.9 %         36      153 B
        wrapping         █████████████████████████                           21.4 %         18      339 B
        call arguments   ████████████▌                                       10.7 %          9       18 B
        tool results     ████████████▌                                       10.7 %          9       19 B
        human            ████████▎                                            7.1 %          6       24 B
        system           ████▏                                                3.6 %          3       11 B
        model text       ████▏                                                3.6 %          3       14 B
        A person wrote 7.1 % of it, in 1 message.

        Tools
                                                                         calls arguments   results   share
        ls       ██████████████████████████████████████████████████████      1         9         9  21.4 %
        2 tools defined: 36 tokens, 42.9 % of it all; 1 of them never called (18 tokens)

        Growth  tokens in the context, from the first message to the last
               84         ▂▂▂▂▆▆▆▆
                          ████████
                      ▂▂▂▂████████
                  ▄▄▄▄████████████
                  ████████████████
                  ████████████████
                0 ████████████████
            added ▂▂▂▂▃▃▃▃████▂▂▂▂

        Biggest steps
               24 [2–3]       ls(.)
                9 [1]         What is in the folder?
                6 [0]         Be brief.
                6 [4]         Three files.

        check found nothing by the rules of openai-chat
    "]].assert_eq(&bench.run("stats tools.json").shown());
}

#[test]
fn count_in_words_and_as_json() {
    let bench = bench();
    expect![[r"
        exit 0
        --- stdout
        10,052 tokens  exact by o200k
        41.7 kB, 62 messages
    "]]
    .assert_eq(&bench.run("count run.json").shown());
    expect![[r"
        exit 0
        --- stdout
        14,854 tokens  exact by o200k
        14,666 tokens  exact by cl100k
        68.4 kB, 12 messages
        43,363 tokens were reported for the prompt with the first 11 messages
        claude-sonnet-4-5: 7.4 % of the 200,000 that it takes; $0.0557 a request, $0.00446 from a warm cache
    "]]
    .assert_eq(&bench.run("count short.jsonl --counter o200k --counter cl100k").shown());
    expect![[r#"
        exit 0
        --- stdout
        {
          "version": 1,
          "counter": "o200k",
          "tokens": 4559,
          "upper": 4559,
          "basis": "exact",
          "frame": {
            "system": 0,
            "tools": 0,
            "total": 3
          },
          "kinds": {
            "human": 672,
            "model_text": 309,
            "system": 1455,
            "tool_results": 2075,
            "wrapping": 48
          },
          "bytes": 17610,
          "entries": 15,
          "format": "openai-chat",
          "model": null,
          "reader": null,
          "source": {
            "file": "warmup.traj",
            "recording": "swe-agent",
            "compactions": 0,
            "sidechains": [],
            "sidechain": null,
            "skipped": 0,
            "notes": [],
            "reported": null
          },
          "counters": [
            {
              "counter": "o200k",
              "tokens": 4559,
              "upper": 4559,
              "basis": "exact",
              "frame": {
                "system": 0,
                "tools": 0,
                "total": 3
              },
              "kinds": {
                "human": 672,
                "model_text": 309,
                "system": 1455,
                "tool_results": 2075,
                "wrapping": 48
              }
            }
          ]
        }
    "#]]
    .assert_eq(&bench.run("count warmup.traj --json").shown());
}

#[test]
fn check_finds_and_repairs() {
    let bench = bench();
    expect![[r#"
        exit 3
        --- stdout
        messages[0] anthropic/first-role: assistant
          rule:   the first message is the user's, or begins with a compaction block
          error:  messages: first message must use the "user" role
          repair: a bracketed note is put first
        messages[1] anthropic/orphan: no call with id `toolu_9` in the assistant message before it
          rule:   every tool_result answers a tool_use of the assistant message before it
          error:  messages.….content.…: unexpected `tool_use_id` found in `tool_result` blocks: …. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.
          repair: the tool_result is dropped
        messages[2] anthropic/answered: `toolu_1`
          rule:   every tool_use is answered in the next user message (an open batch at the end is normal)
          error:  messages.…: `tool_use` ids were found without `tool_result` blocks immediately after: …. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
          repair: an error result that says that there is none is added

        3 breaches in 4 messages by the rules of anthropic
        hint: epitome check --repair broken.json -o mended.json
    "#]].assert_eq(&bench.run("check broken.json").shown());
    let repaired = bench.run("check broken.json --repair");
    expect![[r#"
        exit 0
        --- stdout
        {"model":"claude-sonnet-4-5","messages":[
         {"role":"user","content":"[the beginning of this conversation is not available]"},
         {"role":"assistant","content":"Hello"},
         {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
         {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[no result: this call was interrupted before its result was recorded]","is_error":true},{"type":"text","text":"never answered"}]}]}
        --- stderr
        messages[0] anthropic/first-role: assistant: put a note in the user's role first
        messages[1] anthropic/orphan: no call with id `toolu_9` in the assistant message before it: dropped the part
        messages[2] anthropic/answered: `toolu_1`: added a result that says that there is none
        3 mended, 0 left
    "#]].assert_eq(&repaired.shown());
    let again = bench.pipe("check", repaired.out.as_bytes());
    expect![[r"
        exit 0
        --- stdout
        nothing found in 4 messages by the rules of anthropic
    "]]
    .assert_eq(&again.shown());
    let found = bench.run("check broken.json --json").ends(3).json();
    assert_eq!(found["version"], 1);
    assert!(found["findings"][0]["error"].as_str().is_some_and(|text| !text.is_empty()));
    let mended = bench.run("check broken.json --repair -o mended.json --json").ends(0);
    assert_eq!(mended.json()["left"], serde_json::json!([]));
    assert_eq!(bench.read("mended.json"), repaired.out);
}

#[test]
fn check_of_sound_sessions_finds_nothing() {
    let bench = bench();
    for file in ["session.jsonl", "short.jsonl", "run.json"] {
        let ran = bench.run(&format!("check {file}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{file}: {}", ran.out);
    }
}

#[test]
fn what_only_the_author_can_mend_is_left() {
    let bench = Bench::new();
    let body = r#"{"model":"claude-sonnet-4-5","thinking":{"type":"enabled","budget_tokens":1024},"messages":[
 {"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}"#;
    let ran = bench.pipe("check --repair", body.as_bytes()).ends(3);
    ran.complains(&["anthropic/thinking-first"]);
    assert_eq!(ran.out, body);
}

/// What the model refuses is left, too, and counted where the exit code says so.
#[test]
fn what_the_model_refuses_is_counted_as_left() {
    let bench = Bench::new();
    let image = r#"{"type":"image_url","image_url":{"url":"https://e.x/a.png"}}"#;
    let body = format!(r#"{{"model":"gpt-4","messages":[{{"role":"user","content":[{image}]}}]}}"#);
    let ran = bench.pipe("check --repair", body.as_bytes()).ends(3);
    assert!(ran.err.contains("0 mended, 1 left"), "{}", ran.err);
}

#[test]
fn plan_says_what_compact_would_do() {
    let bench = bench();
    let plan = bench.run("plan session.jsonl --target 20%");
    expect![[r#"
        exit #
        --- stdout
        # → # tokens −# % (estimated by claude, at most #)
        # kB → # kB, # → # messages
        target # (#% of the input), floor #
         repeats # edits −#
         reasoning # edits −#
         failed # edit −#
         fold # edits −#
        checkpoint # tokens, quoting # of # human messages in full
        kept prefix # messages, # tokens: what a prompt cache can keep
        cost $# → $# a request, $# → $# from a warm cache (claude-sonnet-#-# prices of #-#-#)
        rewriting a warm cache would cost $# once, earned by # further requests
    "#]]
    .assert_eq(&plan.shape());
    let planned = bench.run("plan session.jsonl --target 20% --json").json();
    bench.run("compact session.jsonl --target 20% -o out.json --receipt receipt.json");
    let receipt = bench.json("receipt.json");
    for key in ["before", "after", "target", "floor", "steps", "edits", "kept_prefix"] {
        assert_eq!(planned[key], receipt[key], "{key}");
    }
}

#[test]
fn plan_writes_nothing() {
    let bench = bench();
    let before = bench.names();
    bench.run("plan session.jsonl");
    assert_eq!(bench.names(), before);
}

#[test]
fn an_unreachable_target_is_3() {
    let bench = bench();
    for command in ["plan", "diff", "compact"] {
        let ran = bench.run(&format!("{command} short.jsonl --target 10 --keep-recent 100"));
        assert_eq!(ran.code, 3, "{command}");
        assert!(ran.err.contains("can't be reached") || ran.out.contains("can't be reached"));
    }
}

#[test]
fn diff_covers_every_entry() {
    let bench = bench();
    let fates = bench.run("diff session.jsonl --target 20% --json").json();
    let entries = fates["entries"].as_array().expect("a list");
    let before: Vec<_> = entries.iter().filter_map(|entry| entry["before"].as_u64()).collect();
    assert_eq!(before, (0..before.len() as u64).collect::<Vec<_>>());
    assert!(entries.iter().all(|e| e["fate"] != "edit" || e["reasons"][0].is_string()));

    bench.run("compact session.jsonl --target 20% -o out.json");
    let files = bench.run("diff session.jsonl out.json --json").json();
    let kept = |diff: &serde_json::Value| -> Vec<(u64, u64)> {
        let entries = diff["entries"].as_array().expect("a list").iter();
        let kept = entries.filter(|entry| entry["fate"] == "keep");
        kept.filter_map(|e| Some((e["before"].as_u64()?, e["after"].as_u64()?))).collect()
    };
    assert_eq!(kept(&files), kept(&fates), "two files tell what the compaction told");
    assert_eq!(files["tokens_after"], fates["tokens_after"]);
}

#[test]
fn diff_in_words() {
    let bench = bench();
    expect![[r#"
        exit #
        --- stdout
         was is fate before after what
         # # keep # # human show tools and store response in file
         # − fold # – call I'll show you all the available tools and sto…
         # − fold # – result The user doesn't want to proceed with this to…
         # − fold # – injected [Request interrupted by user for tool use]
         # − fold # – human explore more of current repo
         # − fold # – call I'll explore the current repository to unders…
         # − fold # – result Perfect! Now I have a comprehensive understan…
         # − fold # – model Perfect! I've completed a comprehensive explo…
         # # keep # # human what else?
         # − fold # – call I'll explore additional aspects of the reposi…
         # − fold # – result Perfect! I now have a comprehensive view of t…
         # + new – # human <checkpoint f#b#fe#c#> Earlier part of thi…
         # # keep # # model Excellent! Here's what I discovered in the de…

         # kept
         # folded folded into the checkpoint
         # new
        # → # tokens counted by claude
    "#]]
    .assert_eq(&bench.run("diff short.jsonl --target 20%").shape());
    bench.write("a.json", r#"[{"role":"user","content":"one"},{"role":"user","content":"two"}]"#);
    bench.write("b.json", r#"[{"role":"user","content":"two"},{"role":"user","content":"three"}]"#);
    expect![[r"
        exit 0
        --- stdout
          was    is  fate       before     after  what
            0        − gone          4         –  human      one
            1     0    keep          4         4  human      two
                  1  + new           –         4  human      three

                1 kept
                1 gone
                1 new
        11 → 11 tokens counted by o200k
    "]]
    .assert_eq(&bench.run("diff a.json b.json").shown());
}

#[test]
fn every_report_has_a_version() {
    let bench = bench();
    for command in
        ["stats", "check", "count", "plan", "diff", "convert --to openai-chat -o out.json"]
    {
        let ran = bench.run(&format!("{command} run.json --json"));
        assert_eq!(ran.json()["version"], 1, "{command}: {}", ran.err);
    }
}

#[test]
fn kinds_add_up() {
    let bench = bench();
    for file in ["session.jsonl", "run.json", "warmup.traj", "edges.jsonl"] {
        let stats = bench.run(&format!("stats {file} --json")).json();
        let sum = |key: &str| -> u64 {
            let kinds = stats["kinds"].as_array().expect("a list");
            kinds.iter().filter_map(|kind| kind[key].as_u64()).sum()
        };
        assert_eq!(stats["tokens"].as_u64(), Some(sum("tokens")), "{file}");
        assert_eq!(stats["bytes"].as_u64(), Some(sum("bytes")), "{file}");
    }
}

#[test]
fn a_sub_agent_is_picked_by_its_id() {
    let bench = bench();
    let row = |line: &str, side: bool| {
        format!(
            r#"{{"type":"user","uuid":"{line}","parentUuid":null,"isSidechain":{side},"agentId":"{}","sessionId":"s","message":{{"role":"user","content":"{line}"}}}}"#,
            if side { "helper" } else { "" }
        )
    };
    bench.write("side.jsonl", format!("{}\n{}\n", row("main", false), row("aside", true)));
    let ids = bench.run("stats side.jsonl --json").json()["source"]["sidechains"].clone();
    let id = ids[0].as_str().expect("a sub-agent");
    let side = bench.run(&format!("convert side.jsonl --sidechain {id} --to anthropic"));
    assert!(side.out.contains("aside") && !side.out.contains("main"), "{}{}", side.out, side.err);
}

/// The picture in the README; `UPDATE_EXPECT=1` draws it anew, as does
/// `epitome stats examples/claude-code/session-3fe1b6bc.jsonl --svg docs/stats.svg`.
#[test]
fn the_shipped_picture_is_what_the_tool_draws() {
    let bench = bench();
    let ran = bench.run("stats session.jsonl --svg -");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect_file!["../../../../docs/stats.svg"].assert_eq(&ran.out);
}
