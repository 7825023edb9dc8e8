//! What is noted as newer, whatever its words, and what isn't.

use expect_test::expect;

use super::{check, ledger};

/// Whether a reader of the first line is told of a newer one.
fn is_told(said: &str) -> bool {
    let ledger = ledger(said);
    ledger.lines()[0].newer.or(ledger.lines()[0].replaced).is_some()
}

#[test]
fn another_value_right_behind_one_is_newer_in_any_words() {
    for (old, new) in [
        ("The tick rate is 20 Hz.", "Close, but it's 30 Hz."),
        ("The tick rate is 20 Hz.", "You've mixed something up, 30 Hz is what I said."),
        ("The tick rate is 20 Hz.", "Hm, Ilse tells me it's 30 Hz, not 20 Hz."),
        ("The tick rate is 20 Hz.", "That would appear to be 30 Hz, I'm afraid."),
        ("The tick rate is 20 Hz.", "lose 20 Hz, take 30 Hz"),
        ("We're allowed 8 µA tops for sleep current.", "Ah, that would be 15 µA."),
        ("The complaints extension is 4471.", "brain fart, 4820 obviously"),
        ("The lease is filed under M-20418.", "*M-20733, oops"),
        ("Use the viridis scale for charts.", "Not the viridis scale, plain greyscale."),
    ] {
        let said = format!("user: {old}\nmodel: Noted.\nuser: {new}");
        assert!(is_told(&said), "{old} {new}: {:#?}", ledger(&said).render(4_000));
    }
}

#[test]
fn what_names_a_thing_of_its_own_isnt() {
    for (old, new) in [
        ("The tick rate is 20 Hz.", "Use 5 workers there."),
        ("The tick rate is 20 Hz.", "Which 30 Hz is that?"),
        ("The tick rate is 20 Hz.", "The upload limit is 64 MB."),
        ("Please update the parser to 2.0.", "Please update the lexer to 3.0."),
        ("Downloads are capped at 32 MB.", "Uploads are capped at 64 MB."),
        ("The staging port is 8080.", "The production port is 9090."),
    ] {
        let said = format!("user: {old}\nmodel: Noted.\nuser: {new}");
        assert!(!is_told(&said), "{old} {new}: {:#?}", ledger(&said).render(4_000));
    }
}

/// Of two things of one shape the newer value is that of the one whose own word it says, and neither is newer than the other.
#[test]
fn a_word_that_hardly_another_line_has_tells_what_is_meant() {
    check(
        "user: The matchmaking tick rate is 20 Hz.
         user: The physics tick rate is 64 Hz.
         model: Noted.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         model: Let me look.
         user: From Monday the matchmaking loop does 30 Hz.",
        &expect![[r"
            Facts:
            - [0 user] The matchmaking tick rate is 20 Hz. (see message 11, which is newer)
            - [1 user] The physics tick rate is 64 Hz.
            - [11 user] From Monday the matchmaking loop does 30 Hz.
        "]],
    );
}

#[test]
fn two_sentences_of_a_brief_message_are_read_as_one() {
    check(
        "user: Our retry budget is 3 attempts.
         model: Noted.
         user: Something changed about the retry budget. It's 5 attempts.",
        &expect![[r"
            Facts:
            - [2 user] Something changed about the retry budget. It's 5 attempts. (in place of message 0)
        "]],
    );
    // Each says by itself what it is about.
    check(
        "user: Never push to the main branch. The port is 5020.",
        &expect![[r"
        Constraints:
        - [0 user] Never push to the main branch.
        Facts:
        - [0 user] The port is 5020.
    "]],
    );
}

#[test]
fn a_note_says_where_what_is_newer_stands() {
    check(
        "model: Worth knowing: the deploy window is Thursday 14:00 UTC.
         user: The table of the tenants is sharded by region, by the way, and by nothing else.
         model: Wait, I misread that: the deploy window is Friday 10:00 UTC (says the wiki).
         user: As to tenants: sharded by plan these days.",
        &expect![[r"
            Facts:
            - [2 model] Wait, I misread that: the deploy window is Friday 10:00 UTC (says the wiki). (in place of message 0: worth knowing: the deploy window is … …)
            Said besides (replaces nothing):
            - [1 user] The table of the tenants is sharded by region, by the way, and by nothing else. (see message 3, which is newer)
            - [3 user] As to tenants: sharded by plan these days.
        "]],
    );
}
