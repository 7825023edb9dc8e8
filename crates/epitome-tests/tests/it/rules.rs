//! Every rule of the table has a body that breaks it, and if it says how it is mended, it is.

use epitome::wire::{self, Finding, Format, RULES};
use testkit::accepted;
use testkit::breaches::failing;
use testkit::captures::Capture;

#[test]
fn every_rule_is_broken_found_and_mended() {
    for rule in RULES {
        let body = failing(rule.id.0);
        let request = wire::parse(rule.format, body).expect("well-formed");
        let breaks = |found: &[Finding]| found.iter().any(|finding| finding.rule == rule.id);
        let found = wire::inspect(&request, &[]);
        assert!(breaks(&found), "{}: {found:?}", rule.id);
        assert!(!breaks(&wire::inspect(&request, &[rule.id])), "{} is waived", rule.id);
        // Of what only a look asks for, a provider may know more by now.
        let lasts = breaks(&wire::check(&request));
        let repaired =
            if lasts { wire::repair(&request) } else { wire::repair_inspected(&request, &[]) };
        let is_left = repaired.left.iter().any(|finding| finding.rule == rule.id);
        assert_eq!(is_left, rule.repair.is_empty(), "{}: {}", rule.id, repaired.request.source());
        let said = repaired.mended.iter().any(|mended| mended.rule == rule.id);
        assert_eq!(said, !rule.repair.is_empty(), "{}: {:?}", rule.id, repaired.mended);
        // The breach is the only one, so the scripted provider refuses it too, unless it lets strangers through.
        assert!(!lasts || accepted(&request).is_err(), "{}", rule.id);
        if repaired.left.is_empty() {
            assert_eq!(accepted(&repaired.request), Ok(()), "{}", rule.id);
        }
    }
}

#[test]
fn rules_say_what_they_are() {
    for rule in RULES {
        let prefix = match rule.format {
            Format::OpenaiChat => "chat/".to_owned(),
            Format::OpenaiResponses => "responses/".to_owned(),
            Format::GeminiInteractions => "interactions/".to_owned(),
            other => format!("{other}/"),
        };
        assert!(rule.id.0.starts_with(&prefix), "{}", rule.id);
        assert_eq!(rule.id.to_string(), rule.id.0);
        assert!(!rule.demand.is_empty() && !rule.error.is_empty(), "{}", rule.id);
        assert!(
            rule.source.contains("PROVIDERS")
                || rule.source.contains("SDK")
                || rule.source.contains("[BK]")
        );
    }
}

/// No false alarm in what real clients sent.
#[test]
fn what_real_clients_send_has_shapes_that_are_known() {
    let mut alarms = Vec::new();
    for capture in Capture::all() {
        for sent in capture.requests.iter().filter(|sent| Format::ALL.contains(&sent.format())) {
            let request = wire::parse(sent.format(), sent.body.clone()).expect("a request");
            // What a client breaks in pairing it does.
            let lasting: Vec<_> = wire::check(&request).iter().map(|found| found.rule).collect();
            let found = wire::inspect(&request, &lasting);
            let of = |found: &Finding| format!("{}/{}: {found:?}", capture.name, sent.file);
            alarms.extend(found.iter().map(of));
        }
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}
