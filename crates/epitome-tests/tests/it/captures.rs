//! What real clients sent is read, found right, and written back as it was. (How it is compacted is judged in `epitome-cli`.)

use epitome::view::View;
use epitome::wire::{self, Envelope, Format, Keeper, Request};
use proptest::prelude::*;
use testkit::captures::{Capture, Sent};
use testkit::generate::{cases, valid};
use testkit::layouts::layouts;

/// Requests in a format that is known, with what names them.
fn sent() -> Vec<(String, Sent)> {
    let all = Capture::all().into_iter().flat_map(|capture| {
        let name = capture.name;
        capture.requests.into_iter().map(move |sent| (format!("{name}/{}", sent.file), sent))
    });
    let all: Vec<_> = all.filter(|(_, sent)| Format::ALL.contains(&sent.format())).collect();
    assert!(all.len() > 50, "{} requests", all.len());
    all
}

fn parsed(name: &str, sent: &Sent) -> Request {
    wire::parse(sent.format(), sent.body.clone()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Fails with all of `found`.
fn none(found: &[String]) {
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn captures_come_out_as_they_went_in() {
    for (name, sent) in sent() {
        let request = parsed(&name, &sent);
        let rendered = wire::render(&request, &View::whole(request.transcript.len()));
        assert!(rendered == sent.body, "{name} differs");
    }
}

#[test]
fn captured_requests_break_no_rule() {
    let mut wrong = Vec::new();
    for (name, sent) in sent().into_iter().filter(|(_, sent)| sent.refused.is_none()) {
        let findings = wire::check(&parsed(&name, &sent));
        wrong.extend(findings.iter().map(|finding| format!("{name}: {finding:?}")));
    }
    none(&wrong);
}

#[test]
fn what_a_provider_refused_is_found_and_mended() {
    let refused: Vec<_> = sent().into_iter().filter(|(_, sent)| sent.refused.is_some()).collect();
    assert!(!refused.is_empty());
    for (name, sent) in refused {
        let refusal = sent.judge(&sent.sealed()).expect_err("it was refused then");
        assert_eq!(Some(refusal.message), sent.refused, "{name}");
        let request = wire::parse(sent.format(), sent.sealed()).expect("it was JSON before");
        assert_ne!(wire::check(&request), [], "{name}");
        let mended = wire::repair(&request);
        assert_eq!(wire::check(&mended.request), [], "{name}");
        sent.judge(mended.request.source())
            .unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
    }
}

#[test]
fn history_that_is_elsewhere_is_named() {
    let kept = |name: &str| {
        let capture = Capture::all().into_iter().find(|capture| capture.name == name);
        let capture = capture.unwrap_or_else(|| panic!("no capture {name}"));
        let keeper = |sent: &Sent| parsed(name, sent).elsewhere().map(|it| it.keeper);
        capture.requests.iter().map(keeper).collect::<Vec<_>>()
    };
    for (name, keeper) in [
        ("openai-node/responses-kept", Keeper::PreviousResponse),
        ("anthropic-node/runner", Keeper::Thread),
    ] {
        let kept = kept(name);
        assert_eq!(kept[0], None, "{name} begins");
        assert!(kept[1..].iter().all(|kept| *kept == Some(keeper)), "{name}: {kept:?}");
    }
    assert!(kept("anthropic-python/runner").iter().all(Option::is_none));
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn the_format_of_made_up_bodies_shows_however_they_are_written(case in valid()) {
        let request = case.request();
        // A bare list of plain messages may be of any format.
        prop_assume!(request.frame.envelope == Envelope::Body);
        for (how, text) in layouts(&case.text) {
            let found = wire::detect(text.clone()).map(|request| request.format);
            prop_assert_eq!(found, Ok(request.format), "{}: {}", how, text);
        }
    }
}
