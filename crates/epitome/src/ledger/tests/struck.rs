//! What is struck, and what only seems to be corrected.

use super::ledger;

/// Whether the line that says `what` was replaced.
fn is_struck(said: &str, what: &str) -> bool {
    let ledger = ledger(said);
    let line = ledger.lines().iter().find(|line| line.text.contains(what));
    line.unwrap_or_else(|| panic!("{what} isn't in the ledger of {said}")).replaced.is_some()
}

#[test]
fn what_speaks_of_another_thing_strikes_nothing() {
    for (said, old) in [
        (
            "user: The registry port is 5000.\nmodel: Noted.\nuser: The registration port is 6000.",
            "5000",
        ),
        (
            "user: The read timeout is 30 s.\nmodel: Noted.\nuser: The readiness timeout is 10 s.",
            "30 s",
        ),
        (
            "user: The rate limit is 100 per minute.\nmodel: Noted.\nuser: The rating limit is 5 per minute.",
            "100",
        ),
        ("user: Marie's room is 204.\nmodel: Noted.\nuser: Mary's room is 311 now.", "204"),
        ("user: The node budget is 40.\nmodel: Noted.\nuser: The nod budget is 50 now.", "40"),
        (
            "user: Use tabs in Makefiles.\nmodel: What does the parser complain about?\nuser: Not tabs. It was the colon.",
            "tabs in",
        ),
        (
            "user: Dinner is at 7 pm.\nmodel: The tests are green.\nuser: That's wrong. 3 tests fail.",
            "7 pm",
        ),
        (
            "user: Lunch is at 12 pm.\nmodel: I drafted the plan.\nuser: Too ambitious. Nobody works after 8 pm.",
            "12 pm",
        ),
        ("user: Use Redis for the cache.\nuser: The cache is stale.", "Redis"),
        (
            "user: The workshop is 3 days long.\nmodel: Noted.\nuser: The other one was 2 days long.",
            "3 days",
        ),
        ("user: The timeout is 30 minutes.\nuser: Hang on 5 minutes.", "30 minutes"),
        ("user: The meeting takes 30 minutes.\nuser: Hang on, back in 5 minutes.", "30 minutes"),
        // A permission for a part of what is forbidden, and what would be so in a case.
        (
            "user: Don't ever delete user data.\nmodel: Noted.\nuser: You may delete test data of a user now.",
            "ever",
        ),
        (
            "user: Never push to main.\nmodel: Noted.\nuser: You can push tags to main's mirror now.",
            "Never",
        ),
        (
            "user: Never push to main.\nmodel: Noted.\nuser: You may force push to main now.",
            "Never",
        ),
        (
            "user: The port is 8080.\nmodel: Noted.\nuser: If 8080 is taken, the port is 9090.",
            "is 8080.",
        ),
        // What is wanted by now may be wanted this once.
        (
            "user: Don't use Redis for the cache.\nmodel: Noted.\nuser: Use Redis for the cache.",
            "Don't",
        ),
        // Of two that may be meant the newer is noted, and neither is struck.
        (
            "user: The ticket is ABC-12.\nmodel: The branch is XYZ-9.\nuser: Make that XYZ-10.",
            "ABC-12",
        ),
        (
            "user: The ticket is ABC-12.\nmodel: The branch is XYZ-9.\nuser: Make that XYZ-10.",
            "XYZ-9",
        ),
        ("user: The airport is JFK.\nmodel: The currency is EUR.\nuser: Make that USD.", "JFK"),
    ] {
        assert!(!is_struck(said, old), "{said}: {:#?}", ledger(said).render(4_000));
    }
}

#[test]
fn what_was_just_said_is_struck_in_all_words_that_say_so() {
    for (said, old) in [
        (
            "user: I REALLY mean it.\nmodel: The owner of billing is Aiko Mori.\nuser: Actually, make that Dana Fuchs.",
            "Aiko",
        ),
        ("model: The standup is at `10:15 CET`.\nuser: not 10:15 CET!! noon CET", "10:15"),
        (
            "model: I'll work with Nadia Osei as the desk contact.\nuser: Not Nadia Osei. Lorenz Kuhn.",
            "desk",
        ),
        (
            "user: The port is 8080.\nmodel: OK, the port is 8080.\nuser: Make that 9090.",
            "The port",
        ),
        ("user: The refund window is 45 days.\nuser: s/45 days/21 days/", "45 days"),
        ("user: The owner is Alice.\nmodel: Noted.\nuser: The owner is now Bob.", "Alice"),
        (
            "user: The staging database is db1.internal.\nmodel: Noted.\nuser: The staging database is now db3.internal.",
            "db1",
        ),
        (
            "user: The upload limit is 20 MB.\nmodel: Noted.\nuser: The upload limit is 20 GB now.",
            "MB",
        ),
        (
            "user: The timeout is 30 seconds.\nmodel: Noted.\nuser: The timeout is 30 minutes now.",
            "seconds",
        ),
        (
            "user: Use Redis for the cache.\nmodel: Noted.\nuser: Don't use Redis for the cache.",
            "Use",
        ),
        // However much is done in between.
        (
            "user: The retry limit is 30.\ntool: a\ntool: b\ntool: c\ntool: d\ntool: e\ntool: f\ntool: g\nuser: Actually make that 40.",
            "30",
        ),
        (
            "user: Please also add dark mode to the invoices view.\nmodel: Fine.\nuser: We are in the middle of adding dark mode to the invoices view.",
            "also",
        ),
        (
            "tool: decided: session storage -> DynamoDB\nmodel: Fine.\nuser: Sessions are kept in Redis Cluster now, not DynamoDB.",
            "storage",
        ),
    ] {
        assert!(is_struck(said, old), "{said}: {:#?}", ledger(said).render(4_000));
    }
    // A model's rule stays, and the newer value is noted.
    let said = "user: Follow the steps EXACTLY as written.
         model: The minimum level is API 26.
         user: My mistake, I should have written API 28.";
    let lane = ledger(said).render(4_000);
    assert!(lane.contains("API 28. (newer than: [1 model] rule: The minimum level"), "{lane}");
}

#[test]
fn what_stands_behind_a_word_tells_two_things_apart() {
    let talk = "model: Noted.\nuser: Next, look at the parser.\nmodel: Looking at it.";
    for (old, new) in [
        (
            "The goal is below 0.8 % for scrap rate of the lathe.",
            "Please bring the scrap rate of the press to below 1.2 % instead, whichever way it goes.",
        ),
        (
            "The retention period for audit logs of Marlowe is 30 days.",
            "The retention period for audit logs of Brent is 90 days now.",
        ),
        ("The test of pump 3 is on Monday.", "The test of pump 4 is now on Tuesday."),
        ("The deadline for chapter 3 is March 4.", "The deadline for chapter 4 is now March 11."),
        ("Oven 3 must be at 180 °C.", "Put oven 4 to 200 °C instead."),
        ("Give worker 1 4 GB.", "Give worker 2 8 GB instead."),
        ("Never deploy the shop on Fridays.", "The shop was slow on Fridays."),
        ("Never feed the cat after 8 pm.", "The cat was hungry after 8 pm."),
    ] {
        let said = format!("user: {old}\n{talk}\nuser: {new}");
        assert!(!is_struck(&said, old), "{said}");
    }
}

#[test]
fn what_is_said_once_more_beside_something_else_isnt_changed_by_it() {
    let said = "user: The kettle broke, so we had cold tea.\nuser: The scrap rate is 2 %.\nmodel: Noted.\nuser: Lower the scrap rate to 1.2 % now, The kettle broke, so we had cold tea.";
    let ledger = ledger(said);
    let kettle = &ledger.lines()[0];
    assert!(kettle.newer.is_none() && kettle.replaced.is_none(), "{:#?}", ledger.render(4_000));
}

#[test]
fn what_quotes_a_sentence_may_take_it_back() {
    let talk = "model: Noted.\nuser: Next, look at the parser.\nmodel: Looking at it.";
    for (old, new) in [
        ("Always squash commits.", "The rule \"Always squash commits.\" is lifted."),
        ("the color is blue", "the color is blue no longer but green"),
    ] {
        assert!(is_struck(&format!("user: {old}\n{talk}\nuser: {new}"), old), "{new}");
    }
}

#[test]
fn a_report_with_a_figure_ends_its_task() {
    for done in
        ["I've fixed the login bug; it was 1 line.", "Fixed the login bug: the limit is 3 now."]
    {
        let said = format!("user: Please fix the login bug.\nmodel: Looking.\nmodel: {done}");
        assert!(is_struck(&said, "Please fix"), "{said}");
    }
}

#[test]
fn what_a_run_printed_of_itself_is_no_task() {
    for said in [
        "tool: FAILED tests/test_a.py::test_x - AssertionError: 3 != 4",
        "tool: ✓ subtracts (1 ms)",
    ] {
        let lane = ledger(said).render(4_000);
        assert!(!lane.contains("done:"), "{lane}");
    }
}

#[test]
fn what_forbids_a_task_is_none() {
    let said = "user: Run the migration tonight.\nmodel: Fine.\nuser: Please don't run the migration tonight.";
    let lane = ledger(said).render(4_000);
    assert!(is_struck(said, "Run the") && lane.starts_with("Constraints:"), "{lane}");
}
