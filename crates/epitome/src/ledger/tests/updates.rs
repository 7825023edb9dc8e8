//! Which older line a newer one takes the place of, and which it leaves alone.

use expect_test::expect;

use super::super::subject::Subject;
use super::super::{Kind, Ledger, Line, Shown, Speaker, read};
use super::{check, ledger};

#[test]
fn newer_values_replace_older_ones() {
    check(
        "user: The retry limit is 3. The upload timeout is 30 seconds. The download timeout is 60 seconds.
         model: Noted. I'll look at the client.
         user: Actually, make that 5.
         user: The timeout for uploads is now 45 seconds.
         user: Dana owns the billing service. Use tabs for indentation.
         model: The owner of the billing service is Priya now.
         user: Use spaces instead of tabs.
         user: The staging port is 8080. The production port is 9090.
         user: Staging moved to 8081.",
        &expect![[r"
            Preferences:
            - [6 user] Use spaces instead of tabs. (in place of message 4: use tabs for indentation)
            Facts:
            - [0 user] The download timeout is 60 seconds.
            - [2 user] Actually, make that 5. (in place of message 0: the retry limit is …)
            - [3 user] The timeout for uploads is now 45 seconds. (in place of message 0)
            - [5 model] The owner of the billing service is Priya now. (newer than: [4 user] Dana owns the billing service.)
            - [7 user] The production port is 9090.
            - [8 user] Staging moved to 8081. (in place of message 7)
        "]],
    );
}

/// What was said in sessions of agents, shortened: none of it takes anything back.
#[test]
fn what_only_sounds_like_a_change_replaces_nothing() {
    for said in [
        "tool: No profiles are configured here.
         tool: ✓ Switched to the profile of the team.",
        "tool: Wall time: 0.1 seconds
         tool: Wall time: 0.4 seconds",
        "model: Flight Number: HAT084
         model: Flight Number: HAT266",
        "model: - Settings: `auth.json` - Config: `config.toml`
         model: Set it to `1` to disable the contrast of the terminal.",
        "user: My user ID is noah_42.
         model: **Flights and passengers**: no changes",
        "user: My user ID is noah_42.
         user: I don't remember the number of the reservation, sorry.",
        "user: The departure is on May 27 from Houston to Denver.
         model: Your reservation has been updated to include the return from Denver to Houston on May 27.",
        "user: I picked the theme while you were working and got a crash, that should never happen.
         model: Malformed themes no longer crash the selector.
         model: Oh wait, these errors look like we have other versions of the theme!",
        "model: The total for the trip in business class is $833 per passenger.
         model: For the new booking in business class the total is $2,499 for all passengers.",
        "model: The colours of the theme are read from theme.json.
         model: Wait, I need to export `loadTheme` first:",
        "system: Payments: each reservation may use at most one certificate and three gift cards.
         user: Let's go ahead and proceed with the compensation for this reservation.",
        "model: `dimGray: 242` is a medium gray.
         model: Changed `gray` from `#6c6c6c` to `#808080`, a brighter medium gray.",
    ] {
        let ledger = ledger(said);
        let pairs = ledger.lines().iter().filter(|line| line.replaced.is_some());
        let pairs: Vec<&str> = pairs.map(|line| line.text.as_str()).collect();
        assert!(pairs.is_empty(), "{pairs:?} of {:#?}", ledger.render(4_000));
    }
}

#[test]
fn a_question_is_struck_out_only_where_somebody_says_that_it_is_answered() {
    let said = "user: Do we need a bucket of our own for the tenants?
         model: Let me look.
         user: #b5bd68 is what the bucket of the tenants had";
    assert_eq!(ledger(said).superseded().count(), 0);
}

#[test]
fn a_bare_value_corrects_what_was_just_said_and_nothing_else() {
    check(
        "user: The tick rate is 20 Hz. The upload limit is 64 MB.
         user: Not 20 Hz, 30 Hz.
         user: Hm, it's 45 MB.",
        &expect![[r"
            Facts:
            - [1 user] Not 20 Hz, 30 Hz. (in place of message 0: the tick rate is … hz)
            - [2 user] Hm, it's 45 MB. (in place of message 0: the upload limit is … mb)
        "]],
    );
    // It names what it is about, or gives a value of another shape.
    for other in ["Staging got 9021.", "Use 5 workers there.", "Which 8080 is that?"] {
        let said = format!("user: The rate is 20 Hz.\nuser: {other}");
        let ledger = ledger(&said);
        assert!(
            ledger.lines().iter().all(|line| line.replaced.or(line.newer).is_none()),
            "{other}"
        );
    }
}

/// Nobody but a person takes a person's rule back, and what names something else is about that.
#[test]
fn a_value_is_corrected_by_whom_may_and_of_what_is_named() {
    for said in [
        "user: The loop must run at 20 Hz.
         model: The loop is 30 Hz, not 20 Hz.",
        "user: The physics loop runs at 20 Hz.
         user: The renderer is 60 Hz, not 20 Hz.",
        "user: The reader polls every 20 ms.
         model: The writer polls every 90 ms.
         user: For the writer it's 60 ms, not 20 ms.",
    ] {
        let ledger = ledger(said);
        assert_eq!(ledger.superseded().count(), 0, "{said}");
        let gone: Vec<&Line> =
            ledger.lines().iter().filter(|line| line.replaced.is_some()).collect();
        assert!(gone.iter().all(|line| line.who != Speaker::Human), "{said}: {gone:#?}");
    }
}

#[test]
fn the_same_correction_is_heard_each_time() {
    check(
        "user: The tick rate is 20 Hz.
         user: Not 20 Hz, 30 Hz.
         user: The render rate is 20 Hz.
         user: Not 20 Hz, 30 Hz.",
        &expect![[r"
            Facts:
            - [1 user] Not 20 Hz, 30 Hz. (in place of message 0: the tick rate is … hz)
            - [3 user] Not 20 Hz, 30 Hz. (in place of message 2: the render rate is … hz)
        "]],
    );
}

/// What nobody knew the kind of is a line as soon as somebody says it so that it is one.
#[test]
fn what_was_unsure_is_sure_where_it_is_said_so() {
    let mut both = Ledger::default();
    let said = "the mesh viewer keeps 512 MB of textures";
    let line = |at, is_sure| Line {
        is_sure,
        weight: 40,
        ..Line::said(at, Speaker::Human, said.into(), said.into(), Subject::default())
    };
    both.push(line(1, false));
    both.push(line(4, true));
    both.push(line(6, false));
    expect![[r"
        Facts:
        - [4 user] the mesh viewer keeps 512 MB of textures
    "]]
    .assert_eq(&both.render(4_000));
    assert_eq!(both.superseded().count(), 0);
    assert_eq!(both.outdated().count(), 0);
}

#[test]
fn what_is_said_again_has_nothing_newer() {
    let again = |who| {
        let mut ledger = ledger("user: The tick rate is 20 Hz.\nuser: We never deploy on Fridays.");
        ledger.lines[0].newer = Some(1);
        ledger.lines[1].differs = Some(0);
        ledger.observe(2, who, Shown::Elsewhere, "The tick rate is 20 Hz.");
        ledger.lines
    };
    let lines = again(Speaker::Human);
    assert_eq!((lines[0].replaced, lines[1].newer, lines[2].newer), (Some(2), Some(2), None));
    // Not by whom a person isn't taken back.
    let lines = again(Speaker::Model);
    assert_eq!((lines.len(), lines[0].newer, lines[1].differs), (2, Some(1), Some(0)));
}

/// The last word holds, also where it is the first one again.
#[test]
fn what_a_person_says_once_more_holds() {
    for (said, holds) in [
        (["Never push to main.", "You may push to main again.", "Never push to main."], 1),
        (["The port is 8080.", "The port is 8081 now.", "The port is 8080."], 1),
        (
            [
                "Use tabs for indentation.",
                "Use spaces instead of tabs.",
                "Use tabs for indentation.",
            ],
            1,
        ),
    ] {
        let said: Vec<String> = said.iter().map(|line| format!("user: {line}")).collect();
        let ledger = ledger(&said.join("\n"));
        let lane = ledger.render(4_000);
        let listed: Vec<&str> = lane.lines().filter(|line| line.starts_with("- ")).collect();
        let (last, text) = (listed[listed.len() - 1], said[2].trim_start_matches("user: "));
        assert!(listed.len() == holds && last.starts_with(&format!("- [2 user] {text}")), "{lane}");
    }
}

/// A person's words stay where somebody speaks of something else, or only says what others say, think or ask.
#[test]
fn a_persons_words_stay_unless_they_are_surely_taken_back() {
    for (old, new) in [
        ("Don't touch the auth module.", "Feel free to touch the search module now."),
        ("Never touch the billing tables.", "You may touch the search tables again."),
        (
            "Always run the tests before a merge.",
            "You don't need to run the benchmarks before a merge.",
        ),
        (
            "Always ask me before you pay an invoice.",
            "No need to ask me before you send a reminder.",
        ),
        ("Always wear a helmet on the roof.", "You don't have to wear a vest on the roof."),
        ("Never email Anna.", "Never email Ben instead of calling."),
        (
            "The limit for guests is 5 uploads.",
            "The limit for members has been raised to 50 uploads.",
        ),
        ("The dose for mice is 5 mg.", "The dose for rats is now 8 mg."),
        ("Flight LH400 leaves at 10:20.", "Flight LH404 now leaves at 17:05."),
        ("Train 12 leaves from platform 3.", "Train 14 now leaves from platform 5."),
        ("Never push to main.", "Don't ever tell Bob that you may push to main again."),
        ("Never push to main.", "I was asked whether you may push to main again. No."),
        (
            "The port of ingest is 8080.",
            "I do not think that the port of ingest is now 9090, no longer 8080.",
        ),
        ("The port of ingest is 8080.", "Is the port of ingest now 9090, no longer 8080?"),
        // Each of two things has its own; or only a part of it is otherwise.
        ("Server A has 16 GB of RAM.", "Server B has 32 GB of RAM."),
        ("My flight is at 7:45.", "Your flight is at 8:50."),
        ("With insurance it costs 400 euros.", "Without insurance it costs 300 euros."),
        (
            "The board meeting is on 4 May at 14:00.",
            "The slides for the board meeting are due on 2 May now.",
        ),
        (
            "Never push to main, never force-push, and never delete tags.",
            "You may push to main again.",
        ),
        ("Don't touch auth/, billing/ or infra/.", "You may touch billing/ again now."),
        (
            "Rent is 1200 euros and the deposit is 2400 euros.",
            "The rent is 1300 euros now, not 1200 euros.",
        ),
        (
            "Speak German with Mr Huber, English with Ms Lee.",
            "Speak French with Ms Lee from now on.",
        ),
        // It is refused, supposed, said by others, or so besides.
        ("The port of ingest is 8080.", "Don't change the port of ingest to 9090."),
        ("The port of ingest is 8080.", "In June the port of ingest will change to 9090."),
        (
            "The port of ingest is 8080.",
            "The README says the port of ingest is now 9090, which is wrong.",
        ),
        (
            "We decided to use Postgres for the order store.",
            "We also decided to use Redis for the order store now.",
        ),
        ("Never push to main.", "If QA signs off you may push to main again."),
        (
            "Always ask me before you delete files.",
            "Actually, also ask Ana before you delete files.",
        ),
        // Somebody says what he himself does.
        ("Bake it for 40 minutes.", "Sorry, I'm back in 10 minutes."),
        ("The deposit is 500 euros.", "Oh no, I lost 300 euros."),
        // A value of the thing is no word about what mustn't be done to it.
        ("Never increase the upload limit above 64 MB.", "We lowered the upload limit to 20 MB."),
        (
            "The upload limit must never be raised above 64 MB.",
            "The upload limit changed to 20 MB.",
        ),
        ("Never raise the upload limit above 64 MB.", "From now on the upload limit is 20 MB."),
        (
            "Always ask Dana before you touch the deploy window.",
            "From now on the deploy window is Friday.",
        ),
        (
            "Ask me before you change the API key for billing.",
            "The API key for billing changed to sk_b_22.",
        ),
        ("The timeout of server B is 60 seconds.", "Server A's timeout is 45 seconds now."),
        ("Never give production more than 60 seconds.", "Actually, make staging 45 seconds."),
        ("Keep production at 60 seconds.", "Actually, make staging 45 seconds."),
    ] {
        let ledger = ledger(&format!("user: {old}\nuser: {new}"));
        let gone = ledger.lines().iter().filter(|line| line.replaced.is_some());
        let gone: Vec<&str> = gone.map(|line| line.text.as_str()).collect();
        assert!(gone.is_empty(), "{gone:?} by {new}");
    }
    // And these are.
    for (old, new) in [
        ("The retry limit is 5.", "Our retry limit is 6 now."),
        ("Our upload limit is 5 MB.", "The upload limit is 6 MB now."),
        ("The db timeout is 30 s.", "The database timeout is 40 s now."),
        ("Never push to main.", "You may push to main again."),
        ("Don't touch the auth module.", "Feel free to touch the auth module now."),
        ("The port of ingest is 8080.", "The port of ingest is now 9090, no longer 8080."),
        (
            "The limit for guests is 5 uploads.",
            "The limit for guests has been raised to 50 uploads.",
        ),
        (
            "Never raise the upload limit above 64 MB.",
            "From now on never raise the upload limit above 80 MB.",
        ),
        ("Never raise the upload limit above 64 MB.", "Actually, never raise it above 80 MB."),
    ] {
        let ledger = ledger(&format!("user: {old}\nuser: {new}"));
        assert_eq!(ledger.superseded().count(), 1, "{old} by {new}");
    }
}

#[test]
fn corrections_in_a_row_say_what_they_are_about() {
    check(
        "user: The sampling rate is 20 Hz.
         user: Not 20 Hz, 30 Hz.
         user: Not 30 Hz, 40 Hz.",
        &expect![[r"
            Facts:
            - [2 user] Not 30 Hz, 40 Hz. (in place of message 1: the sampling rate is … hz)
        "]],
    );
    check(
        "user: The sampling rate is 20 Hz.
         user: Not 20 Hz, 30 Hz.
         user: Not 30 Hz, 20 Hz.",
        &expect![[r"
            Facts:
            - [2 user] Not 30 Hz, 20 Hz. (in place of message 1: the sampling rate is … hz)
        "]],
    );
    // Of two nobody knows which.
    check(
        "user: The rate of pump A is 20 Hz. The rate of pump B is 20 Hz.
         user: Not 20 Hz, 30 Hz.",
        &expect![[r"
            Facts:
            - [0 user] The rate of pump A is 20 Hz.
            - [1 user] Not 20 Hz, 30 Hz. (newer than: [0 user] The rate of pump B is 20 Hz.)
        "]],
    );
}

/// Who says it first doesn't say whose it is.
#[test]
fn what_a_person_says_is_theirs_whoever_said_it_before() {
    check(
        "tool: Never push to the main branch.
         user: Never push to the main branch.
         model: You may push to the main branch again.",
        &expect![[r"
            Constraints:
            - [1 user] Never push to the main branch.
            - [2 model] You may push to the main branch again.
        "]],
    );
}

/// Entries of an earlier checkpoint have numbers of their own.
#[test]
fn an_entry_with_an_older_ones_number_is_another() {
    let entries = read(&ledger("user: The port of ingest is 8080.").render(4_000));
    let mut next = Ledger::default();
    next.resume([(0, "The port of ingest is 8080.")].into_iter(), entries);
    next.observe(0, Speaker::Human, Shown::Elsewhere, "Actually the port of ingest is 9090.");
    expect![[r"
        Facts:
        - [0 user] Actually the port of ingest is 9090. (in place of message 0)
    "]]
    .assert_eq(&next.render(4_000));
    assert_eq!(next.superseded().count(), 1);
}

/// Long after it was said a bare value may still mean the only one that there is.
#[test]
fn a_correction_may_mean_what_a_checkpoint_lists() {
    let entries = read(&ledger("user: The sampling rate is 20 Hz.").render(4_000));
    let mut next = Ledger::default();
    next.resume(std::iter::empty(), entries);
    next.observe(2, Speaker::Human, Shown::Elsewhere, "Not 20 Hz, 30 Hz.");
    expect![[r"
        Facts:
        - [2 user] Not 20 Hz, 30 Hz. (in place of message 0: the sampling rate is … hz)
    "]]
    .assert_eq(&next.render(4_000));
}

/// Whoever reads the older of two that may differ is told of the newer.
#[test]
fn what_is_set_anew_takes_nothing_away_from_others() {
    check(
        "user: For the Android minimum SDK the right answer is API 26; Wen confirmed it this morning.
         user: Actually, make that API 29.
         user: The port is 8080.
         model: Noted.
         user: Change the port to 9090.",
        &expect![[r"
            Facts:
            - [1 user] Actually, make that API 29. (in place of message 0: for the android minimum sdk the right answer is …; … confirmed it this m…)
            Goals and tasks:
            - [4 user] open: Change the port to 9090. (newer than: [2 user] fact: The port is 8080.)
        "]],
    );
    check(
        "user: The maximum file size is 10 MB.
         user: The maximum memory size is now 64 MB.
         user: Move the tests to crates/a.
         user: Move the docs to crates/b.
         user: Please update the parser to 2.0.
         user: Please update the lexer to 3.0.",
        &expect![[r"
            Facts:
            - [0 user] The maximum file size is 10 MB.
            - [1 user] The maximum memory size is now 64 MB.
            - [4 user] Please update the parser to 2.0.
            - [5 user] Please update the lexer to 3.0.
            Goals and tasks:
            - [2 user] goal: Move the tests to crates/a.
            - [3 user] goal: Move the docs to crates/b.
        "]],
    );
}

#[test]
fn a_second_thought_is_about_what_was_just_said() {
    check(
        "user: The staging API port is 8443.
         user: Hm, on second thought 9021 is better.
         user: We take British spelling for code comments.
         user: We changed our mind about code comments: American spelling instead of British spelling.
         user: Please don't push to release/7.2, not even to try something out.
         user: Pushing to release/7.2 is allowed again.
         user: It is unclear whether tenants need a bucket; nobody has answered so far.",
        &expect![[r"
            Constraints:
            - [5 user] Pushing to release/7.2 is allowed again. (in place of message 4)
            Decisions:
            - [3 user] We changed our mind about code comments: American spelling instead of British spelling. (in place of message 2)
            Facts:
            - [1 user] Hm, on second thought 9021 is better. (in place of message 0: the staging api port is …)
            Open questions:
            - [6 user] It is unclear whether tenants need a bucket; nobody has answered so far.
        "]],
    );
}

/// What says how far something is and gives a value behind its verb is no task; what is finished is one.
#[test]
fn a_value_that_is_so_far_known_is_a_fact() {
    for (said, kind) in [
        ("model: What I have so far: the guest count for the dinner is 61 people.", Kind::Fact),
        (
            "user: quick note, the anneal temperature comes out at 585 °C, i checked in the log",
            Kind::Fact,
        ),
        ("model: Recounting aisle 22 is ongoing, and the first part looks right.", Kind::Underway),
        ("model: I've moved the invoices of 2023 to the archive.", Kind::Done),
        ("model: The migration of the tables is 80 % complete.", Kind::Underway),
        ("user: started recounting aisle 22 at six, about half so far", Kind::Underway),
        ("model: I've begun filing the motion to dismiss; the rest comes later.", Kind::Underway),
    ] {
        assert_eq!(ledger(said).lines()[0].kind, kind, "{said}");
    }
}
