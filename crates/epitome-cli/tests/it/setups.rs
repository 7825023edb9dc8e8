//! The README's set-ups with a model, as they stand there.

use std::collections::BTreeSet;

use testkit::server::models::Trait;
use testkit::server::{Model, Next, Reply, Seen, Server};

use crate::asked::{GOOD, KEY, Served, bench};
use crate::bench::Ran;
use crate::papers::root;
use crate::summarizers::good;

#[test]
fn the_readmes_setups_work_as_they_stand_there() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README");
    let (_, section) = readme.split_once("### With a model\n").expect("there is a section");
    let (_, block) = section.split_once("```sh\n").expect("there is a block");
    let (block, _) = block.split_once("```").expect("the block ends");
    let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
    let names = ["qwen3:4b", "claude-haiku-4-5", "python3 summarize.py"];
    assert_eq!(lines.len(), names.len(), "{lines:?}");
    for (nth, (line, name)) in lines.into_iter().zip(names).enumerate() {
        let bench = bench();
        std::fs::rename(bench.path("in.jsonl"), bench.path("session.jsonl")).expect("it is there");
        bench.write("answer", good());
        let script = "import json, subprocess, sys\nsys.stdout.write(subprocess.run(['sh', 'answer'], input=sys.stdin.read(), \
                      capture_output=True, text=True).stdout)\n";
        bench.write("summarize.py", script);
        bench.write("allowed.sh", "cat > allowed\necho '{\"version\":1}'\n");
        // The model of one's own reasons, for which there is no room when it is asked first.
        let mut asked = BTreeSet::new();
        let script = move |seen: &Seen<'_>| -> Next {
            let is_first = asked.insert(seen.call.body["messages"].to_string());
            if name == names[0] && is_first {
                let stop = Some("length".to_owned());
                return Reply { stop, ..Reply::default() }.thinking("Hm.").into();
            }
            Reply::text(GOOD).into()
        };
        let server = Served::of(Server::new(script));
        let local = Model::named("local").expect("the server knows it");
        let traits = vec![Trait::WantsReasoning];
        let own = Model { name: names[0].to_owned(), traits, ..local };
        server.running.server().judge.models.put(own);
        let url = &server.running.url;
        let words = shlex::split(line).expect("every quote is closed");
        let words: Vec<String> =
            words.iter().map(|word| word.replace("http://localhost:11434", url)).collect();
        assert_eq!(words[0], "epitome");
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let mut command = bench.command(&words);
        command.env("NO_PROXY", "127.0.0.1").env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", KEY);
        command.env("OPENAI_BASE_URL", format!("{url}/v1")).env("OPENAI_API_KEY", KEY);
        let ran = Ran::of(&command.output().expect("the binary runs"));
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        assert!(ran.err.contains(&format!("tokens by {name} (")), "{line}: {}", ran.err);
        assert_eq!(bench.run("check smaller.json").code, 0);
        let requests = server.requests();
        match nth {
            // In as many parts as its window wants, each asked for twice.
            0 => assert!(requests > 0 && requests.is_multiple_of(2), "{requests}"),
            1 => assert_eq!(requests, 1),
            _ => assert_eq!(requests, 0),
        }
        assert_eq!(bench.path("allowed").exists(), name == "python3 summarize.py");
    }
}
