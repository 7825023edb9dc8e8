//! Needs, contenders and scores.

use epitome::count::counter;
use epitome::text::specifics::Class;
use epitome_bench::Share;
use epitome_bench::foresight::scene::Scene;
use epitome_bench::foresight::score::Score;
use epitome_bench::foresight::{Contender, Figures, Study, run};
use epitome_bench::passage::passages;
use serde_json::json;

use crate::chat::{Chat, working};

fn measured() -> Figures {
    let counter = counter("o200k").expect("it is built in");
    let sessions = vec![("working".to_owned(), working(60))];
    let study = Study { sessions, budgets: vec![5, 20], cuts: 2, counter };
    run(&study, || {}).expect("a session")
}

#[test]
fn needs_are_what_the_agent_can_only_have_from_before() {
    let mut chat = Chat::default();
    chat.says("system", "Read docs/handbook.md first.")
        .says("user", "Raise the limit to 9500, ticket OPS-4711.")
        .calls(
            "I read it.",
            "read_file",
            &json!({"path": "src/limits.rs"}),
            "fn parse_limits() {}\nmax_tries",
        );
    let cut = chat.len();
    chat.calls(
        "Now parse_limits, as docs/handbook.md says.",
        "edit_file",
        &json!({"path": "src/limits.rs", "new_string": "9500", "note": "see Cargo.toml"}),
        "edited, max_tries is used in JX7KQ2",
    );
    chat.says("assistant", "JX7KQ2 uses max_tries. OPS-4711 is done.");
    let session = chat.request();
    let counter = counter("o200k").expect("it is built in");
    let scene = Scene::new(&session, &passages(&session), cut, &counter).expect("a request");
    let mut needs: Vec<(Class, &str, bool)> =
        scene.needs.iter().map(|need| (need.class, need.text.as_str(), need.points)).collect();
    needs.sort_unstable();
    // The handbook stands in the instructions, a tool said `max_tries` again, and `Cargo.toml` and `JX7KQ2` are new.
    assert_eq!(
        needs,
        [
            (Class::Path, "src/limits.rs", true),
            (Class::Identifier, "parse_limits", false),
            (Class::Id, "OPS-4711", false),
            (Class::Number, "9500", false),
        ]
    );
}

#[test]
fn a_file_that_is_read_again_unchanged_is_found() {
    let (text, other) = ("one line\nanother line\nand a third one", "fn main() {}\nmore\nand more");
    let read = |chat: &mut Chat, path: &str, text: &str| {
        chat.calls("", "read_file", &json!({"path": path}), text);
    };
    let mut chat = Chat::default();
    chat.says("user", "Go.");
    for path in ["a.rs", "b.rs", "c.rs"] {
        read(&mut chat, path, text);
    }
    chat.calls("", "write_file", &json!({"path": "b.rs", "content": "x"}), "ok");
    let cut = chat.len();
    read(&mut chat, "a.rs", text);
    read(&mut chat, "a.rs", text);
    read(&mut chat, "b.rs", text);
    read(&mut chat, "c.rs", other);
    let session = chat.request();
    let counter = counter("o200k").expect("it is built in");
    let scene = Scene::new(&session, &passages(&session), cut, &counter).expect("a request");
    let paths: Vec<&str> = scene.rereads.iter().map(|reread| reread.path.as_str()).collect();
    assert_eq!(paths, ["a.rs"]);
}

#[test]
fn nobody_is_ahead_of_the_oracle_and_simple_contenders_keep_to_their_room() {
    let figures = measured();
    assert_eq!(figures.cuts.len(), 2);
    let measures: [fn(&Score) -> Share; 2] = [|score| score.said, |score| score.neighbours];
    for budget in &figures.budgets {
        let score = |contender| figures.total(contender, *budget).expect("it ran");
        let oracle = score(Contender::Oracle);
        assert!(oracle.said.all > 20, "{:?}", oracle.said);
        for contender in Contender::ALL {
            let other = score(contender);
            for of in measures {
                let (best, other) = (of(oracle), of(other));
                assert!(best.of >= other.of && best.all == other.all, "{contender:?} at {budget}");
            }
            let is_simple = contender != Contender::Epitome;
            assert!(!is_simple || other.over == 0, "{contender:?} at {budget}");
        }
    }
}

#[test]
fn figures_are_the_same_each_time() {
    let figures = measured();
    assert_eq!(measured(), figures);
    let json = serde_json::to_value(&figures).expect("figures are data");
    assert_eq!(json["version"], 1);
    assert_eq!(json["totals"].as_array().map(Vec::len), Some(12));
}
