//! What was found to break a rule, and how it is mended.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::clean::Past;
use super::repair::leaves_nothing;
use super::rules::RuleId;
use super::{strays, strict};
use crate::json::Span;
use crate::request::Request;
use crate::transcript::{Entry, Slot};

/// How a breach is mended: by no more than the offending parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mend {
    /// Only the author can.
    Nothing,
    /// The part leaves (its entry too, if it was the last).
    DropPart(Slot),
    /// The entry leaves.
    DropEntry,
    /// A made-up result for the call is put where its result belongs.
    Answer(Slot),
    /// The result is moved to where its call's results belong.
    MoveResult {
        /// The result.
        result: Slot,
        /// The call that it answers.
        call: Slot,
    },
    /// The result is moved before all else that its turn says.
    Lead(Slot),
    /// The id literals are replaced.
    Rename {
        /// The call and, if there is one, its result.
        slots: Vec<Slot>,
        /// The fresh id.
        to: String,
    },
    /// The call's tool gets this name.
    CallTool {
        /// The call.
        slot: Slot,
        /// The name.
        name: String,
    },
    /// The text, or the medium, gets this type.
    Retype {
        /// The part.
        slot: Slot,
        /// The type.
        to: String,
    },
    /// The payload is replaced by this JSON.
    Rewrite {
        /// The part.
        slot: Slot,
        /// The new payload.
        json: String,
    },
    /// The part is replaced by this JSON.
    Replace(Slot, String),
    /// A result gets the name and id of the call that it answers.
    Label {
        /// The result.
        result: Slot,
        /// The call's name.
        name: String,
        /// The call's id, where it is to be written.
        id: Option<String>,
    },
    /// A result gets the id of the call that it answers.
    Claim {
        /// The result.
        result: Slot,
        /// The call's id.
        id: String,
    },
    /// The call gets the signature of calls that the model didn't make.
    Sign(Slot),
    /// The entry's parts are put behind those of this earlier entry of the same side.
    Join {
        /// The first entry of the run.
        into: usize,
    },
    /// The tools that were called are defined.
    DefineTools,
    /// The cache marker, a member at these bytes of the request, is left out.
    Unmark(Span),
    /// A member, at these bytes of the request, is left out.
    LeaveOut(Span),
    /// The value at these bytes of the request is replaced by this JSON.
    Overwrite {
        /// The value.
        value: Span,
        /// What takes its place.
        json: String,
    },
    /// A member is put first into the object at these bytes of the request.
    AddMember {
        /// The object.
        holder: Span,
        /// The member.
        member: String,
    },
    /// The cache marker's time to live, at these bytes of the request, becomes the shorter one.
    Shorten(Span),
    /// A note in the user's role is put before the entry.
    LeadIn,
    /// The entry's role becomes the user's.
    SpeakAsUser,
}

/// A breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// Index of the offending entry; 0 for what stands around the entries.
    pub entry: usize,
    /// Where around the entries the breach is: the path of a member of the body, such as `tools[1].name`.
    pub member: Option<String>,
    /// The offending part, where it is one.
    pub slot: Option<Slot>,
    /// What was found: ids, roles.
    pub detail: String,
    /// How to mend it.
    pub mend: Mend,
}

impl Finding {
    /// Where it is, as a path into the body.
    pub fn place(&self) -> String {
        place(self.member.as_deref(), self.entry)
    }

    /// A breach in a frame member that cannot be repaired automatically.
    pub(super) fn of_member(rule: RuleId, member: &str, detail: impl Into<String>) -> Self {
        let member = Some(member.to_owned());
        Finding { rule, entry: 0, member, slot: None, detail: detail.into(), mend: Mend::Nothing }
    }

    /// What an entry, or a part of it, breaks.
    pub(super) fn of_entry(
        rule: RuleId,
        entry: usize,
        slot: Option<Slot>,
        detail: impl Into<String>,
        mend: Mend,
    ) -> Self {
        Finding { rule, entry, member: None, slot, detail: detail.into(), mend }
    }

    /// What a part breaks and only its author can mend.
    pub(super) fn of_part(
        rule: RuleId,
        entry: usize,
        slot: Slot,
        detail: impl Into<String>,
    ) -> Self {
        Finding::of_entry(rule, entry, Some(slot), detail, Mend::Nothing)
    }
}

/// The path of a member around the entries, or else of an entry.
pub(super) fn place(member: Option<&str>, entry: usize) -> String {
    match member {
        None => format!("messages[{entry}]"),
        Some("") => "the body".to_owned(),
        Some(path) => path.to_owned(),
    }
}

/// What becomes of an entry whose role isn't known.
pub(super) fn stranger(entry: Entry<'_>) -> Mend {
    let speaks = entry.raw().starts_with('{') && entry.parts().next().is_some();
    if speaks { Mend::Nothing } else { Mend::DropEntry }
}

/// What becomes of a part that isn't right: another takes its place, if it says anything.
pub(super) fn replaced(slot: Slot, meant: Option<String>) -> Mend {
    meant.map_or(Mend::DropPart(slot), |json| Mend::Replace(slot, json))
}

/// The breach of a request without any message.
pub(super) fn nothing_said(request: &Request, rule: RuleId) -> Option<Finding> {
    let list = request.format.list();
    let finding = || Finding::of_member(rule, list, format!("`{list}` is empty"));
    request.transcript.is_empty().then(finding)
}

/// All breaches of the format's rules, in entry order.
pub fn check(request: &Request) -> Vec<Finding> {
    check_except(request, &[])
}

/// All breaches but those of the rules that are waived, for a provider or gateway that is known to be laxer.
pub fn check_except(request: &Request, waived: &[RuleId]) -> Vec<Finding> {
    let mut findings = check_structure(request, waived);
    // A part that another repair rewrites is judged after it.
    if findings.iter().all(|found| found.mend == Mend::Nothing) {
        findings.extend(
            strict::characters(request).into_iter().filter(|found| !waived.contains(&found.rule)),
        );
        findings.sort_by_key(|finding| (finding.entry, finding.slot));
    }
    findings
}

/// The same, but for the characters of the body.
pub(super) fn check_structure(request: &Request, waived: &[RuleId]) -> Vec<Finding> {
    let mut findings = request.format.dialect().check(request, &Past::default());
    strays::keep(request, &mut findings);
    findings.retain(|finding| !waived.contains(&finding.rule));
    spare_last(request, &mut findings);
    findings.sort_by_key(|finding| (finding.entry, finding.slot));
    findings
}

/// Where all that was said would leave, nothing does: what is left would be no request.
fn spare_last(request: &Request, findings: &mut [Finding]) {
    let drops =
        |finding: &&mut Finding| matches!(finding.mend, Mend::DropEntry | Mend::DropPart(_));
    let dropping = findings.iter_mut().filter(drops).count();
    if dropping < request.transcript.len() || !leaves_nothing(request, findings) {
        return;
    }
    for finding in findings.iter_mut().filter(drops) {
        finding.mend = Mend::Nothing;
    }
}

/// Ids in use, each with the number to try next behind it.
pub(super) type Taken = HashMap<String, usize>;

/// An id that isn't in use, of letters that all providers take: the old one, or `call` if there is none, with a
/// number behind it.
pub(super) fn fresh_id(old: &str, taken: &mut Taken) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let old: String = old.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let old = if old.is_empty() { "call" } else { old.as_str() };
    let mut number = taken.get(old).map_or(2, |next| *next);
    while taken.contains_key(&format!("{old}_{number}")) {
        number += 1;
    }
    let fresh = format!("{old}_{number}");
    taken.insert(old.to_owned(), number + 1);
    taken.insert(fresh.clone(), 2);
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_keep_what_is_plain_and_count_on() {
        let mut taken = Taken::new();
        taken.insert("a_2".to_owned(), 2);
        let mut fresh = |old| fresh_id(old, &mut taken);
        assert_eq!(fresh("a-1_b"), "a-1_b_2");
        assert_eq!(fresh("c.d e"), "c_d_e_2");
        assert_eq!(fresh("a"), "a_3", "a_2 is somebody else's");
        assert_eq!(fresh("a"), "a_4");
        assert_eq!(fresh("a_2"), "a_2_2");
        assert_eq!([fresh(""), fresh("")], ["call_2", "call_3"]);
    }
}
