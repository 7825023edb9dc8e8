//! Which conversation a stateless request continues: a chain of ids over its content.
//!
//! Clients re-send their whole history, and not in the same bytes: cache markers move, keys change their order, a
//! string becomes a list of one text (PROVIDERS.md B.7). So an entry's id is taken from its parsed content. A client's
//! additions for one request have no id, and entries that it rewrites with each process count by their place alone.
//!
//! Some clients clear old results and reasoning. So a link has a second id, its outline, that holds none of these.

use highway::{HighwayHash, HighwayHasher, Key};
use serde::{Deserialize, Serialize};

use super::normalize::{is_restated, is_volatile};
use super::part_path::{Spot, spots};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, canonical_json};
use crate::wire::Format;

/// The hash key. Strangers who don't know it can't make two histories look alike; who wants to find
/// sessions again in another process must keep it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainKey(pub [u64; 4]);

impl std::fmt::Debug for ChainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChainKey(..)")
    }
}

/// The id of all messages up to an entry, for one tenant and format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PrefixId(u128);

impl PrefixId {
    /// Of bytes that it was kept by, or that stand for something else that is kept there.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        PrefixId(u128::from_be_bytes(bytes))
    }

    /// Its bytes, to keep it by.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Its part among this many.
    pub(super) fn part(self, of: usize) -> usize {
        (self.0 % of as u128) as usize
    }
}

/// The links of a request: its entries, without those that are there for one request only.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    ids: Vec<PrefixId>,
    /// The same without the bodies.
    outlines: Vec<PrefixId>,
    bodies: Vec<Body>,
    entries: Vec<usize>,
    /// Instructions that stand before anything else.
    instructions: usize,
    /// Entries that clients rewrite.
    restated: Vec<usize>,
    /// How the objects of calls and results are written, and the bodies, hashed and added up to each link: members come in any
    /// order, and a provider's cache knows one of them.
    written: Vec<u64>,
}

/// The content of a link that a client may clear later: what tools gave, and reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    digest: u64,
    /// Its bytes as they are written.
    len: usize,
}

/// What a client writes where it cleared something is no longer than this.
const MOST_STUB: usize = 256;

impl Body {
    /// Whether a client that had this may have it left of `first`.
    pub(super) fn may_be_left_of(self, first: Body) -> bool {
        self == first || self.len <= first.len.max(MOST_STUB)
    }
}

impl Chain {
    /// The chain of a request's transcript.
    pub fn of(request: &Request, tenant: &str, key: ChainKey) -> Self {
        Chain::default().going_on(0, request, tenant, key)
    }

    /// The chain of a request whose first `known` entries have this one.
    pub(super) fn going_on(
        self,
        known: usize,
        request: &Request,
        tenant: &str,
        key: ChainKey,
    ) -> Self {
        let mut chain = self;
        let first = || Hash::new(key).text(tenant).text(request.format.name());
        let mut newest = chain.ids.last().copied().unwrap_or_else(|| first().id());
        let outline = chain.outlines.last().copied();
        let mut outline = outline.unwrap_or_else(|| first().text("outline").id());
        let entries = (known..request.transcript.len()).map(|at| request.transcript.entry(at));
        for entry in entries.filter(|entry| !is_volatile(*entry)) {
            let opens = chain.instructions == chain.ids.len();
            let hash = Hash::new(key).follow(outline);
            let body;
            (outline, body) = if opens && matches!(entry.role(), Role::System | Role::Developer) {
                chain.instructions += 1;
                chain.restated.push(entry.index);
                (hash.text("instructions").id(), Body::default())
            } else {
                if entry.parts().any(|part| is_restated(entry.role(), &part)) {
                    chain.restated.push(entry.index);
                }
                digest(key, hash, request.format, entry)
            };
            newest = Hash::new(key).follow(newest).follow(outline).count(body.digest).id();
            let before = chain.written.last().copied().unwrap_or(0);
            let written = before.wrapping_add(writing(key, entry)).wrapping_add(body.digest);
            chain.written.push(written);
            chain.ids.push(newest);
            chain.outlines.push(outline);
            chain.bodies.push(body);
            chain.entries.push(entry.index);
        }
        chain
    }

    /// The chain of the first `entries` entries of the request that this is the chain of.
    pub(super) fn of_first(&self, entries: usize) -> Self {
        let links = self.entries.partition_point(|at| *at < entries);
        let restated = self.restated.partition_point(|at| *at < entries);
        Chain {
            ids: self.ids[..links].to_vec(),
            outlines: self.outlines[..links].to_vec(),
            bodies: self.bodies[..links].to_vec(),
            entries: self.entries[..links].to_vec(),
            instructions: self.instructions.min(links),
            restated: self.restated[..restated].to_vec(),
            written: self.written[..links].to_vec(),
        }
    }

    /// The same of a request with one owner.
    pub(super) fn into_first(mut self, entries: usize) -> Self {
        let links = self.entries.partition_point(|at| *at < entries);
        let restated = self.restated.partition_point(|at| *at < entries);
        self.ids.truncate(links);
        self.outlines.truncate(links);
        self.bodies.truncate(links);
        self.entries.truncate(links);
        self.restated.truncate(restated);
        self.written.truncate(links);
        self.instructions = self.instructions.min(links);
        self
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id up to and with each link.
    pub fn ids(&self) -> &[PrefixId] {
        &self.ids
    }

    /// The id up to and with each link, without bodies: the same after a client cleared some.
    pub(super) fn outlines(&self) -> &[PrefixId] {
        &self.outlines
    }

    /// What a client may clear of each link.
    pub(super) fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The entry that each link is.
    pub fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// Links of instructions before anything else: their words are the client's and may change, as those of a frame do,
    /// so they don't identify a conversation.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// How the links from one to another are written, as far as that may change although they are the same links.
    pub(super) fn written(&self, links: std::ops::Range<usize>) -> u64 {
        let up_to = |link: usize| link.checked_sub(1).map_or(0, |last| self.written[last]);
        up_to(links.end).wrapping_sub(up_to(links.start))
    }

    /// Entries whose words may change although they are the same links.
    pub(super) fn restated(&self) -> &[usize] {
        &self.restated
    }
}

/// How the objects are written whose members may come in any order: without white space, in which nobody reads anything.
fn writing(key: ChainKey, entry: Entry<'_>) -> u64 {
    let is_object = |part: &Part<'_>| {
        matches!(part.kind(), PartKind::Call | PartKind::Result)
            && !part.is(Marks::LITERAL)
            && part.raw_body().starts_with('{')
    };
    entry.parts().filter(is_object).fold(0, |sum, part| {
        let bytes: Vec<u8> =
            part.raw_body().bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        sum.wrapping_add(HighwayHasher::new(Key(key.0)).hash64(&bytes))
    })
}

pub(super) struct Hash(HighwayHasher);

impl Hash {
    pub(super) fn new(key: ChainKey) -> Self {
        Hash(HighwayHasher::new(Key(key.0)))
    }

    fn follow(mut self, before: PrefixId) -> Self {
        self.0.append(&before.0.to_le_bytes());
        self
    }

    /// With its length, so that no two rows of texts read alike.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.append(&(text.len() as u64).to_le_bytes());
        self.0.append(text.as_bytes());
        self
    }

    fn count(mut self, number: u64) -> Self {
        self.0.append(&number.to_le_bytes());
        self
    }

    fn id(self) -> PrefixId {
        PrefixId(self.number())
    }

    pub(super) fn number(self) -> u128 {
        let [low, high] = self.0.finalize128();
        u128::from(high) << 64 | u128::from(low)
    }
}

/// The outline of an entry, added to `outline`, and its body, from its parsed content.
fn digest(key: ChainKey, outline: Hash, format: Format, entry: Entry<'_>) -> (PrefixId, Body) {
    let role = match entry.role() {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other => "other",
    };
    // Members of one object come in any order, so each kind of parts has its own.
    let is_said =
        |part: &Part<'_>| part.kind() != PartKind::Link && !format.dialect().is_cache_marker(part);
    let mut parts: Vec<(Spot, Part<'_>)> = spots(entry).filter(|(_, part)| is_said(part)).collect();
    parts.sort_unstable_by_key(|(spot, _)| *spot);
    let (mut outline, mut body, mut len) = (outline.text(role), None, 0);
    for (_, part) in parts {
        match part.kind() {
            _ if is_restated(entry.role(), &part) => {
                outline = outline.text("restated");
                continue;
            }
            PartKind::Result => outline = named(outline, &part),
            PartKind::Reasoning => {}
            _ if part.is(Marks::NESTED) => {}
            _ => {
                outline = content(named(outline, &part), &part);
                continue;
            }
        }
        let hash = body.take().unwrap_or_else(|| Hash::new(key));
        if format.dialect().is_replaceable_signature(&part) {
            body = Some(hash.text("seal"));
            continue;
        }
        // A list's parts follow it.
        len += if is_list(&part) { 0 } else { part.raw_body().len() };
        body = Some(content(named(hash, &part), &part));
    }
    let digest = body.map_or(0, |hash| hash.number() as u64);
    (outline.id(), Body { digest, len })
}

fn named(hash: Hash, part: &Part<'_>) -> Hash {
    let kind = match part.kind() {
        PartKind::Text => "text",
        PartKind::Reasoning => "reasoning",
        PartKind::Call => "call",
        PartKind::Result => "result",
        PartKind::Media => "media",
        PartKind::Opaque => "opaque",
        PartKind::Link => "link",
    };
    // A text's name is only that it is one, where it stands in a list.
    let name = if part.kind() == PartKind::Text { "".into() } else { part.name() };
    hash.text(kind).text(&part.id()).text(&name)
}

fn is_list(part: &Part<'_>) -> bool {
    part.kind() == PartKind::Result && part.raw_body().starts_with('[') && !part.is(Marks::SERVER)
}

fn content(hash: Hash, part: &Part<'_>) -> Hash {
    match part.kind() {
        // A string is a list of one text.
        PartKind::Result if part.is(Marks::LITERAL) => {
            hash.text("text").text("").text("").text(&part.text())
        }
        _ if is_list(part) => hash,
        PartKind::Opaque => hash.text(&canonical_json(part.raw())),
        _ if part.is(Marks::LITERAL) => hash.text(&part.text()),
        _ => hash.text(&canonical_json(part.raw_body())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse;

    fn newest(tenant: &str, messages: &str) -> Option<PrefixId> {
        let request = parse(Format::Anthropic, messages.to_owned()).expect("messages");
        Chain::of(&request, tenant, ChainKey([1, 2, 3, 4])).ids().last().copied()
    }

    #[test]
    fn writing_does_not_matter_and_content_does() {
        let plain = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"a":1,"b":2}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]"#;
        let other = r#"[{"content":[{"text":"h\u0069","type":"text","cache_control":{"type":"ephemeral"}}],"role":"user"}, {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"b":2, "a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]}]"#;
        assert_eq!(newest("", plain), newest("", other));
        assert_ne!(newest("", plain), newest("another", plain));
        assert_ne!(newest("", plain), newest("", &plain.replace("\"a\":1", "\"a\":2")));
        assert_ne!(newest("", plain), newest("", &plain.replace("\"x\"", "\"y\"")));
    }

    #[test]
    fn members_come_in_any_order() {
        let said = |members: [&str; 4]| {
            let messages = format!("[{{{}}}]", members.join(","));
            let request = parse(Format::OpenaiChat, messages).expect("messages");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4])).ids().to_vec()
        };
        let [role, words, thought, calls] = [
            r#""role":"assistant""#,
            r#""content":"Let me see.""#,
            r#""reasoning_content":"hm""#,
            r#""tool_calls":[{"function":{"arguments":"{}","name":"f"},"type":"function","id":"c"}]"#,
        ];
        assert_eq!(said([role, words, thought, calls]), said([calls, thought, words, role]));
        let other = words.replace("see", "look");
        assert_ne!(said([role, words, thought, calls]), said([role, &other, thought, calls]));
    }

    #[test]
    fn cache_points_move() {
        let said = |point: &str| {
            let text = r#"{"text":"hi"}"#;
            let messages =
                format!(r#"{{"messages":[{{"role":"user","content":[{text}{point}]}}]}}"#);
            let request = parse(Format::Bedrock, messages).expect("messages");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4])).ids().to_vec()
        };
        assert_eq!(said(""), said(r#",{"cachePoint":{"type":"default"}}"#));
        assert_ne!(said(""), said(r#",{"guardContent":{"text":{"text":"x"}}}"#));
    }

    #[test]
    fn instructions_at_the_beginning_count_by_their_place() {
        let said = |system: &str, then: &str| {
            let system = format!(r#"{{"role":"system","content":"{system}"}}"#);
            let user = |text| format!(r#"{{"role":"user","content":"{text}"}}"#);
            let messages = format!("[{system},{},{system},{}]", user("hi"), user(then));
            let request = parse(Format::OpenaiChat, messages).expect("messages");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4]))
        };
        let (one, other) = (said("It is Monday.", "go"), said("It is Tuesday.", "go"));
        assert_eq!((one.instructions(), one.len()), (1, 4));
        // What comes later was said.
        assert_eq!(one.ids()[..2], other.ids()[..2]);
        assert_ne!(one.ids()[2], other.ids()[2]);
    }

    #[test]
    fn what_gemini_cli_says_of_the_session_is_said_anew() {
        let first = |context: &str, text: &str| {
            let part = |text| format!(r#"{{"text":"{text}"}}"#);
            let parts = format!("{},{}", part(context), part(text));
            let messages = format!(r#"{{"contents":[{{"role":"user","parts":[{parts}]}}]}}"#);
            let request = parse(Format::Gemini, messages).expect("contents");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4])).ids().to_vec()
        };
        let monday = first("<session_context>Monday</session_context>", "hi");
        assert_eq!(monday, first("\\u003csession_context>Tuesday</session_context>", "hi"));
        assert_ne!(monday, first("<session_context>Monday</session_context>", "ho"));
        assert_ne!(monday, first("Monday", "hi"));
    }

    #[test]
    fn notes_for_one_request_are_no_links() {
        let said = r#"{"role":"user","content":"hi"}"#;
        let note = r#"{"role":"system","content":"<total_tokens>15000 left</total_tokens>"}"#;
        assert_eq!(newest("", &format!("[{said},{note}]")), newest("", &format!("[{said}]")));
    }

    #[test]
    fn the_first_of_a_chain_is_the_chain_of_the_first() {
        let said = [
            r#"{"role":"system","content":"x"}"#,
            r#"{"role":"developer","content":"y"}"#,
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"assistant","content":"b"}"#,
            r#"{"role":"user","content":"c"}"#,
        ];
        let chain = |entries: usize| {
            let body = format!(r#"{{"messages":[{}]}}"#, said[..entries].join(","));
            let request = parse(Format::OpenaiChat, body).expect("messages");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4]))
        };
        assert_eq!(chain(said.len()).restated(), [0, 1]);
        for entries in 0..=said.len() {
            let first = chain(entries);
            for of in [chain(said.len()).of_first(entries), chain(said.len()).into_first(entries)] {
                assert_eq!((of.ids(), of.entries()), (first.ids(), first.entries()));
                assert_eq!(of.restated(), first.restated(), "{entries}");
                assert_eq!(of.instructions(), first.instructions());
            }
            assert_eq!(first.is_empty(), entries == 0);
        }
        // Both halves of a digest count.
        assert!(chain(5).ids().iter().any(|id| id.0 >> 64 != 0));
    }

    #[test]
    fn what_is_not_known_and_what_tools_gave_count_as_a_whole() {
        let newest = |format: Format, list: &str, message: &str| {
            let request = parse(format, format!(r#"{{"{list}":[{message}]}}"#)).expect("messages");
            Chain::of(&request, "", ChainKey([1, 2, 3, 4])).ids().to_vec()
        };
        let gave = |value: u8| {
            let response = format!(r#"{{"name":"f","response":{{"a":1,"b":{value}}}}}"#);
            let part = format!(r#"{{"role":"user","parts":[{{"functionResponse":{response}}}]}}"#);
            newest(Format::Gemini, "contents", &part)
        };
        assert_ne!(gave(1), gave(2));
        let ran = |logs: &str| {
            let outputs = format!(r#"[{{"type":"logs","logs":"{logs}"}}]"#);
            let item = format!(
                r#"{{"type":"code_interpreter_call","id":"ci_1","code":"1","outputs":{outputs}}}"#
            );
            newest(Format::OpenaiResponses, "input", &item)
        };
        assert_ne!(ran("x"), ran("y"));
        let compacted = |by: &str| {
            let item = format!(
                r#"{{"type":"compaction","encrypted_content":"c2ln","created_by":"{by}"}}"#
            );
            newest(Format::OpenaiResponses, "input", &item)
        };
        assert_ne!(compacted("one"), compacted("another"));
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", ChainKey([1, 2, 3, 4])), "ChainKey(..)");
    }
}
