//! What differs between formats in writing messages, and what doesn't.

use super::message::{Answer, Frame, Message, Piece, Spoken};
use crate::body::Body;

/// A format's words for messages.
pub(super) trait Wording {
    /// The members around the messages.
    fn frame(&self, frame: &Frame<'_>) -> Body;
    /// How a message in the user's role begins, up to its elements.
    fn opening(&self) -> &'static str;
    /// A piece as an element of a message; `None` if the format can't say it there.
    fn element(&self, piece: &Piece<'_>) -> Option<String>;
    /// A message in the user's role of these elements, which are some.
    fn user(&self, body: &mut Body, _spoken: &[Spoken<'_>], elements: &[String]) {
        body.listed(self.opening(), elements);
    }
    /// The messages of a reply, if it says anything.
    fn reply(&self, body: &mut Body, frame: &Frame<'_>, pieces: &[Piece<'_>]);
    /// The messages of results.
    fn results(&self, body: &mut Body, frame: &Frame<'_>, answers: &[Answer<'_>]);
}

/// The text of a request.
pub(super) fn body(to: &dyn Wording, frame: &Frame<'_>, messages: &[Message<'_>]) -> Body {
    let mut body = to.frame(frame);
    let times = frame.times.iter().copied().chain(std::iter::repeat(None));
    for (message, time) in messages.iter().zip(times) {
        body.now(time);
        match message {
            Message::User(spoken) => user(to, &mut body, spoken),
            Message::Model(pieces, usage) => {
                let before = body.len();
                to.reply(&mut body, frame, pieces);
                let said = body.len() - before;
                body.reported(said, usage.filter(|_| said > 0));
            }
            Message::Results(answers) => to.results(&mut body, frame, answers),
        }
    }
    body
}

/// Writes what can be said, and tells who says it.
fn user(to: &dyn Wording, body: &mut Body, spoken: &[Spoken<'_>]) {
    let said = spoken.iter().filter_map(|one| Some((to.element(&one.piece)?, one.origin)));
    let (elements, origins): (Vec<String>, Vec<_>) = said.unzip();
    if elements.is_empty() {
        return;
    }
    to.user(body, spoken, &elements);
    for (part, origin) in origins.into_iter().enumerate() {
        if let Some(origin) = origin {
            body.part_spoken_by(part, origin);
        }
    }
}
