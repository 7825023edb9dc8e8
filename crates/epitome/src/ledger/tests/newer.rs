//! What is noted as newer, whatever its words, and what isn't.

use expect_test::expect;

use super::super::{Ledger, Shown, Speaker, read};
use super::{check, ledger};

/// Whether a reader of the first line is told of a newer one.
fn is_told(said: &str) -> bool {
    let ledger = ledger(said);
    ledger.lines()[0].newer.or(ledger.lines()[0].replaced).is_some()
}

/// Both said by a person, with talk of something else between them.
fn later(old: &str, new: &str) -> String {
    let talk = "model: Noted.\nuser: Next, look at the parser.\nmodel: Looking at it.";
    format!("user: {old}\n{talk}\nuser: {new}")
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
        ("The vent setpoint is 24.5 °C.", "Update from Wen just now: 27 °C."),
        ("The alarm volume is 62 dB.", "For the record that is now 70 dB."),
        ("The keepalive is 20 seconds.", "better 2 minutes"),
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
            - [1 user] The physics tick rate is 64 Hz.
            - [11 user] From Monday the matchmaking loop does 30 Hz. (newer than: [0 user] The matchmaking tick rate is 20 Hz.)
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
            - [2 model] Wait, I misread that: the deploy window is Friday 10:00 UTC (says the wiki). (in place of message 0: worth knowing: the deploy window is … utc)
            Said besides (replaces nothing):
            - [3 user] As to tenants: sharded by plan these days. (newer than: [1 user] besides: The table of the tenants is sharded by region, by the way, and by nothing else.)
        "]],
    );
}

/// Whether the first line is struck for a later one.
fn is_struck(said: &str) -> bool {
    ledger(said).lines()[0].replaced.is_some()
}

#[test]
fn a_brief_sentence_that_names_nothing_else_strikes_what_was_just_said() {
    for said in [
        "model: Constraint carried over: the APK size may not exceed 60 MB.
         user: Close, but it's 45 MB.",
        "model: As the minimum Android level, everybody works with API 26.
         user: My mistake, I should have written API 28.",
        "model: The escrow agreement resolves to clause 12, so I'll use that.
         user: Strike that, clause 19.",
    ] {
        assert!(is_struck(said), "{said}: {:#?}", ledger(said).render(4_000));
    }
    for said in [
        // It names something else, asks, or is yet to be done.
        "user: The upload limit is 60 MB.
         user: The import took 45 MB.",
        "model: The port is 8080.
         user: Change the port to 9090.",
        "model: The upload limit is 60 MB.
         user: Is it 45 MB?",
        // A person's rule goes by what says so.
        "user: Never store more than 60 MB there.
         user: It took 45 MB.",
        // Of several nobody knows which, and a name may be any.
        "model: The dump takes 60 MB, the index takes 70 MB, and the log takes 80 MB.
         user: Close, but it's 45 MB.",
        "user: I need to change my flight back from Denver to Houston to be the quickest one.
         user: I don't remember the reservation ID, sorry.",
        "model: I can also paste data that can be provided.
         user: Strike that, early returns.",
    ] {
        assert!(!is_struck(said), "{said}: {:#?}", ledger(said).render(4_000));
    }
}

#[test]
fn the_same_few_words_in_a_row_tell_what_a_line_is_about() {
    for said in [
        // A task in another state, a question with its answer, a rule taken back, another value.
        "tool: - [ ] anonymise the trial patients table (blocked by: an approval)
         model: Currently anonymising the trial patients table, will report when the tests pass.",
        "tool: DOC-55 Needs decision: Do group bookings get a single invoice?
         user: We talked about whether group bookings get a single invoice, verdict: one to the organiser.",
        "model: The agreement we signed rules out restarting the kafka brokers during trading hours, so keep that in mind.
         user: The ban on restarting the kafka brokers during trading hours is lifted.",
        "tool: Correct clickstream landing path per handbook: s3://lake-raw/web/
         user: Erratum: clickstream landing path should read /mnt/ingest/browser/ instead of s3://lake-raw/web/.",
    ] {
        assert!(is_struck(said), "{said}: {:#?}", ledger(said).render(4_000));
    }
    for said in [
        // Each goes on with another word.
        "tool: - [ ] add a dark theme to the tablet app
         model: The dark theme is added to the kiosk app and done.",
        "user: The max upload size for guests is 5 MB.
         user: The max upload size for members is now 50 MB.",
        // It asks again, or comes from whom a person isn't overruled by.
        "user: Do group bookings get a single invoice?
         user: I still don't know whether group bookings get a single invoice.",
        "user: Never restart the kafka brokers during trading hours.
         model: Restarting the kafka brokers during trading hours is allowed again.",
    ] {
        assert!(!is_struck(said), "{said}: {:#?}", ledger(said).render(4_000));
    }
}

/// Somebody or something of its own may be what it is of.
#[test]
fn a_figure_of_another_name_replaces_none_and_says_that_it_is_newer() {
    for said in [
        "user: Alice's timeout is 30 seconds.
         user: Actually, make Bob 45 seconds.",
        "user: In Berlin the limit is 30 km/h.
         user: Actually, make Munich 50 km/h.",
        "user: The port of ingest is 8080.
         user: Actually make the export one 9090.",
    ] {
        assert!(!is_struck(said) && is_told(said), "{said}: {}", ledger(said).render(4_000));
    }
    for said in [
        "user: Alice's timeout is 30 seconds.
         user: Actually, make Alice 45 seconds.",
        "user: The port of ingest is 8080.
         user: Actually make the ingest one 9090.",
        "user: Alice's timeout is 30 seconds.
         user: Actually, make it 45 seconds.",
    ] {
        assert!(is_struck(said), "{said}: {}", ledger(said).render(4_000));
    }
}

/// What is still shown is read behind the checkpoint that takes it back.
#[test]
fn what_a_person_took_back_holds_no_more_for_being_read_again() {
    let first = ledger(
        "model: The mark to beat is a reconciliation lag of 15 minutes.
         user: Actually, make that 40 minutes.",
    );
    let lane = first.render(4_000);
    let mut next = Ledger::default();
    next.resume(std::iter::empty(), read(&lane));
    let again = "The mark to beat is a reconciliation lag of 15 minutes.";
    next.observe(3, Speaker::Model, Shown::Elsewhere, again);
    assert_eq!(next.render(4_000), lane);
    // A person may say so again.
    next.observe(4, Speaker::Human, Shown::Elsewhere, again);
    assert!(next.render(4_000).contains("15 minutes"));
}

/// Of several older lines the one that leads is meant.
#[test]
fn words_count_by_how_few_lines_have_them() {
    for said in [
        "tool: note: using 20 seconds as gRPC keepalive
          tool: note: using 15 seconds as scrape interval
          model: I now have 45 seconds for the pause between gRPC pings.",
        "model: The ventilator alarm volume is 62 dB.
          model: The infusion pump alarm volume is 55 dB.
          user: These days the ventilator may be no louder than 70 dB.",
        "model: I cannot proofread the jury notes without the bishop.
          model: I cannot index the parish notes without the bishop.
          model: I'm currently proofreading the jury notes.",
    ] {
        assert!(is_told(said), "{}", ledger(said).render(4_000));
    }
}

/// A question that is asked again and answered in the next sentence is the one that was open.
#[test]
fn what_follows_a_question_that_was_open_answers_it() {
    let said = "user: open question: who pays for the scaffolding
         model: Noted.
         user: Who pays for the scaffolding? Turns out: the landlord, in full.";
    assert!(is_told(said), "{}", ledger(said).render(4_000));
}

/// What a person says next is of the last thing said, if it can stand for that and for nothing farther off.
#[test]
fn the_nearest_that_a_value_fits_is_meant() {
    for (said, older) in [
        (
            "tool: profile.updated: Sister Agnes set salad dressing to \"oil and lemon\"
             model: The avatar upload limit is 2 MB.
             user: Sister Agnes just changed it, so 5 MB please",
            "2 MB",
        ),
        (
            "user: telescope pointing offset = 3.2 arcsec.
             user: Change of heart: 4.7 arcsec.",
            "3.2 arcsec",
        ),
        (
            "model: Checked the sheet you sent: it lists 8675309442 under Minecraft seed.
             user: mmm nah. -41207733 ✨",
            "8675309442",
        ),
        (
            "user: 1000 ppm is the most I'll tolerate for classroom CO2 level, darling
             user: we can be stricter than that, 800 ppm",
            "1000 ppm",
        ),
        (
            "model: We went with wood chips for the playground surface, since the council pays half.
             user: Strike wood chips and substitute rubber tiles.",
            "wood chips for",
        ),
        (
            "user: steriliser cycle time = 18 minutes.
             user: Actually, would you mind making that 34 minutes?",
            "18 minutes",
        ),
    ] {
        let ledger = ledger(said);
        let lines = ledger.lines();
        let old = lines.iter().find(|line| line.text.contains(older)).expect("it is listed");
        let newer = old.newer.or(old.replaced).map(|at| lines[at].at);
        assert_eq!(newer, lines.last().map(|line| line.at), "{said}: {}", ledger.render(4_000));
    }
}

/// What was said stays where what comes next is about something else, or repeats it.
#[test]
fn what_only_stands_right_behind_a_statement_strikes_nothing() {
    for said in [
        "user: The shelf is 30 cm deep.
         model: Noted.
         user: It is 80 cm wide.",
        "user: The upload limit is 64 MB.
         model: Noted.
         user: Delete the 12 MB one",
        "user: Never push to the main branch.
         model: Noted.
         user: No wait, run the tests",
        "model: The upload limit is 60 MB.
         user: Is it 45 MB now?",
        "user: Doors open at 9:00.
         model: Noted.
         user: We close at 18:00.",
        "user: The session timeout is 30 minutes.
         model: Noted.
         user: Wait 5 minutes.",
        // What answers a question is about that.
        "user: The id is 7f3a-99.
         model: Which region?
         user: eu-west1",
        "user: The shelf is 30 cm deep.
         model: How wide? I need it to order.
         user: 80 cm",
        "model: The shelf is 30 cm deep. And the width?
         user: 80 cm",
        "user: The shelf is 30 cm deep.
         model: And the width?
         user: Let's go with 80 cm",
        "user: The shelf is 30 cm deep.
         model: And the width?
         user: Make it 80 cm",
        // A name of another make isn't one either.
        "user: The id is 7f3a-99.
         model: Noted.
         user: gpt4",
    ] {
        assert!(!is_struck(said), "{said}: {}", ledger(said).render(4_000));
    }
    // What asks for no value isn't answered by one.
    for asked in ["Is 30 cm right?", "Noted. Anything else?", "Noted."] {
        let said = format!("user: The shelf is 30 cm deep.\nmodel: {asked}\nuser: 40 cm");
        assert!(is_struck(&said), "{said}: {}", ledger(&said).render(4_000));
    }
    let said = "user: We decided to keep the wood chips because the council pays.
         model: Noted.
         user: Keep the wood chips and add a swing.";
    assert!(!is_struck(said) && !is_told(said), "{}", ledger(said).render(4_000));
    // A question that is answered is struck, and what was said beside it stays.
    let lane = ledger(
        "model: The avatar upload limit is 2 MB.
         model: Which upload limit should we set?
         user: The upload limit is 50 MB.",
    )
    .render(4_000);
    assert!(lane.contains("2 MB") && lane.contains("50 MB"), "{lane}");
}

/// What the model asked for without a question mark is another value, too, and not what was said before.
#[test]
fn what_a_request_asks_for_takes_nothing_back() {
    for asked in [
        "Please give me the width.",
        "I also need the width in cm.",
        "Let me know the width.",
        "For the width, choose one of 40 cm and 60 cm.",
    ] {
        let said = format!("user: The shelf is 30 cm deep.\nmodel: {asked}\nuser: 40 cm");
        assert_eq!(ledger(&said).lines()[0].replaced, None, "{asked}");
    }
    for said in ["Let me know if 30 cm is wrong.", "Tell me when 30 cm won't do."] {
        let said = format!("user: The shelf is 30 cm deep.\nmodel: {said}\nuser: 40 cm");
        assert!(ledger(&said).lines()[0].replaced.is_some(), "{said}");
    }
}

/// By words alone that many lines have: the same sentence but for one place, or all that it is about and another name.
#[test]
fn what_is_said_again_of_something_else_by_now_is_newer() {
    for (old, new) in [
        ("Alice owns billing.", "Bob owns billing now."),
        ("The migration is still open.", "The migration is done."),
        ("Tests live in test/.", "Tests were moved to spec/."),
        ("We settled on Postgres for the store.", "The store will be SQLite, we changed our mind."),
    ] {
        let said = later(old, new);
        assert!(is_told(&said), "{old} {new}: {:#?}", ledger(&said).render(4_000));
    }
    for (old, new) in [
        ("Alice owns billing.", "Bob owns search now."),
        ("Alice owns billing.", "Bob owns billing?"),
        ("Server A has 16 GB.", "Server B has 32 GB now."),
        ("The staging port is 8080.", "The production port is 8080 now."),
        ("Tests live in test/.", "Tests are slow now."),
        ("Never push to main.", "Never push to develop from now on."),
        ("My son is allergic to nuts.", "My daughter is allergic to nuts too now."),
    ] {
        let said = later(old, new);
        assert!(!is_told(&said), "{old} {new}: {:#?}", ledger(&said).render(4_000));
    }
}

#[test]
fn a_value_in_backticks_is_one_without() {
    let old = "The matter number for the Hallam lease is `M-20418`.";
    let new = "With regard to what Hallam is filed under, kindly substitute M-20733 for M-20418.";
    let said =
        format!("model: {old}\nuser: Look at the parser.\nmodel: Looking at it.\nuser: {new}");
    assert!(is_told(&said), "{:#?}", ledger(&said).render(4_000));
}

#[test]
fn a_note_leaves_out_only_what_was_given_anew() {
    let ledger = ledger(
        "user: 1,900 kg is the limit for load per beam in bay 9, as per Tadeusz.\nmodel: ok\nuser: Strike that, 2,480 kg.",
    );
    let lane = ledger.render(4_000);
    assert!(
        lane.contains(": … kg is the limit for load per beam in bay 9, as per tadeusz)"),
        "{lane}"
    );
}

/// A person who speaks of what hardly anything else is about says how it is by now, in whatever words.
#[test]
fn two_words_that_hardly_another_line_has_tell_what_a_person_speaks_of() {
    for (old, new) in [
        (
            "I've built the prototype for PDF export on WeasyPrint, as agreed, since page breaks came out right.",
            "WeasyPrint didn't work out for PDF export, we're on Typst since Tuesday.",
        ),
        (
            "The prototype of the seat map is drawn on WebGL, as old tablets cope with it.",
            "Old tablets choke on WebGL, and the seat map is blank there.",
        ),
    ] {
        let said =
            format!("model: {old}\nuser: Look at the parser.\nmodel: Looking at it.\nuser: {new}");
        assert!(is_told(&said), "{:#?}", ledger(&said).render(4_000));
    }
    let said =
        later("The seat map is drawn on WebGL.", "Draw the seat map on WebGL on phones, too.");
    assert!(!is_told(&said), "{:#?}", ledger(&said).render(4_000));
}

/// What a model said of it in between is as old, though people aren't overruled by models.
#[test]
fn what_only_differed_holds_no_longer_than_what_it_differed_from() {
    check(
        "user: The timeout is 20 seconds.
         model: Noted: the timeout is 30 seconds.
         user: The timeout is 45 seconds.
         user: The owner is Ann.
         model: The owner is Bob now.
         user: The owner is Carl.",
        &expect![[r"
            Facts:
            - [2 user] The timeout is 45 seconds. (in place of message 1)
            - [5 user] The owner is Carl. (in place of message 4)
        "]],
    );
}

/// The verb alone is no deed.
#[test]
fn what_is_to_be_done_to_another_thing_replaces_nothing() {
    check(
        "user: Send the contract to Anna.
         user: Send the invoice to Ben instead.",
        &expect![[r"
            Goals and tasks:
            - [1 user] open: Send the invoice to Ben instead. (newer than: [0 user] Send the contract to Anna.)
        "]],
    );
    check(
        "user: Send the contract to Anna.
         user: Send it to Ben instead.",
        &expect![[r"
            Goals and tasks:
            - [1 user] open: Send it to Ben instead. (in place of message 0: send the contract to …)
        "]],
    );
}
