//! The neutral form: messages, and what formats have in common in saying them.

use std::borrow::Cow;

use epitome::transcript::Origin;
use epitome::wire::json::{Scanner, quote, unquote};

use crate::object::joined;
use crate::usage::Counted;

/// How most agents introduce media of results where a result can't hold them.
pub(super) const ATTACHED: &str = "Attached image(s) from tool result:";

/// A JSON literal or value.
pub(crate) type Raw<'a> = Cow<'a, str>;

/// What is around the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame<'a> {
    /// The model's name, a literal.
    pub(crate) model: Option<Raw<'a>>,
    /// The system prompt, a literal.
    pub(crate) system: Option<Raw<'a>>,
    /// The tools that the model may call.
    pub(crate) tools: Vec<Tool<'a>>,
    /// How the agent introduces media of results where a result can't hold them, if not by [`ATTACHED`].
    pub(crate) attached: Option<&'static str>,
    /// When each message was said, as far as that is known, in milliseconds since 1970.
    pub(crate) times: Vec<Option<u64>>,
}

impl<'a> Frame<'a> {
    /// The tools' definitions as a list; `None` if there are none.
    pub(super) fn tools(&self, definition: impl Fn(&Tool<'a>) -> String) -> Option<String> {
        let all: Vec<String> = self.tools.iter().map(definition).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(",")))
    }
}

/// A tool's definition.
#[derive(Clone, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: Raw<'a>,
    pub(crate) description: Option<Raw<'a>>,
    /// The schema of its arguments, an object.
    pub(crate) parameters: Raw<'a>,
}

impl Tool<'_> {
    /// The definition, under the name that a format has for the schema.
    pub(super) fn defined(&self, schema: &str) -> String {
        let described = self
            .description
            .as_ref()
            .map_or_else(String::new, |description| format!(",\"description\":{description}"));
        format!("\"name\":{}{described},\"{schema}\":{}", self.name, self.parameters)
    }
}

/// What was said in one go.
#[derive(Clone, Debug)]
pub(crate) enum Message<'a> {
    /// In the user's role.
    User(Vec<Spoken<'a>>),
    /// By the model; with what the provider reported.
    Model(Vec<Piece<'a>>, Option<Counted<'a>>),
    /// The results of the model's calls, in a row.
    Results(Vec<Answer<'a>>),
}

impl<'a> Message<'a> {
    /// A message in the user's role by one speaker.
    pub(crate) fn user(
        pieces: impl IntoIterator<Item = Piece<'a>>,
        origin: Option<Origin>,
    ) -> Self {
        Message::User(pieces.into_iter().map(|piece| Spoken { piece, origin }).collect())
    }
}

/// Puts a result behind those of the same reply.
pub(crate) fn answer<'a>(messages: &mut Vec<Message<'a>>, answer: Answer<'a>) {
    match messages.last_mut() {
        Some(Message::Results(answers)) => answers.push(answer),
        _ => messages.push(Message::Results(vec![answer])),
    }
}

/// A piece of a message in the user's role, and who says it, if the recording knows.
#[derive(Clone, Debug)]
pub(crate) struct Spoken<'a> {
    pub(crate) piece: Piece<'a>,
    pub(crate) origin: Option<Origin>,
}

/// A piece of a message.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'a> {
    Text(Raw<'a>),
    Reasoning(Reasoning<'a>),
    Call(Call<'a>),
    Media(Media<'a>),
}

/// The model's reasoning.
#[derive(Clone, Debug)]
pub(crate) struct Reasoning<'a> {
    pub(crate) text: Raw<'a>,
    /// What the provider wants back with it: a signature; of OpenAI's Responses the item, of its
    /// compatibles the member's name or the details.
    pub(crate) signature: Option<Raw<'a>>,
    /// Whether there is nothing but the signature.
    pub(crate) is_redacted: bool,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    /// Of OpenAI's Responses, the call's id and that of its item, with a bar between.
    pub(crate) id: Raw<'a>,
    pub(crate) name: Raw<'a>,
    /// An object.
    pub(crate) arguments: Raw<'a>,
    /// What the provider wants back with it.
    pub(crate) signature: Option<Raw<'a>>,
}

/// A tool call's result.
#[derive(Clone, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: Raw<'a>,
    /// The tool's name.
    pub(crate) name: Raw<'a>,
    /// Texts and media.
    pub(crate) content: Vec<Piece<'a>>,
    pub(crate) is_error: bool,
}

/// An image, or a document.
#[derive(Clone, Debug)]
pub(crate) struct Media<'a> {
    pub(crate) media_type: Raw<'a>,
    /// In base64.
    pub(crate) data: Raw<'a>,
}

impl<'a> Media<'a> {
    /// What an address holds, if it does (`data:image/png;base64,…`).
    pub(crate) fn in_address(literal: &str) -> Option<Media<'a>> {
        let address = unquote(literal);
        let (media_type, data) = address.strip_prefix("data:")?.split_once(";base64,")?;
        Some(Media { media_type: quote(media_type).into(), data: quote(data).into() })
    }

    pub(super) fn is_image(&self) -> bool {
        unquote(&self.media_type).starts_with("image/")
    }

    /// An address that holds it.
    pub(super) fn address(&self) -> String {
        quote(&format!("data:{};base64,{}", unquote(&self.media_type), unquote(&self.data)))
    }
}

/// Whether a text says anything; most providers take no blank ones.
pub(super) fn says_something(literal: &str) -> bool {
    !unquote(literal).trim().is_empty()
}

/// The texts of a content as one literal.
pub(super) fn text_of(content: &[Piece<'_>]) -> String {
    let texts = content.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    let mut lines = Vec::new();
    for text in texts {
        if !lines.is_empty() {
            lines.push("\"\\n\"");
        }
        lines.push(text);
    }
    joined(lines)
}

/// Whether there are media in a content.
pub(super) fn shows_media(content: &[Piece<'_>]) -> bool {
    content.iter().any(|piece| matches!(piece, Piece::Media(_)))
}

/// The text of a result without one.
pub(super) const SEE_MEDIA: &str = "(see attached image)";

/// Whether a text is JSON.
pub(super) fn is_json(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.value().and_then(|_| scanner.end()).is_ok()
}

/// An id with nothing in it but what all providers take, and not longer than that.
pub(super) fn plain_id(literal: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let id = unquote(literal);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.len() <= LONGEST && id.chars().all(is_plain) {
        return Cow::Borrowed(literal);
    }
    let plain = id.chars().map(|c| if is_plain(c) { c } else { '_' });
    Cow::Owned(quote(&plain.take(LONGEST).collect::<String>()))
}
