//! A checkpoint after some of what it stood for is shown after all: its lanes stay, and it says how much isn't shown now.

use super::{Checkpoint, Following, Form, Gathered, WORDS, fenced, head, unfenced, words};
use crate::count::{TokenCounter, message_tokens};
use crate::transcript::ContentId;

impl Checkpoint {
    /// The same without `shown`, entries of nothing but words that it doesn't quote; `following` is as [`Gathered::follow`]
    /// has it then. It takes as many tokens, but for its numbers and its fence.
    pub(crate) fn sparing(
        self,
        shown: &[usize],
        following: Option<Following>,
        gathered: &mut Gathered,
        counter: &dyn TokenCounter,
    ) -> Checkpoint {
        let heads = [Form::Full, Form::Brief, Form::Line].map(|form| (form, head(gathered, form)));
        gathered.spare(shown);
        gathered.follow(following);
        let words = gathered.words().len();
        let missing = words.saturating_sub(self.words_kept + self.words_in_part);
        let Some(text) = unfenced(&self.text).and_then(|body| {
            let (form, before) = heads.iter().find(|(_, head)| body.starts_with(head.as_str()))?;
            let rest = renoted(&body[before.len()..], self.words_missing(), missing);
            Some(fenced(&format!("{}{rest}", head(gathered, *form))))
        }) else {
            return self;
        };
        let (id, tokens) = (ContentId::of_text(&text), message_tokens(&text, counter));
        Checkpoint { id, tokens, text: text.into(), words, ..self }
    }
}

/// The lanes with another number of messages that aren't quoted.
fn renoted(lanes: &str, before: usize, now: usize) -> String {
    let note = |missing| if missing == 0 { String::new() } else { words::note(missing) };
    let behind = lanes.strip_prefix(WORDS).map_or(lanes, |quotes| words::read(quotes).1);
    let Some(rest) = behind.strip_prefix(note(before).as_str()) else { return lanes.to_owned() };
    format!("{}{}{rest}", &lanes[..lanes.len() - behind.len()], note(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_say_how_many_messages_are_not_quoted() {
        let quote = "[message 3, 27 bytes]\n(2 of the user's messages)\n\n";
        let lanes = |missing: &str| {
            format!("{WORDS}{quote}{missing}## What holds\nFacts:\n- [3 user] It is so.\n")
        };
        let (two, one) = (words::note(2), words::note(1));
        assert_eq!(renoted(&lanes(&two), 2, 1), lanes(&one));
        assert_eq!(renoted(&lanes(&two), 2, 0), lanes(""));
        assert_eq!(renoted(&format!("{two}## What holds\n"), 2, 0), "## What holds\n");
        assert_eq!(renoted(&two, 2, 1), one);
        assert_eq!(renoted("## What holds\n", 1, 0), "## What holds\n");
    }
}
