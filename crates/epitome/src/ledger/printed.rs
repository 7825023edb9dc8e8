//! Reading what a tool put out, stretch by stretch.

use super::cues::Cues;
use super::lane::{Breadth, note_of};
use super::observe::{Lead, MAX_ANSWER, MAX_BRIEF, MAX_LINE, Said, unmarked};
use super::output::{self, Standing};
use super::record;
use super::subject::Subject;
use super::words::Words;
use super::worth::{is_printed_code, worth};
use super::{Ledger, Line, Shown, Speaker};
use crate::text::cut;
use crate::text::secrets::masked;
use crate::text::split::{is_one, sentences};

/// Words of what minutes name before they say what was decided.
const MOST_NAMING: usize = 5;
/// Lines taken from one output of a tool, the first ones; and the same of those that aren't sure.
const MAX_OF_OUTPUT: usize = 24;
/// Lines of tools in all: what comes later is found by search, not by reading.
const MAX_OF_TOOLS: usize = 4_000;
/// Lines of one output that aren't sure, before more are looked for among those that are half signs; and how many of
/// these are looked at.
const MAX_BESIDES: usize = 8;
const MAX_TRIED: usize = 32;

impl Ledger {
    /// Reads the output of entry `at`.
    pub(super) fn read_output(&mut self, at: u32, shown: Shown, text: &str) {
        let (mut taken, mut besides, mut tried) = (0, 0, 0);
        let mut lead = Lead::default();
        for (stretch, standing) in output::prose(text) {
            if standing == Standing::Worded {
                tried += 1;
                if besides >= MAX_BESIDES || tried > MAX_TRIED {
                    continue;
                }
            }
            if standing == Standing::Lead {
                lead = Lead::of(stretch);
                continue;
            }
            if standing == Standing::Record {
                if taken < MAX_OF_OUTPUT && self.of_tools < MAX_OF_TOOLS {
                    let said = Said { at, who: Speaker::Tool, shown, raw: stretch, standing };
                    taken += usize::from(self.note_record(&said));
                }
                continue;
            }
            // Most is nothing as a whole.
            if is_one(stretch)
                && self.is_nothing_again(at, (Speaker::Tool, standing), stretch, &lead.cues)
            {
                continue;
            }
            let minuted = if standing == Standing::Free { minuted(stretch) } else { None };
            let mut parts =
                sentences(stretch).into_iter().map(|sentence| sentence.range).peekable();
            while let Some(mut part) = parts.next() {
                // `Does it scale? (no answer yet)` is one, and so is a row.
                let rest = parts.peek().map_or(0, |_| stretch.len() - part.end);
                let is_asked = stretch[part.clone()].ends_with('?') && rest < MAX_ANSWER;
                if let Some(end) = minuted.filter(|end| part.end < *end && part.start == 0) {
                    part.end = end;
                    while parts.next_if(|next| next.start < end).is_some() {}
                } else if rest > 0 && (standing == Standing::Row || is_asked) {
                    part.end = stretch.len();
                    parts.by_ref().for_each(drop);
                }
                let raw = &stretch[part.clone()];
                if self.is_nothing_again(at, (Speaker::Tool, standing), raw, &lead.cues) {
                    continue;
                }
                let is_said = matches!(standing, Standing::Row | Standing::Remark);
                let said = unmarked(raw);
                if !is_said && is_printed_code(said) || output::is_frame(said) {
                    continue;
                }
                if taken >= MAX_OF_OUTPUT || self.of_tools >= MAX_OF_TOOLS {
                    return;
                }
                let said = Said { at, who: Speaker::Tool, shown, raw, standing };
                let before = self.unsure;
                let breadth = if besides < MAX_OF_OUTPUT { Breadth::Any } else { Breadth::Sure };
                taken += usize::from(self.note(&said, &lead, breadth));
                besides += self.unsure - before;
            }
        }
    }

    /// Whether the record became a line.
    fn note_record(&mut self, said: &Said<'_>) -> bool {
        let Some(record) = record::read(said.raw) else { return false };
        // Fields by themselves hide what their values are to whoever masks texts.
        if masked(&record.said) != record.said {
            return false;
        }
        // What ends like a note of ours takes the place of nothing by that.
        let bare = record.said.strip_suffix(note_of(&record.said).unwrap_or_default());
        let bare = bare.unwrap_or(&record.said);
        let words = Words::of(bare);
        let cues = Cues::of(bare, &words);
        let weight = worth(bare, &words, &cues, record.kind, said.who) - said.standing.cost();
        let text = cut::one_line(&record.text, MAX_LINE);
        // Records begin alike; each is about something.
        if self.listed.contains(&text) {
            return false;
        }
        self.push(Line {
            kind: record.kind,
            shown: said.shown == Shown::InFull,
            said_in: self.reading.into_iter().collect(),
            weight,
            change: cues.change(),
            ..Line::said(said.at, said.who, said.raw.to_owned(), text, Subject::of(&words, &cues))
        })
    }
}

/// How far a line of minutes says of what it speaks, in a few words, what was decided of that, and why:
/// `Item 4. Sign-in. Resolved: passkeys. Reason: they can't be guessed.`
fn minuted(line: &str) -> Option<usize> {
    const DECIDED: [&str; 7] =
        ["resolved", "decided", "decision", "agreed", "outcome", "resolution", "verdict"];
    const WHY: [&str; 5] = ["reason", "reasons", "grounds", "rationale", "why"];
    let is_one = |part: &str, labels: &[&str]| {
        let label = part.split_once(": ").map_or("", |(label, _)| label);
        labels.iter().any(|known| label.eq_ignore_ascii_case(known))
    };
    if line.len() > MAX_BRIEF {
        return None;
    }
    let decided = line.split(". ").position(|part| is_one(part, &DECIDED)).filter(|at| *at > 0)?;
    let mut parts = line.split(". ");
    let is_brief = |part: &str| part.split(' ').count() <= MOST_NAMING;
    if !parts.by_ref().take(decided).all(is_brief) {
        return None;
    }
    let rest: Vec<&str> = parts.collect();
    let said = 1 + usize::from(rest.get(1).is_some_and(|part| is_one(part, &WHY)));
    let behind: usize = rest[said..].iter().map(|part| part.len() + ". ".len()).sum();
    Some(line.len() - behind + usize::from(behind > 0))
}

#[cfg(test)]
mod tests {
    use super::super::lane::read;
    use super::*;

    const OUTPUT: &str = "42 files scanned, 0 skipped
{
  \"name\": \"locker number\",
  \"value\": \"117\"
}
task: reconcile the supplier statements
status: blocked
needs: an approval
<Dana W.> boss wants no more than 25 loaves on bakery waste by spring
Item 4. Portal sign-in. Resolved: passkeys. Grounds: the old one had no audit trail. Never store passwords.
-petty cash float: €120
+petty cash float: €150
";
    const LISTED: [&str; 6] = [
        "- [0 tool] Never store passwords.",
        "- [0 tool] Item 4. Portal sign-in. Resolved: passkeys. Grounds: the old one had no audit trail.",
        "- [0 tool] boss wants no more than 25 loaves on bakery waste by spring",
        "- [0 tool] task: reconcile the supplier statements; status: blocked; needs: an approval",
        "- [0 tool] name: locker number; value: 117",
        "- [0 tool] petty cash float: €150 (was €120)",
    ];

    fn listed(ledger: &Ledger) -> Vec<String> {
        let lane = ledger.render(4_000);
        let mut lines: Vec<String> =
            lane.lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }

    fn observed() -> Ledger {
        let mut ledger = Ledger::default();
        ledger.observe(0, Speaker::Tool, Shown::Elsewhere, OUTPUT);
        ledger
    }

    #[test]
    fn records_chats_minutes_and_changed_fields_are_listed() {
        let mut expected = LISTED.map(str::to_owned);
        expected.sort_unstable();
        assert_eq!(listed(&observed()), expected);
    }

    #[test]
    fn no_record_shows_a_secret() {
        for output in [
            "{\"name\": \"admin password\", \"value\": \"hunter2!Xy9abc\"}",
            "name: database password\nvalue: hunter2!Xy9abc\n",
        ] {
            let mut ledger = Ledger::default();
            ledger.observe(0, Speaker::Tool, Shown::Elsewhere, output);
            assert_eq!(ledger.render(4_000), "", "{output}");
        }
    }

    #[test]
    fn of_records_of_the_same_the_last_holds() {
        let mut ledger = Ledger::default();
        for value in 117..123 {
            let output = format!("{{\"name\": \"locker number\", \"value\": {value}}}");
            ledger.observe(value, Speaker::Tool, Shown::Elsewhere, &output);
        }
        let lane = ledger.render(4_000);
        assert!(lane.contains("[122 tool] name: locker number; value: 122"), "{lane}");
    }

    #[test]
    fn a_record_is_about_the_same_when_it_is_read_back() {
        let mut next = Ledger::default();
        next.resume(std::iter::empty(), read(&observed().render(4_000)));
        next.observe(2, Speaker::Human, Shown::Elsewhere, "The locker number is 204 now.");
        let lines = listed(&next);
        let told = "- [2 user] The locker number is 204 now. (in place of message 0)";
        assert!(lines.iter().any(|line| line == told), "{lines:#?}");
    }
}
