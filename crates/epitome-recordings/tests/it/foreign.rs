//! Formats of others: each is called by its name, with what can be read instead.

use epitome_recordings::{OpenError, open};
use expect_test::expect_file;
use testkit::page;

use crate::LAST;

fn told(text: &str) -> String {
    match open(text.as_bytes().to_vec(), None, LAST) {
        Err(OpenError::Foreign { what, instead }) => format!("{what}\n{instead}"),
        Err(OpenError::Wrapped { what, instead }) => format!("{what}\n{instead}"),
        Err(other) => other.to_string(),
        Ok(_) => "read".to_owned(),
    }
}

#[test]
fn each_is_called_by_its_name() {
    page::check(&expect_file!["foreign.txt"], |case| told(&case.given));
}

#[test]
fn a_stream_of_events_is_a_reply() {
    for stream in [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: [DONE]\n",
    ] {
        let what = told(stream);
        assert!(what.starts_with("a provider's reply as a stream of events\n"), "{what}");
    }
}
