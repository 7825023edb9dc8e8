//! A session request by request, as its agent sent it.
//!
//! A recording holds messages, not requests; each model call was sent with all messages before it.

use epitome::Request;
use epitome::transcript::Role;
use epitome::view::{Fate, Reason, View};
use epitome::wire;

/// For each request the number of entries that were in it: all that stood before a call of the model,
/// and the last ones if the model hasn't answered them.
pub fn requests(session: &Request) -> Vec<usize> {
    let roles: Vec<Role> = session.transcript.entries().map(|entry| entry.role()).collect();
    let is_models = |at: usize| roles.get(at) == Some(&Role::Assistant);
    let starts = (1..roles.len()).filter(|at| is_models(*at) && !is_models(at - 1));
    let rest = roles.last().filter(|role| **role != Role::Assistant).map(|_| roles.len());
    starts.chain(rest).collect()
}

/// The session when it had so many entries.
pub fn first(session: &Request, entries: usize) -> Request {
    let mut view = View::default();
    for at in 0..session.transcript.len() {
        view.push(if at < entries { Fate::Keep } else { Fate::Drop(Reason::OneRequest) });
    }
    let body = wire::render(session, &view);
    wire::parse(session.format, body).expect("spliced JSON is JSON of the same format")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Request {
        let body = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}]}"#;
        wire::detect(body.to_owned()).expect("a request")
    }

    #[test]
    fn each_call_of_the_model_is_a_request() {
        assert_eq!(requests(&session()), [2, 5]);
        assert_eq!(requests(&first(&session(), 4)), [2]);
        assert_eq!(requests(&first(&session(), 0)), [0_usize; 0]);
    }

    #[test]
    fn a_request_is_the_beginning_of_the_session() {
        let early = first(&session(), 2);
        assert!(
            early.source().ends_with(r#"{"role":"user","content":"a"}]}"#),
            "{}",
            early.source()
        );
    }
}
