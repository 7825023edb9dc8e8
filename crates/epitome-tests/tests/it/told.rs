//! What the agent is told, in the cases that once misled it: laws 14 to 19 on sessions written for them.

use std::fmt::Write as _;

use epitome::engine::Drive;
use epitome::summarize::{SECTIONS, Summaries, Summary, from_fn};
use epitome::{Compactor, Format, Options, Outcome, Request, Target};
use testkit::laws::TOLD;
use testkit::laws::log::{Lane, Log};
use testkit::wait;

const TARGETS: [u8; 8] = [3, 5, 10, 15, 20, 30, 50, 80];

fn compactor(target: Target) -> Compactor {
    testkit::compactor(Options { target, ..Options::default() }, "o200k")
}

/// What each compaction breaks, a line each.
fn broken(request: &Request) -> Vec<String> {
    let mut broken = Vec::new();
    for percent in TARGETS {
        let compactor = compactor(Target::Percent(percent));
        let outcome = match compactor.compact(request) {
            Ok(outcome) => outcome,
            // Where not even one line fits it fails, rather than to hide anything.
            Err(_) if percent < 10 => continue,
            Err(error) => panic!("{} at {percent} %: {error}", request.format),
        };
        let found = TOLD.iter().filter_map(|law| law.holds(&outcome, &compactor).err());
        broken.extend(found.map(|why| format!("{} at {percent} %: {why}", request.format)));
    }
    broken
}

/// What the laws say of a session in every format.
fn broken_in_any(drawn: &str) -> Vec<String> {
    Format::ALL.iter().flat_map(|format| broken(&testkit::parse(*format, drawn))).collect()
}

fn checkpoint(outcome: &Outcome) -> &str {
    &outcome.view.checkpoint().expect("there is a checkpoint").text
}

/// "Yes, go ahead" must not stand last when it has been done.
#[test]
fn what_was_done_is_not_told_before_what_was_asked() {
    let mut drawn = "user Downgrade all my seats.\nasst I will. Shall I go ahead?\nuser Yes, go ahead with all of them.\n".to_owned();
    drawn += &testkit::steps(
        0..12,
        "asst call r# get_seat {\"id\":\"LQ94##Q\"}\nres  r# = {lorem 120}\n\nasst call u# update_seat {\"id\":\"LQ94##Q\",\"cabin\":\"economy\"}\nres  u# = {lorem 150}\n",
    );
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// The client's next result would have no call.
#[test]
fn an_open_call_stays() {
    let mut drawn = "user Mend the importer.\n".to_owned();
    drawn += &testkit::steps(
        0..8,
        "asst call e# Edit {\"file_path\":\"src/part_#.rs\"}\nres  e# = {code 30}\n",
    );
    drawn += "asst Now the tests. | call t Bash {\"command\":\"cargo test\"}\n";
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// Failed calls of a batch that is shown left without a mark.
#[test]
fn failed_calls_of_a_batch_leave_a_mark() {
    let drawn = "user Set up the three services.\nasst call a start_service {\"name\":\"alpha\"} | call b start_service {\"name\":\"beta\"} | call c start_service {\"name\":\"gamma\"}\nres  a = {lorem 90}\nres! b = Error: port 8080 is taken\nres  c = {lorem 90}\n\nasst call d start_service {\"name\":\"beta\"}\nres  d = {lorem 60}\n\nasst All three run. {lorem 60}\nuser Now the fourth.\nasst call e start_service {\"name\":\"delta\"}\nres  e = {lorem 200}\n";
    assert_eq!(broken_in_any(drawn), [""; 0]);
}

/// The excerpt of one long message took all the room, and the rest left without a word.
#[test]
fn a_long_message_leaves_room_to_say_what_is_gone() {
    let drawn = "user {lorem 900}\nasst One. {lorem 80}\nuser Two. {lorem 40}\nasst Three. {lorem 80}\nuser {lorem 700}\nasst call a Bash {\"command\":\"make\"}\nres  a = {log 60}\n";
    assert_eq!(broken_in_any(drawn), [""; 0]);
}

#[test]
fn what_was_seen_leaves_a_mark() {
    let drawn = "user Look at the page.\nasst call a Screenshot {}\nres  a = as it was | {img 640x480}\n\nasst It is empty.\nuser And now?\nasst call b Screenshot {}\nres  b = as it is | {img 640x480}\n\nasst It is full. {lorem 30}\nuser Good.\n";
    // Tools of the others give no images.
    for format in [Format::Anthropic, Format::Gemini, Format::Bedrock] {
        assert_eq!(broken(&testkit::parse(format, drawn)), [""; 0]);
    }
}

/// A session with ten labelled rules of a person, far apart.
fn ruled() -> String {
    let rules = [
        "never push to main",
        "always run the linter first",
        "use tabs in Makefiles",
        "don't touch src/lexer.rs",
        "the staging port must stay 8443",
        "keep the old name of the flag",
        "ask before you delete a file",
        "the limit is 30 requests",
        "write no comments in German",
        "commit with the id ABC-1204",
    ];
    let mut drawn = "user Build the exporter.\n".to_owned();
    for (at, rule) in rules.iter().enumerate() {
        let _ = writeln!(drawn, "asst Part {at} is next. {{lorem 160}}\nuser RULE: {rule}.");
    }
    drawn += &testkit::steps(
        0..10,
        "asst call c# Read {\"file_path\":\"src/f#.rs\"}\nres  c# = {code 40}\n",
    );
    drawn + "user Go on.\n"
}

#[test]
fn rules_are_carried_from_one_checkpoint_to_the_next() {
    assert_eq!(broken_in_any(&ruled()), [""; 0]);
}

/// Five compactions with more said between them, and nobody who knows a receipt.
#[test]
fn rules_live_through_five_compactions() {
    let mut request = testkit::parse(Format::OpenaiChat, &ruled());
    let mut lost = Vec::new();
    for round in 0..5 {
        let outcome = compactor(Target::Tokens(900)).compact(&request).expect("it compacts");
        let said: Vec<String> = outcome
            .request
            .transcript
            .entries()
            .flat_map(|entry| {
                entry.parts().map(|part| part.text().into_owned()).collect::<Vec<_>>()
            })
            .collect();
        let kept = said.iter().map(|text| text.matches("RULE:").count()).sum::<usize>();
        if kept < 10 {
            lost.push(format!("round {round}: {kept} of 10"));
        }
        request = outcome.request;
        for at in 0..6 {
            let reply = serde_json::json!({
                "role": "assistant",
                "content": format!("Step {at} of {round}. {}", testkit::prose::lorem(120)),
            });
            let user = Format::OpenaiChat.user_message("And then?");
            for message in [reply.to_string(), user] {
                epitome::wire::append(&mut request, &message).expect("a list of messages");
            }
        }
    }
    assert_eq!(lost, [""; 0]);
}

#[test]
fn a_summary_is_carried_from_one_checkpoint_to_the_next() {
    let mut text = String::new();
    for section in SECTIONS {
        let said = if section == "Goal" { "The exporter is to be built." } else { "none" };
        let _ = writeln!(text, "## {section}\n{said}");
    }
    let summary = Summary { text, ..Summary::default() };
    let model = from_fn("model", move |_| std::future::ready(Ok(summary.clone())));
    let summaries = Summaries { chain: vec![model], ..Summaries::default() };
    let target = Target::Tokens(1_000);
    let summed = compactor(target).with_summaries(summaries).expect("in range");
    let request = testkit::parse(Format::OpenaiChat, &ruled());
    let outcome = wait(Drive::new(summed.begin(&request))).expect("a view");
    let log = Log::of(checkpoint(&outcome));
    let said = log.lane(Lane::Summary).expect("a summary was admitted");
    assert!(said.contains("The exporter is to be built."), "{said}");
    // Whoever compacts it next knows neither the summarizer nor the receipt.
    let plain = compactor(target);
    let broken = TOLD.iter().filter_map(|law| law.holds(&outcome, &plain).err());
    assert_eq!(broken.collect::<Vec<_>>(), [""; 0]);
}

/// The agent's words that the user overruled stood under "Where it stands", lines of a file that was edited since looked like what it
/// says, and four failures like one.
#[test]
fn what_is_out_of_date_is_told_as_that() {
    let mut drawn = "user Mend the importer.\n\
        asst call r Read {\"file_path\":\"src/import.rs\"}\n\
        res  r = let limit_kib = read_limit(\"LIMIT_KIB\", 4096);\n\n\
        asst I shall raise the limit and leave the parser alone.\n\
        user No. Leave the limit, mend the parser in src/import.rs.\n\
        asst call e Edit {\"file_path\":\"src/import.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}\n\
        res  e = ok\n\n"
        .to_owned();
    let runs = [("check", "!"), ("check", "!"), ("check", " "), ("lint", "!"), ("lint", "!")];
    for (step, (what, went)) in runs.iter().enumerate() {
        let _ = writeln!(
            drawn,
            "asst call t{step} Bash {{\"command\":\"make {what}\"}}\nres{went} t{step} = {{lorem 40}}\n",
        );
    }
    drawn += &testkit::steps(
        0..6,
        "asst call s# Search {\"query\":\"parser #\"}\nres  s# = {lorem 400}\n",
    );
    let request = testkit::parse(Format::Anthropic, &drawn);
    let outcome = compactor(Target::Tokens(700)).compact(&request).expect("it compacts");
    let text = checkpoint(&outcome);
    let log = Log::of(text);
    assert_eq!(log.lane(Lane::Stands), None, "{text}");
    let notes = log.lane(Lane::Notes).unwrap_or_default();
    assert!(notes.contains("[2 Read src/import.rs, changed since] let limit_kib"), "{text}");
    let done = log.lane(Lane::Done).unwrap_or_default();
    let [well, failed] =
        ["Bash(make check) ×3 (2 failed), last", "Bash(make lint) ×2 (all failed), last"];
    assert!(done.contains(failed) && done.contains(well), "{text}");
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// "b" alone told nobody which of three ways had been chosen.
#[test]
fn a_bare_answer_keeps_what_it_answers() {
    let mut drawn = "user Mend the parser.\n\
        asst {lorem 90} Which way do you want? (a) one struct that owns the state, (b) a context that all functions take?\n\
        user b\n"
        .to_owned();
    drawn += &testkit::steps(
        0..60,
        "asst call s# Search {\"query\":\"parser #\"}\nres  s# = {lorem 300}\n",
    );
    drawn.push_str("asst It is mended in src/parser.rs.\nuser Now the tests of src/lexer.rs.\n");
    drawn += &testkit::steps(
        60..90,
        "asst call s# Search {\"query\":\"lexer #\"}\nres  s# = {lorem 300}\n",
    );
    let request = testkit::parse(Format::Anthropic, &drawn);
    let outcome = compactor(Target::Tokens(2_000)).compact(&request).expect("it compacts");
    let log = Log::of(checkpoint(&outcome));
    let answered = log.lane(Lane::Answered).unwrap_or_default();
    assert!(answered.starts_with("[1"), "{answered}");
    assert!(answered.contains("(b) a context that all functions take?"), "{answered}");
    // Words that name what they are about answer nothing.
    assert!(!answered.contains("It is mended"), "{answered}");
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// Numbers of messages and sizes of what was cut came back as numbers that somebody had said.
#[test]
fn a_checkpoint_of_a_checkpoint_names_nothing_of_its_own() {
    let mut drawn = "user Mend the importer.\n".to_owned();
    drawn += &testkit::steps(
        0..130,
        "asst call s# Edit {\"file_path\":\"src/a#.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}\nres  s# = {lorem 60}\n",
    );
    drawn.push_str("asst call r Read {\"file_path\":\"b.rs\"}\nres  r = {lorem 4000}\n\nasst Read.\nuser Go on.\n");
    let request = testkit::parse(Format::Anthropic, &drawn);
    let mut view = request.clone();
    for target in [6_000, 4_000, 2_500] {
        view = compactor(Target::Tokens(target)).compact(&view).expect("it compacts").request;
        let mut shown = view.transcript.entries().flat_map(|entry| entry.parts());
        let text = shown.find(|part| part.text().starts_with("<checkpoint ")).expect("one");
        let text = text.text().into_owned();
        let numbers = text.lines().filter_map(|line| line.strip_prefix("numbers: "));
        let mut numbers = numbers.flat_map(|line| line.split(", "));
        let source = request.source();
        assert!(numbers.all(|number| source.contains(number)), "{target}: {text}");
        assert!(!text.contains(" elided …]"), "{target}: {text}");
    }
}

/// A cancelled booking was one of "8 more calls" beside a quoted question whether it could be cancelled.
#[test]
fn what_was_done_is_named_before_failures_and_words() {
    let mut drawn = "user Book the cheapest flight.\n".to_owned();
    for step in 0..12 {
        let (tool, went) = match step {
            2 => ("cancel_reservation", "res "),
            5 => ("send_certificate", "res "),
            _ => ("book_reservation", "res!"),
        };
        let _ = writeln!(
            drawn,
            "asst call c{step} {tool} {{\"reservation_id\":\"K{step}NW8N\",\"note\":\"{{lorem 30}}\"}}\n\
             {went} c{step} = {{lorem 40}}\n\n\
             asst It went like that.\nuser Could we cancel K{step}NW8N, and never pay more than {step}00?"
        );
    }
    let request = testkit::parse(Format::Anthropic, &drawn);
    for target in [1, 100, 300, 600, 1_000] {
        let outcome = compactor(Target::Tokens(target)).compact(&request).expect("it compacts");
        let text = checkpoint(&outcome);
        let done = Log::of(text).lane(Lane::Done).unwrap_or_default().to_owned();
        for tool in ["cancel_reservation", "send_certificate"] {
            assert!(done.contains(tool), "{target}: {text}");
        }
        assert!(!text.contains("not named"), "{target}: {text}");
    }
}

/// "Now let's commit" stood under "Where it stands" after the commit.
#[test]
fn words_that_calls_followed_are_told_as_that() {
    let mut drawn = "user Release it.\n".to_owned();
    drawn += &testkit::steps(
        0..6,
        "asst Now let's commit step #. | call c# Bash {\"command\":\"git commit -m #\"}\n\
             res  c# = {lorem 300}\n",
    );
    drawn.push_str("asst call s Read {\"file_path\":\"a.rs\"}\nres  s = {lorem 300}\n");
    let request = testkit::parse(Format::Anthropic, &drawn);
    let outcome = compactor(Target::Tokens(500)).compact(&request).expect("it compacts");
    let text = checkpoint(&outcome);
    let stands = Log::of(text).lane(Lane::Stands).unwrap_or_default();
    assert!(stands.starts_with("[11, before its calls] Now let's commit step 5."), "{text}");
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// A view of 12,893 tokens came down to 12,029 for 5,700, where its floor was 5,775: its checkpoint stayed as it was.
#[test]
fn a_checkpoint_alone_shrinks_where_nothing_else_may_leave() {
    let request = testkit::parse(Format::Anthropic, &ruled());
    let view = compactor(Target::Percent(30)).compact(&request).expect("it compacts").request;
    let floor = compactor(Target::Tokens(1)).compact(&view).expect("it compacts").receipt.floor;
    for below in 1..floor {
        let compactor = compactor(Target::Tokens(floor - below));
        let receipt = compactor.compact(&view).expect("it compacts").receipt;
        let most = floor + (floor - below) / 4;
        assert!(
            receipt.after.count.tokens <= most,
            "{below} below {floor}: {}",
            receipt.after.count.tokens
        );
    }
}

/// Colors hid how many tests failed, and stood in what was quoted.
#[test]
fn what_a_terminal_colors_is_read_without_its_colors() {
    let colored = "\u{1b}[1m\u{1b}[31m2 failed\u{1b}[0m, \u{1b}[32m7 passed\u{1b}[0m in 0.5s";
    let mut drawn = "user Make the tests pass.\n".to_owned();
    for step in 0..6 {
        let _ = writeln!(
            drawn,
            "asst call c{step} Bash {{\"command\":\"pytest -q t{step}.py\"}}\n\
             res  c{step} = {colored} \u{1b}[36msrc/lexer{step}.rs\u{1b}[0m {{lorem 90}}\\n{colored}\n"
        );
    }
    let request = testkit::parse(Format::Anthropic, &drawn);
    let outcome = compactor(Target::Tokens(600)).compact(&request).expect("it compacts");
    let text = checkpoint(&outcome);
    let done = Log::of(text).lane(Lane::Done).unwrap_or_default();
    assert!(done.contains("failed, 7 passed, 2 failed"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("[31m"), "{text}");
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}

/// A record was quoted as it had been before a later call, and nothing told the two apart.
#[test]
fn a_record_says_that_a_later_call_was_made_on_it() {
    let mut drawn = "user Downgrade my seats.\n".to_owned();
    for (step, id) in ["LQ940Q", "JG7FMM", "BOH180", "EQ1G6C"].into_iter().enumerate() {
        let _ = writeln!(
            drawn,
            "asst call r{step} get_seat {{\"id\":\"{id}\"}}\n\
             res  r{step} = The seat is HAT{step}35 in business.\\n{{lorem 60}}\n"
        );
    }
    drawn.push_str(
        "asst call u update_seat {\"id\":\"JG7FMM\",\"cabin\":\"economy\"}\nres  u = {lorem 200}\n\n",
    );
    drawn += &testkit::steps(0..4, "asst call w# list_seats {}\nres  w# = {lorem 300}\n");
    let request = testkit::parse(Format::Anthropic, &drawn);
    let outcome = compactor(Target::Tokens(800)).compact(&request).expect("it compacts");
    let text = checkpoint(&outcome);
    assert!(text.contains(" get_seat JG7FMM, acted on since] "), "{text}");
    assert!(text.contains(" get_seat BOH180] "), "{text}");
    assert_eq!(broken_in_any(&drawn), [""; 0]);
}
