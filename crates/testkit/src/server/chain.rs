//! Reasoning bound to what stood before it (PROVIDERS.md B.1.4, B.2.5).
//!
//! A signature holds a digest of everything before the block, reasoning apart, a link to the reasoning block
//! before it, its model's generation, and a digest of its own words. So an earlier edit breaks it, appending
//! doesn't, and neither does leaving out a leading run of reasoning, because the first block that is left needn't
//! have one before it. A compaction by the provider is signed with the state that it stands for, so that what is
//! kept behind it still fits.

use serde_json::Value;

use super::digest::{self, Digest};

/// Hexadecimal digits are legal base64 too, which is what SDKs take a signature for.
const REASONING: &str = "e91703";
const COMPACTION: &str = "c0a9ac";
/// Digits of the parts of a signature, in order.
const MARK: usize = 6;
const RANK: usize = 2;
const OWNER: usize = 8;
const OWN: usize = 8;
const PREFIX: usize = 32;
const LINK: usize = 24;
const SEAL: usize = 16;
const LEN: usize = MARK + RANK + OWNER + OWN + PREFIX + LINK + SEAL;

/// What becomes of signatures that nobody here made, such as those of real recordings, and of blocks, items and members
/// of a request that nobody here knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strangers {
    /// They are refused, as they are by a provider.
    #[default]
    Refused,
    /// They are good wherever they stand: a provider may know them by now.
    Welcome,
}

/// Who reads.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Organisation and API, of which only they themselves read the reasoning.
    pub owner: &'a str,
    /// Generation of the model: it reads the reasoning of its own and of earlier ones.
    pub rank: u8,
    /// Signatures of others.
    pub strangers: Strangers,
}

/// A conversation as far as it was read.
#[derive(Clone, Debug)]
pub struct Chain {
    owner: Digest,
    rank: u8,
    strangers: Strangers,
    /// What stands before all messages.
    frame: Digest,
    prefix: Digest,
    last: Option<String>,
}

/// Why a signature isn't good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Nobody here made it.
    Invalid,
    /// It was made here, but not for these words.
    Edited,
    /// It belongs to another organisation.
    Foreign,
    /// A later generation of models made it.
    Newer,
    /// It is good, but what stands before it is something else.
    Elsewhere,
}

impl Chain {
    /// The beginning of a conversation: what stands before every message.
    pub fn new(reader: Reader<'_>, frame: &[&Value]) -> Self {
        let Reader { owner, rank, strangers } = reader;
        let frame = frame.iter().fold([0; 16], |before, value| digest::after(before, value));
        Self { owner: digest::of_text(owner), rank, strangers, frame, prefix: frame, last: None }
    }

    /// Something was said that isn't reasoning.
    pub fn say(&mut self, role: &str, what: &Value) {
        self.prefix = digest::after(digest::after_text(self.prefix, role), what);
    }

    /// Signs reasoning that is said now.
    pub fn sign(&mut self, words: &str) -> String {
        let link = self.link().unwrap_or_else(|| "0".repeat(LINK));
        let signature = self.sealed(REASONING, words, &digest::hex(&self.prefix, 16), &link);
        self.last = Some(signature.clone());
        signature
    }

    /// Reads reasoning that was said here, with its signature.
    pub fn read(&mut self, words: &str, signature: &str) -> Result<(), Broken> {
        let link = self.link();
        if self.strangers == Strangers::Welcome && !signature.starts_with(REASONING) {
            self.last = Some(signature.to_owned());
            return Ok(());
        }
        let parts = self.opened(REASONING, words, signature)?;
        self.last = Some(signature.to_owned());
        if u8::from_str_radix(parts.rank, 16).is_ok_and(|rank| rank > self.rank) {
            return Err(Broken::Newer);
        }
        let is_linked = link.is_none_or(|link| parts.link == link);
        if parts.prefix == digest::hex(&self.prefix, 16) && is_linked {
            Ok(())
        } else {
            Err(Broken::Elsewhere)
        }
    }

    /// Signs a summary of everything so far, which stands for it from now on.
    pub fn compact(&mut self, words: &str) -> String {
        let frame = digest::hex(&self.frame, LINK / 2);
        let signature = self.sealed(COMPACTION, words, &digest::hex(&self.prefix, 16), &frame);
        self.last = None;
        signature
    }

    /// Reads such a summary: what follows it was said behind what it stands for.
    pub fn resume(&mut self, words: &str, signature: &str) -> Result<(), Broken> {
        if self.strangers == Strangers::Welcome && !signature.starts_with(COMPACTION) {
            self.begin_behind(signature);
            return Ok(());
        }
        let parts = self.opened(COMPACTION, words, signature)?;
        self.last = None;
        self.prefix = if parts.link == digest::hex(&self.frame, LINK / 2) {
            digest::of_hex(parts.prefix)
        } else {
            // Tools or system are others now: nothing from before fits any more.
            digest::after_text(self.frame, signature)
        };
        Ok(())
    }

    /// The same for a summary that nobody signed.
    pub fn begin_behind(&mut self, words: &str) {
        self.prefix = digest::after_text(self.frame, words);
        self.last = None;
    }

    fn link(&self) -> Option<String> {
        self.last.as_deref().map(|last| digest::hex(&digest::of_text(last), LINK / 2))
    }

    fn sealed(&self, mark: &str, words: &str, prefix: &str, link: &str) -> String {
        let owner = digest::hex(&self.owner, OWNER / 2);
        let own = digest::hex(&digest::of_text(words), OWN / 2);
        let head = format!("{mark}{:02x}{owner}{own}{prefix}{link}", self.rank);
        let seal = digest::hex(&digest::after_text(self.owner, &head), SEAL / 2);
        format!("{head}{seal}")
    }

    fn opened<'a>(&self, mark: &str, words: &str, signature: &'a str) -> Result<Parts<'a>, Broken> {
        let is_hex = signature.bytes().all(|byte| byte.is_ascii_hexdigit());
        if signature.len() != LEN || !is_hex || !signature.starts_with(mark) {
            return Err(Broken::Invalid);
        }
        let mut rest = signature;
        let mut take = |len: usize| {
            let (part, tail) = rest.split_at(len);
            rest = tail;
            part
        };
        let (_, rank, owner, own) = (take(MARK), take(RANK), take(OWNER), take(OWN));
        let (prefix, link, seal) = (take(PREFIX), take(LINK), take(SEAL));
        if owner != digest::hex(&self.owner, OWNER / 2) {
            return Err(Broken::Foreign);
        }
        let head = &signature[..LEN - SEAL];
        if seal != digest::hex(&digest::after_text(self.owner, head), SEAL / 2) {
            return Err(Broken::Invalid);
        }
        if own != digest::hex(&digest::of_text(words), OWN / 2) {
            return Err(Broken::Edited);
        }
        Ok(Parts { rank, prefix, link })
    }
}

/// What a signature says.
struct Parts<'a> {
    rank: &'a str,
    prefix: &'a str,
    link: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ELSEWHERE: Result<(), Broken> = Err(Broken::Elsewhere);

    fn reader(owner: &str, rank: u8) -> Reader<'_> {
        Reader { owner, rank, strangers: Strangers::Refused }
    }

    fn chain() -> Chain {
        Chain::new(reader("org", 1), &[&json!("system"), &json!([])])
    }

    /// u1 [t1] a1 u2 [t2] a2, as it was said.
    fn said() -> (String, String) {
        let mut chain = chain();
        chain.say("user", &json!("u1"));
        let first = chain.sign("t1");
        chain.say("assistant", &json!("a1"));
        chain.say("user", &json!("u2"));
        (first, chain.sign("t2"))
    }

    fn read(u1: &str, first: Option<&str>, second: &str) -> [Result<(), Broken>; 2] {
        let mut chain = chain();
        chain.say("user", &json!(u1));
        let one = first.map_or(Ok(()), |first| chain.read("t1", first));
        chain.say("assistant", &json!("a1"));
        chain.say("user", &json!("u2"));
        [one, chain.read("t2", second)]
    }

    #[test]
    fn what_was_said_reads_well() {
        let (first, second) = said();
        assert_eq!(read("u1", Some(&first), &second), [Ok(()), Ok(())]);
        assert_eq!(first.len() % 4, 0, "base64 is read in fours");
    }

    #[test]
    fn an_earlier_edit_breaks_everything_behind() {
        let (first, second) = said();
        assert_eq!(read("edited", Some(&first), &second), [ELSEWHERE, ELSEWHERE]);
    }

    #[test]
    fn a_leading_run_of_reasoning_may_be_left_out() {
        let (_, second) = said();
        assert_eq!(read("u1", None, &second)[1], Ok(()));
    }

    #[test]
    fn a_block_from_the_middle_may_not() {
        let begin = || {
            let mut chain = chain();
            chain.say("user", &json!("u1"));
            chain
        };
        let mut whole = begin();
        let [first, second, third] = ["t1", "t2", "t3"].map(|words| whole.sign(words));
        let mut in_order = begin();
        for (words, signature) in [("t1", &first), ("t2", &second), ("t3", &third)] {
            assert_eq!(in_order.read(words, signature), Ok(()));
        }
        let mut without = begin();
        assert_eq!(without.read("t1", &first), Ok(()));
        assert_eq!(without.read("t3", &third), ELSEWHERE);
    }

    #[test]
    fn strange_signatures_and_edited_words_are_refused() {
        let (first, _) = said();
        let mut chain = chain();
        chain.say("user", &json!("u1"));
        assert_eq!(chain.read("other words", &first), Err(Broken::Edited));
        assert_eq!(chain.read("t1", "EqQBCkYIBxgCKkD"), Err(Broken::Invalid));
        let seal = if first.ends_with('0') { "1" } else { "0" };
        let forged = format!("{}{seal}", &first[..LEN - 1]);
        assert_eq!(chain.read("t1", &forged), Err(Broken::Invalid));
        let mut other = Chain::new(reader("another", 1), &[]);
        assert_eq!(other.read("t1", &first), Err(Broken::Foreign));
    }

    #[test]
    fn an_earlier_generation_does_not_read_a_later_one() {
        let at = |rank| Chain::new(reader("org", rank), &[]);
        let newer = at(2).sign("t");
        assert_eq!(at(1).read("t", &newer), Err(Broken::Newer));
        assert_eq!(at(2).read("t", &newer), Ok(()));
        assert_eq!(at(2).read("t", &at(1).sign("t")), Ok(()));
    }

    #[test]
    fn what_follows_a_compaction_still_fits() {
        let mut whole = chain();
        whole.say("user", &json!("u1"));
        let block = whole.clone().compact("summary");
        whole.say("assistant", &json!("kept"));
        let kept = whole.sign("t");

        let mut behind = chain();
        assert_eq!(behind.resume("summary", &block), Ok(()));
        behind.say("assistant", &json!("kept"));
        assert_eq!(behind.read("t", &kept), Ok(()));

        let mut changed = Chain::new(reader("org", 1), &[&json!("another system"), &json!([])]);
        assert_eq!(changed.resume("summary", &block), Ok(()));
        changed.say("assistant", &json!("kept"));
        assert_eq!(changed.read("t", &kept), ELSEWHERE);
        assert_eq!(chain().resume("another summary", &block), Err(Broken::Edited));
    }
}
