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
