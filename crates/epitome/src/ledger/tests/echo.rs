//! What a model says back to a person goes with what it says back.

use expect_test::expect;

use super::check;

/// Both are one thing, said by the person and said back by the model.
#[test]
fn what_corrects_what_a_model_says_back_is_about_what_the_person_said() {
    check(
        "user: We want p95 under 200 ms.
         model: So the target is p95 under 200 ms; I'll measure first.
         user: Relax that to 350 ms.
         user: Use Python 3.11.
         model: I've pinned Python 3.11 in pyproject.
         user: we need 3.12 after all",
        &expect![[r"
            Preferences:
            - [5 user] we need 3.12 after all (newer than: [3 user] Use Python 3.11.) (newer than: [4 model] done: I've pinned Python 3.11 in pyproject.)
            Goals and tasks:
            - [2 user] goal: Relax that to 350 ms. (newer than: [0 user] We want p95 under 200 ms.) (newer than: [1 model] So the target is p95 under 200 ms; I'll measure first.)
        "]],
    );
    check(
        "user: The staging port is 8080.
         model: I'll write 8080 as the staging port.
         user: The staging port is now 9090.",
        &expect![[r"
            Facts:
            - [2 user] The staging port is now 9090. (in place of message 1)
        "]],
    );
}

/// The reservation is still the one that it was about.
#[test]
fn what_names_the_value_again_takes_nothing_from_what_says_it_back() {
    check(
        "user: Yes, please cancel the reservation S61CZX.
         model: **Reservation ID:** S61CZX
         model: The reservation with ID S61CZX has been successfully canceled.",
        &expect![[r"
            Facts:
            - [1 model] **Reservation ID:** S61CZX
            Goals and tasks:
            - [2 model] done: The reservation with ID S61CZX has been successfully canceled. (in place of message 0)
        "]],
    );
}

/// The preposition behind a verb of placing gives a value; elsewhere it names what a value is of.
#[test]
fn where_something_is_put_is_a_value() {
    check(
        "user: Put the config in config.yml.
         model: Done.
         user: Actually, put it in settings.toml.
         user: The timeout in worker.toml is 30 seconds.
         user: The timeout in server.toml is 60 seconds.",
        &expect![[r"
            Facts:
            - [3 user] The timeout in worker.toml is 30 seconds.
            - [4 user] The timeout in server.toml is 60 seconds.
            Goals and tasks:
            - [2 user] open: Actually, put it in settings.toml. (in place of message 0: put the config in …)
        "]],
    );
}

/// A model's newer value is newer than the person's, and theirs stays; and so does what they said besides.
#[test]
fn a_person_alone_takes_back_what_a_person_said() {
    check(
        "user: We want p95 under 200 ms.
         model: So the target is p95 under 200 ms; I'll measure first.
         model: Correction: the target is p95 under 350 ms.",
        &expect![[r"
            Goals and tasks:
            - [0 user] goal: We want p95 under 200 ms.
            - [2 model] goal: Correction: the target is p95 under 350 ms. (in place of message 1: so the target is … under … ms; i'll measure first)
        "]],
    );
    check(
        "user: Give uploads a timeout of 30 seconds and downloads one of 40 seconds.
         model: The upload timeout is 30 seconds.
         user: The upload timeout is now 45 seconds.",
        &expect![[r"
            Facts:
            - [2 user] The upload timeout is now 45 seconds. (in place of message 1)
            Goals and tasks:
            - [0 user] open: Give uploads a timeout of 30 seconds and downloads one of 40 seconds.
        "]],
    );
}
