//! Reading what was said, sentence by sentence.

use std::collections::HashSet;
use std::mem::take;

use super::behind::{JUST, wants_value, words};
use super::cues::Cues;
use super::judge::{self, judge};
use super::lane::{Breadth, LEAST_BESIDES, note_of};
use super::language::{Cue, english};
use super::lists::List;
use super::newer::{Gives, gives};
use super::noise::is_noise;
use super::output::{self, Standing};
use super::pasted::pasted;
use super::statement;
use super::subject::Subject;
use super::update::{MOST_BRIEF, Update};
use super::words::Words;
use super::worth::{is_code, is_printed_code};
use super::{Change, Kind, Ledger, Line, Shown, Speaker};
use crate::text::split::{Kind as Place, Sentence, sentences};
use crate::text::telling::{Tell, tell};
use crate::text::{STUB, begins_with_one, cut};

/// Longer sentences are cut at their end.
pub(super) const MAX_LINE: usize = 320;
/// Sentences longer than this are no statements but dumps.
const MAX_SENTENCE: usize = 1_200;
/// Longer lines before a list speak of more than its items.
const MAX_LEAD: usize = 60;
/// In a longer message each sentence says by itself what it is about.
pub(super) const MAX_BRIEF: usize = 200;
/// What stands behind a sentence that only says what isn't so, and is no longer, says what is.
const MAX_PUT_RIGHT: usize = 60;
/// Words of a question that only names something, and one more; and of what is put in the place of something, likewise.
const MOST_NAMING: usize = 8;
const MOST_PUT: usize = 5;
/// Longer labels are sentences.
const MAX_LABEL: usize = 40;
/// So much behind a question belongs to it.
pub(super) const MAX_ANSWER: usize = 80;
/// Bytes of one text that are read from either end; and of a person's.
const WINDOW: usize = 48 * 1024;
const PERSONS: usize = 256 * 1024;
/// Lines in all that aren't sure, of all but persons.
const MAX_UNSURE: usize = 4_000;

/// What an answer to the question before it begins with.
const ANSWERS: [&str; 6] = ["answered", "answer", "resolved", "the answer", "yes", "no"];
/// What the reason of the decision before it begins with.
const REASONS: [&str; 8] = [
    "because",
    "reason",
    "rationale",
    "why",
    "that's because",
    "this is because",
    "the reason",
    "that is because",
];

impl Ledger {
    /// Reads what `who` said at entry `at`; `shown` says whether the entry is shown in full, so that
    /// its lines needn't be listed. Entries come in the order they were said.
    pub fn observe(&mut self, at: u32, who: Speaker, shown: Shown, text: &str) {
        // What stands for a result says nothing itself.
        if who == Speaker::Tool && begins_with_one(text, &[STUB, "[no result: "]) {
            return;
        }
        if who == Speaker::Human && self.resuming.is_none() && self.heard[1] != Some(at) {
            self.heard = [self.heard[1], Some(at)];
        }
        let window = if who == Speaker::Human { PERSONS } else { WINDOW };
        if text.len() <= 2 * window {
            return self.read(at, who, shown, text);
        }
        // A value that is cut is another one.
        let ends = |c: char| c == '\n' || c == ' ';
        let (head, tail) = (cut::head(text, window), cut::tail(text, window));
        self.read(at, who, shown, &head[..head.rfind('\n').or(head.rfind(ends)).unwrap_or(0)]);
        let from = tail.find('\n').or(tail.find(ends)).unwrap_or(tail.len());
        self.read(at, who, shown, &tail[from..]);
    }

    fn read(&mut self, at: u32, who: Speaker, shown: Shown, text: &str) {
        if who == Speaker::Tool {
            return self.read_output(at, shown, text);
        }
        let mut lead = Lead::default();
        let mut asked = None;
        // Where the sentence before begins, if it names something and gives no value of it.
        let mut named: Option<usize> = None;
        let is_brief = matches!(who, Speaker::Human | Speaker::Model) && text.len() < MAX_BRIEF;
        let parts = sentences(text);
        let shown_only = if who == Speaker::Human { pasted(text) } else { Vec::new() };
        let is_pasted = |at: usize| {
            let next = shown_only.partition_point(|range| range.end <= at);
            shown_only.get(next).is_some_and(|range| range.contains(&at))
        };
        if who == Speaker::Model && wants_value(text, &parts) {
            self.asked = Some(at);
        }
        let often = if who == Speaker::Model { labels_again(text, &parts) } else { HashSet::new() };
        let mut parts = parts.into_iter().peekable();
        while let Some(sentence) = parts.next() {
            let mut raw = &text[sentence.range.clone()];
            // `Who signs it? Answered: Dana.` is one, and `The lease? M-2043.`
            if let Some(question) = asked.take().filter(|from| {
                answers(raw)
                    || raw.len() < MAX_PUT_RIGHT && names(&text[*from..sentence.range.start])
                    || raw.trim_end_matches('.').ends_with(" there")
                    || self.is_asked(&text[*from..sentence.range.start])
            }) {
                raw = &text[question..sentence.range.end];
            }
            asked = raw.ends_with('?').then_some(sentence.range.start);
            // `About the upload limit. It's 40 MB now.` is one, too.
            if is_brief && sentence.kind == Place::Prose {
                let before = named.take();
                // What is denied may be what the model asked, not what was said.
                let puts = |said: &str| words(said).count() < MOST_PUT && !self.is_asked_at(at);
                let is_denied =
                    before.is_some_and(|from| denies(text[from..sentence.range.start].trim_end()));
                match gives(raw) {
                    // `Not Nadia. Lorenz.` is one, too.
                    Gives::Subject | Gives::Both if is_denied && puts(raw) => {
                        raw = &text[before.unwrap_or(sentence.range.start)..sentence.range.end];
                    }
                    // `Not 20. It's 30.` is one, too.
                    _ if before.is_none() && denies(raw) => {
                        named = Some(sentence.range.start);
                        if parts.peek().is_some_and(|next| puts(&text[next.range.clone()])) {
                            continue;
                        }
                    }
                    Gives::Subject => named = Some(sentence.range.start),
                    Gives::Value => {
                        raw = &text[before.unwrap_or(sentence.range.start)..sentence.range.end];
                    }
                    Gives::Both => {}
                }
            }
            let mut standing = Standing::Free;
            match sentence.kind {
                Place::Code => continue,
                Place::Row => {
                    let Some(row) = output::row(raw) else { continue };
                    (raw, standing) = (row, Standing::Row);
                }
                Place::Heading => {
                    lead = if raw.len() < MAX_LEAD { Lead::of(raw) } else { Lead::default() };
                    continue;
                }
                Place::Prose if raw.ends_with(':') && raw.len() < MAX_LEAD => lead = Lead::of(raw),
                Place::Prose if !lead.is_heading => lead = Lead::default(),
                Place::Prose | Place::Item => {}
            }
            let who = if is_pasted(sentence.range.start) { Speaker::Injected } else { who };
            if self.is_nothing_again(at, (who, standing), raw, &lead.cues) {
                continue;
            }
            // What somebody else said.
            let is_others = begins_with_one(raw, &[">", "➜", "❯", "$ ", "% "])
                || output::is_frame(unmarked(raw));
            // `No, 9021.` is all that somebody says.
            let is_all = who == Speaker::Human && text.len() < MAX_LEAD;
            let least = if is_all { 4 } else { 10 };
            if raw.len() > MAX_SENTENCE || raw.len() < least || is_others {
                continue;
            }
            if is_code(raw) && put_right(raw).is_none() {
                continue;
            }
            // `Price: $280` under each of several offers: of what, only its place tells.
            if label(raw).is_some_and(|label| often.contains(&label)) {
                continue;
            }
            self.note(&Said { at, who, shown, raw, standing }, &lead, Breadth::Any);
        }
    }

    /// Whether the model asked for something right before message `at`: what is denied there may be its question's.
    fn is_asked_at(&self, at: u32) -> bool {
        self.asked.is_some_and(|asked| asked < at && at - asked <= JUST)
    }

    /// Whether the sentence became a line.
    pub(super) fn note(&mut self, said: &Said<'_>, lead: &Lead, breadth: Breadth) -> bool {
        let mut words = take(&mut self.words);
        // What ends like a note of ours takes the place of nothing by that.
        let bare = said.raw.strip_suffix(note_of(said.raw).unwrap_or_default()).unwrap_or(said.raw);
        let put_right = put_right(bare);
        let bare = put_right.as_deref().unwrap_or(bare);
        words.read(unmarked(bare));
        if words.known(1).owning.iter().any(|verb| words.follows(1, verb).is_some())
            && !words.is(0, List::Pronouns)
        {
            words.name_first();
        }
        let mut cues = Cues::of(bare, &words);
        cues.lead(&lead.cues);
        self.again.is_nothing = said.standing == Standing::Worded;
        let is_line = said.standing != Standing::Worded && self.takes(said, &words, &cues);
        if !is_line && breadth == Breadth::Any {
            self.keep_besides(said, &words, &cues);
            self.remember_nothing(said.at, (said.who, said.standing), said.raw, &lead.cues);
        }
        self.words = words;
        is_line
    }

    /// Keeps what none of the phrases tells, if it says something.
    fn keep_besides(&mut self, said: &Said<'_>, words: &Words, cues: &Cues) {
        let Said { at, who, shown, raw, standing } = *said;
        if self.unsure >= MAX_UNSURE && who < Speaker::Human {
            return;
        }
        let mut worth =
            statement::worth(raw, words, cues, who).map(|worth| worth - standing.cost() / 2);
        // Of what a printer puts between signs the phrases tell no kind, but that it says how far something is.
        let is_task = || judge(raw, words, cues, who).is_some_and(|said| said.kind.is_task());
        if standing == Standing::Worded
            && worth.is_some_and(|worth| worth < LEAST_BESIDES)
            && is_task()
        {
            worth = Some(LEAST_BESIDES);
        }
        // What corrects something needn't be worth anything by itself.
        let may_correct = words.len() < MOST_BRIEF
            && (who == Speaker::Human && cues.has(Cue::Value) || cues.change() >= Change::Said);
        let worth = worth.filter(|worth| *worth >= LEAST_BESIDES);
        if worth.is_none() && !may_correct {
            return;
        }
        let bare = unmarked(raw);
        let text = cut::one_line(bare, MAX_LINE);
        // What comes again and again isn't looked at any more, whatever it is.
        if who == Speaker::Tool && self.is_boilerplate(&text) {
            self.again.is_nothing = false;
            return;
        }
        let is_shown = || is_printed_code(bare) || is_anchored(bare);
        if is_noise(bare, who) || who == Speaker::Tool && is_shown() {
            return;
        }
        self.again.is_nothing = false;
        if self.listed.contains(&text) {
            return;
        }
        let subject = Subject::of(words, cues);
        // A person's value is worth something in however few words, if they say of what.
        let is_named = who == Speaker::Human && cues.has(Cue::Value) && subject.words > 0;
        let weight = worth.unwrap_or(if is_named { LEAST_BESIDES } else { 0 });
        self.push(Line {
            shown: shown == Shown::InFull,
            said_in: self.reading.into_iter().collect(),
            weight,
            change: cues.change(),
            is_sure: false,
            ..Line::said(at, who, raw.to_owned(), text, subject)
        });
    }

    /// Whether what is in the words makes a line.
    fn takes(&mut self, said: &Said<'_>, words: &Words, cues: &Cues) -> bool {
        let Said { at, who, shown, raw, standing } = *said;
        if self.belongs_to_last(at, raw, words) {
            return true;
        }
        let judged = judge(raw, words, cues, who);
        // Most say nothing: no look at what they are about.
        let may_change = cues.change() >= Change::Said
            || self.withdrawn
            || cues.has(Cue::Labels)
            || cues.is_brief_change(words);
        let is_brief = words.len() < MOST_BRIEF
            && cues.has(Cue::Value)
            && (who == Speaker::Human || cues.gone.is_some())
            && !judge::asks(raw);
        if judged.is_none() && !may_change && !is_brief || is_noise(unmarked(raw), who) {
            self.again.is_nothing = !self.withdrawn;
            return false;
        }
        let subject = Subject::of(words, cues);
        let mut change = cues.change();
        let meant = (is_brief && change < Change::OfLast)
            .then(|| self.corrected(at, who, raw, &subject, cues))
            .flatten();
        if cues.is_brief_change(words) && !subject.has_topic {
            change = Change::OfLast;
        }
        if self.withdrawn && change < Change::OfLast {
            change = Change::OfLast;
        }
        self.withdrawn = change == Change::OfLast && words.len() < 4 && !cues.has(Cue::Value);
        // `Sorry, I meant lower case.` is whatever was said before it.
        let verdict = judged.or_else(|| {
            let kind = self
                .last
                .filter(|(_, said)| change == Change::OfLast && self.is_recent((at, who), *said))
                .map(|(line, _)| self.lines[line].kind)?;
            (words.len() > 1 && who >= Speaker::Model && words.len() < 16)
                .then(|| judge::Verdict::of(kind, who))
        });
        // `Not 20 Hz, 30 Hz.` is whatever said 20 Hz.
        let verdict =
            meant.map_or(verdict, |(old, _)| Some(judge::Verdict::of(self.lines[old].kind, who)));
        let known = verdict.is_some();
        if !(known || change >= Change::Said || cues.has(Cue::Labels)) {
            return false;
        }
        let verdict = verdict.unwrap_or(judge::Verdict::of(Kind::Fact, who));
        // A comment's values are the code's.
        let rules = matches!(verdict.kind, Kind::Constraint | Kind::Decision)
            && (cues.has(Cue::Social) || cues.count > 1);
        let is_open = verdict.kind == Kind::Open && cues.has(Cue::Boxed);
        if standing == Standing::Comment && !rules && !is_open {
            return false;
        }
        let text = cut::one_line(unmarked(raw), MAX_LINE);
        if self.listed.contains(&text) {
            return true;
        }
        let line = Line {
            kind: verdict.kind,
            shown: shown == Shown::InFull,
            said_in: self.reading.into_iter().collect(),
            weight: verdict.weight
                - if cues.has(Cue::Boxed) { standing.cost() / 3 } else { standing.cost() },
            change,
            alone: known,
            ..Line::said(at, who, raw.to_owned(), text, subject)
        };
        // What says nothing by itself may still take something back, or answer it.
        if !known && !matches!(self.update(&line), Update::Replaces(_) | Update::Corrects(_)) {
            return false;
        }
        if self.is_boilerplate(&line.text) && line.who == Speaker::Tool {
            return false;
        }
        // What names its subject means that.
        let meant = meant.filter(|_| {
            matches!(self.update(&line), Update::New | Update::Touches(_) | Update::Corrects(_))
        });
        match meant {
            Some((old, naming)) => {
                let old = self.said_first(&line, old);
                self.correct(line, old, naming)
            }
            None => self.push(line),
        }
    }

    /// Whether the sentence only says why the one before it was decided, or answers it; it is said with
    /// that one then.
    fn belongs_to_last(&mut self, at: u32, raw: &str, words: &Words) -> bool {
        let Some(line) = self.last.filter(|(_, said)| *said == at).map(|(line, _)| line) else {
            return false;
        };
        let starts = |phrases: &[&str]| {
            words.len() > 2 && phrases.iter().any(|start| words.matches(0, start).is_some())
        };
        let (answers, reasons) = match self.lines[line].kind {
            Kind::Question => (starts(&ANSWERS), false),
            Kind::Decision | Kind::Constraint | Kind::Preference => (false, starts(&REASONS)),
            _ => return false,
        };
        if !(answers || reasons) {
            return false;
        }
        let line = &mut self.lines[line];
        let text = format!("{} {}", line.text, cut::one_line(raw, MAX_LINE));
        if text.len() > 2 * MAX_LINE {
            return false;
        }
        line.text = text;
        line.at = at;
        if answers {
            line.kind = Kind::Fact;
        }
        true
    }
}

/// Whether the anchors and telling lines say it: how a run went.
fn is_anchored(line: &str) -> bool {
    matches!(tell(line), Tell::Difference | Tell::Warning | Tell::Total | Tell::Failure)
}

/// The labels that stand before a value more than once.
fn labels_again(text: &str, parts: &[Sentence]) -> HashSet<String> {
    let mut seen = HashSet::new();
    let labels = parts.iter().filter_map(|part| label(&text[part.range.clone()]));
    labels.filter(|label| !seen.insert(label.clone())).collect()
}

/// What an item's value is called: `Price: $280`, `**Flight 2:** LAS to IAH`; numbers apart.
fn label(raw: &str) -> Option<String> {
    let (label, value) = unmarked(raw).split_once(':')?;
    let value = value.trim_matches(['*', ' ']);
    let is_short = label.len() < MAX_LABEL && !value.is_empty() && value.len() < MAX_LABEL;
    let label: String = label.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect();
    (is_short && !english().has(List::Kinds, &label)).then_some(label)
}

/// An item without its bullet or number.
pub(super) fn unmarked(item: &str) -> &str {
    if item.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        return item;
    }
    let Some((mark, rest)) = item.split_once(' ') else { return item };
    let is_number = mark.len() < 4
        && mark.ends_with(['.', ')'])
        && mark.trim_end_matches(['.', ')']).bytes().all(|b| b.is_ascii_digit());
    if matches!(mark, "-" | "*" | "+" | "•" | "–") || is_number {
        rest.trim_start()
    } else {
        item
    }
}

impl Standing {
    /// What a line is worth less for standing so.
    pub(super) fn cost(self) -> i32 {
        match self {
            Self::Comment => 15,
            Self::Remark | Self::Worded => 8,
            Self::Row | Self::Record => 2,
            Self::Free | Self::Lead => 0,
        }
    }
}

/// Whether a sentence only says what isn't so.
fn denies(sentence: &str) -> bool {
    let start = cut::head(sentence, 5).to_ascii_lowercase();
    start.starts_with("not ") || start.starts_with("no, ")
}

/// `s/45 days/21 days/`, as who corrects himself writes, in words.
fn put_right(text: &str) -> Option<String> {
    let mut parts = text.strip_prefix("s/")?.splitn(3, '/');
    let (old, new, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let is_one = |part: &str| !part.trim().is_empty() && part.len() < MAX_PUT_RIGHT;
    (is_one(old) && is_one(new) && rest.len() < 3).then(|| format!("Not {old}, {new}."))
}

/// Whether a question only names a thing: `The tenancy contact?`
fn names(question: &str) -> bool {
    let is = |list: List| move |word: &String| english().has(list, word);
    let all: Vec<String> = words(question).collect();
    let begins = all.first().is_some_and(|word| is(List::Articles)(word) || word == "my");
    begins && all.len() > 1 && all.len() < MOST_NAMING && !all.iter().any(is(List::Predicates))
}

fn answers(sentence: &str) -> bool {
    let start = cut::head(sentence, 12).to_ascii_lowercase();
    ["answered", "answer:", "answer is", "a:"].iter().any(|mark| start.starts_with(mark))
}

/// A sentence, and how it was said.
pub(super) struct Said<'t> {
    pub(super) at: u32,
    pub(super) who: Speaker,
    pub(super) shown: Shown,
    pub(super) raw: &'t str,
    pub(super) standing: Standing,
}

/// What stands before a list, or above it.
#[derive(Default)]
pub(super) struct Lead {
    pub(super) cues: Cues,
    is_heading: bool,
}

impl Lead {
    pub(super) fn of(text: &str) -> Self {
        let bare = text.trim_start_matches('#');
        Self { cues: Cues::of(bare, &Words::of(bare)), is_heading: bare.len() < text.len() }
    }
}
