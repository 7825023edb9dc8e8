//! Messages that are an object of a role and a list: what Anthropic, Gemini and Bedrock have in common.

use super::openai_chat::row;
use super::origin;
use crate::json::{JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, Origin, PartKind, PartRow, Role};

/// How a format spells a message.
#[derive(Clone, Copy)]
pub(super) struct Spelling {
    /// The member that holds the parts.
    pub(super) content: &'static str,
    /// Reads that member's value.
    pub(super) read: fn(&mut Scanner<'_>, &mut Vec<PartRow>) -> Result<(), JsonError>,
    /// The name of a role; empty if it has none.
    pub(super) role: fn(&str) -> Role,
}

/// The roles of Anthropic and Bedrock.
pub(super) fn plain_role(name: &str) -> Role {
    match name {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::Other,
    }
}

/// Reads a message and says who speaks in its parts.
pub(super) fn read(
    spelling: Spelling,
    scanner: &mut Scanner<'_>,
    parts: &mut Vec<PartRow>,
) -> Result<Role, JsonError> {
    if scanner.peek() != Some(b'{') {
        let span = scanner.value()?;
        parts.push(row(PartKind::Opaque, span, span));
        return Ok(Role::Other);
    }
    let text = scanner.text();
    let mut role = Span::NONE;
    scanner.object(|scanner, key| {
        match unquote(key.of(text)).as_ref() {
            "role" => role = scanner.value()?,
            key if key == spelling.content => {
                // The last of duplicate keys wins.
                parts.clear();
                (spelling.read)(scanner, parts)?;
            }
            _ => {
                scanner.value()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    let role = (spelling.role)(unquote(role.of(text)).as_ref());
    for part in parts.iter_mut() {
        part.origin = match role {
            _ if part.kind == PartKind::Result || part.marks.has(Marks::NESTED) => Origin::Tool,
            Role::User if part.kind == PartKind::Text => origin::of_user_text(part.body.of(text)),
            Role::User => Origin::Human,
            Role::Assistant => Origin::Model,
            _ => Origin::Injected,
        };
    }
    Ok(role)
}
