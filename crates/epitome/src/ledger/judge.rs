//! What a sentence is: by its cues, by who says it, and by how it stands there.

use std::ops::Range;

use super::cues::Cues;
use super::finished::is_outcome;
use super::language::Cue;
use super::lists::List;
use super::words::{Form, Words};
use super::worth::worth;
use super::{Change, Kind, Speaker};

/// Words of a sentence within which it says what something is taken for.
const MOST_TAKEN: usize = 12;
/// Words of one that only puts right what was said, and one more; and among which one says that something is begun.
const MOST_PUT_RIGHT: usize = 10;
/// Words behind a verb that says what something is, of which one is its value.
const MOST_BEFORE_VALUE: usize = 2;
const MOST_BEGUN: usize = 4;

/// What became of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) kind: Kind,
    /// More is worth more of the budget.
    pub(super) weight: i32,
}

impl Verdict {
    /// What is only known by what it is about.
    pub(super) fn of(kind: Kind, who: Speaker) -> Self {
        Self { kind, weight: kind.weight() + who.weight() }
    }
}

/// Judges a sentence; `None` if it is none of what a ledger holds.
pub(super) fn judge(text: &str, words: &Words, cues: &Cues, who: Speaker) -> Option<Verdict> {
    let trimmed = without_tag(text.trim_end());
    let headline = trimmed.starts_with("**")
        && trimmed.trim_end_matches(|c: char| !c.is_ascii()).trim_end().ends_with("**");
    // `Token data: verified**`, the end of one.
    let headline = headline || trimmed.ends_with("**") && trimmed.matches("**").count() == 1;
    if words.len() < 2 + usize::from(!cues.has(Cue::Labels))
        || headline
        || trimmed.ends_with(':')
        || (who != Speaker::Human && cues.has(Cue::Meddles))
    {
        return None;
    }
    let asks = asks(trimmed);
    let is_answer =
        !asks && cues.has(Cue::Answers) && words.find("whether").is_some() && !is_open(words);
    let as_found = |kind| match kind {
        Kind::Done if tells_what_it_found(trimmed, words, cues) => Kind::Fact,
        Kind::Done | Kind::Underway if gives_value(words, cues) => Kind::Fact,
        kind => kind,
    };
    let kind = match who {
        _ if is_answer || answers_itself(trimmed) => Some(Kind::Fact),
        Speaker::Human | Speaker::System => of_authority(cues, words, asks).map(as_found),
        Speaker::Model => of_model(cues, words, asks).map(as_found),
        Speaker::Tool | Speaker::Injected => of_others(cues, words, asks)
            .map(as_found)
            .filter(|kind| who != Speaker::Tool || !is_outcome(*kind, trimmed, words, cues)),
    }?;
    let weight = worth(trimmed, words, cues, kind, who);
    Some(Verdict { kind, weight })
}

/// `Checked the sheet: it lists 40 under upload size.`
fn tells_what_it_found(text: &str, words: &Words, cues: &Cues) -> bool {
    words.is(0, List::Looked)
        && cues.has(Cue::Value)
        && text.split_once(": ").is_some_and(|(_, found)| found.contains(' '))
}

/// `What I have so far: the guest count is 61 people`; not `lot 22 is done`, `it is 80 % done`, `it is on Monday`, nor what
/// begins with what was done: `I've fixed the timeout; it's 30 s now`.
fn gives_value(words: &Words, cues: &Cues) -> bool {
    let is_value = |at: usize| {
        let is_exact = words.get(at).is_some_and(|word| word.form.is_value());
        is_exact && !words.is(at, List::Months) && !words.low(at).ends_with("day")
    };
    let gives = |link: &Range<usize>| {
        let within = |most: usize| link.end..words.len().min(link.end + most);
        let is_share = |at: usize| words.low(at).contains('%') || words.is(at, List::Finished);
        link.start > 0
            && within(MOST_BEFORE_VALUE).any(is_value)
            && !within(2 * MOST_BEFORE_VALUE).any(is_share)
    };
    let begins =
        matches!(words.low(0), "i" | "i've" | "i'm" | "we" | "we've" | "we're" | "started");
    !begins && !cues.any(&[Cue::Boxed, Cue::Reported]) && cues.links.iter().any(gives)
}

/// Whether it ends as a question does, whatever stands behind the mark: `?!`, `?"`, `?)`.
pub(super) fn asks(text: &str) -> bool {
    const BEHIND: [char; 11] = ['!', '"', '\'', ')', ']', '”', '’', '»', '*', '_', '`'];
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || BEHIND.contains(&c));
    end.ends_with(['?', '？'])
}

/// `Does it scale? Answered: no.`
pub(super) fn answers_itself(text: &str) -> bool {
    // Few ask.
    if memchr::memchr(b'?', text.as_bytes()).is_none() {
        return false;
    }
    let behind = text.split_once("? ").map_or("", |(_, behind)| behind);
    let behind = behind.trim_start_matches(['|', '-', '—', '→', '(', ' ']).as_bytes();
    let starts = ["answer", "resolved", "yes, ", "no, ", "a: "];
    starts.iter().any(|start| {
        behind.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start.as_bytes()))
    })
}

/// Without a question that only asks for assent.
fn without_tag(text: &str) -> &str {
    let tags = [
        ", ok?",
        ", okay?",
        ", right?",
        ", please?",
        ", yes?",
        ", alright?",
        ", got it?",
        ", deal?",
        ", agreed?",
    ];
    let tag = tags.iter().find(|tag| {
        let start = text.len().checked_sub(tag.len());
        start.is_some_and(|start| text.as_bytes()[start..].eq_ignore_ascii_case(tag.as_bytes()))
    });
    tag.map_or(text, |tag| &text[..text.len() - tag.len()])
}

/// Whether something is said to have been done, not how it is: `is done`, `✅`, `Fixed the test`.
fn is_reported(words: &Words) -> bool {
    words.any(List::Reports)
        || words.is(0, List::DoneAlone)
        || words.is(words.len().saturating_sub(1), List::DoneAlone)
}

fn state(cues: &Cues, words: &Words) -> Option<Kind> {
    if cues.has(Cue::Blocked) {
        Some(Kind::Blocked)
    } else if cues.has(Cue::Underway) {
        Some(Kind::Underway)
    } else if cues.has(Cue::Open) {
        Some(Kind::Open)
    } else if cues.has(Cue::Done) && (cues.any(&[Cue::Boxed, Cue::Reported]) || is_reported(words))
    {
        Some(Kind::Done)
    } else {
        None
    }
}

/// Persons and system text: what they demand counts.
fn of_authority(cues: &Cues, words: &Words, asks: bool) -> Option<Kind> {
    let forbids = cues.has(Cue::Forbids)
        || (cues.has(Cue::Negates) && (cues.has(Cue::Commands) || cues.has(Cue::Ought)));
    if asks {
        let request = ["can you", "could you", "would you", "will you", "please"]
            .iter()
            .any(|said| words.find(said).is_some());
        let taste = cues.any(&[Cue::Prefers, Cue::Picks, Cue::Demands]) && !cues.has(Cue::Done);
        return match request {
            true if taste => Some(Kind::Preference),
            true => (words.len() > 5).then_some(Kind::Open),
            // What somebody asks the model is answered at once.
            false => (cues.has(Cue::Asks) || is_plain_question(words)).then_some(Kind::Question),
        };
    }
    if cues.has(Cue::Boxed) && state(cues, words).is_some() {
        return state(cues, words);
    }
    if cues.has(Cue::Done) && words.find("off").is_some() && !forbids {
        return Some(Kind::Done);
    }
    if cues.has(Cue::Lifts) {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Picks) && cues.has(Cue::Because) && cues.has(Cue::Social) && !forbids {
        return Some(Kind::Decision);
    }
    if cues.has(Cue::Asks) && is_undecided(words) {
        return Some(Kind::Question);
    }
    if cues.has(Cue::Asks) && !forbids && !cues.has(Cue::Decides) && !tells_news(cues) {
        return Some(Kind::Question);
    }
    if cues.has(Cue::Prefers) && !cues.any(&[Cue::Forbids, Cue::Decides]) {
        return Some(Kind::Preference);
    }
    // `That one's stale, 30 since Thursday` tells a value, not how far something is.
    let of_last = cues.change() == Change::OfLast && words.len() < MOST_PUT_RIGHT;
    let corrects = cues.has(Cue::Value) && of_last || cues.has(Cue::Labels) && tells_news(cues);
    if corrects && !forbids && !cues.any(&[Cue::Decides, Cue::Demands, Cue::Boxed]) {
        return Some(Kind::Fact);
    }
    // `Dana is porting it, so stay away`; not `never while it is being ported`.
    let warns = ["never", "don't", "do", "please", "no"].contains(&words.low(0));
    let goes_on = cues.any(&[Cue::Underway, Cue::Blocked]) && !cues.has(Cue::Open);
    if goes_on && !warns && !cues.any(&[Cue::Lasts, Cue::Decides]) {
        return state(cues, words);
    }
    if forbids && !(cues.has(Cue::Decides) && cues.has(Cue::Because)) {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Decides) {
        return Some(Kind::Decision);
    }
    let demands = cues.has(Cue::Demands)
        || (cues.has(Cue::Lasts)
            && (cues.has(Cue::Commands) || cues.any(&[Cue::Ought, Cue::Picks])))
        || (cues.has(Cue::Bounds) && (cues.has(Cue::Commands) || cues.has(Cue::Ought)));
    if demands {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Aims) && !cues.any(&[Cue::Blocked, Cue::Underway, Cue::Open]) {
        // What it takes the place of says whether it is one.
        return Some(if tells_news(cues) { Kind::Fact } else { Kind::Goal });
    }
    if cues.any(&[Cue::Blocked, Cue::Underway, Cue::Open])
        || (cues.has(Cue::Done) && !cues.links.is_empty())
    {
        return state(cues, words);
    }
    let numbered =
        words.iter().any(|(at, word, _)| word.form.is_value() || words.is(at, List::Numbers));
    if numbered
        && (cues.has(Cue::Labels) || cues.any(&[Cue::Changes, Cue::Links, Cue::Bounds]))
        && !cues.has(Cue::Commands)
    {
        return Some(Kind::Fact);
    }
    if cues.has(Cue::Commands) && cues.has(Cue::Picks) {
        return Some(Kind::Preference);
    }
    if cues.has(Cue::Commands) || cues.has(Cue::Ought) {
        return Some(
            if cues.has(Cue::Ought) && !cues.has(Cue::Commands) && words.find("must").is_some() {
                Kind::Constraint
            } else {
                Kind::Open
            },
        );
    }
    // `Go on.`
    state(cues, words).filter(|_| words.len() > 3 || cues.has(Cue::Value))
}

/// Whether it says what is so now: `Who owns billing changed, it's Dana` asks nothing.
fn tells_news(cues: &Cues) -> bool {
    cues.change() >= Change::Said && cues.has(Cue::Value)
}

/// Whether it is said that something isn't decided, in words of decisions.
fn is_undecided(words: &Words) -> bool {
    ["whether", "to be decided", "undecided", "not decided", "to decide", "to be determined"]
        .iter()
        .any(|said| words.find(said).is_some())
}

/// Whether it says that nobody knows, in words of answers and decisions.
fn is_open(words: &Words) -> bool {
    ["to be decided", "to be determined", "undecided", "unclear", "nobody has", "no one has"]
        .iter()
        .any(|said| words.find(said).is_some())
}

/// What the model says to get on with it, or to be polite.
fn is_talk(cues: &Cues, words: &Words) -> bool {
    match words.low(0) {
        "oh" | "ok" | "okay" | "wait" | "hmm" | "ah" | "perfect" | "great" | "excellent"
        | "good" => {
            let corrects = cues.has(Cue::Anew) && cues.has(Cue::Value);
            !corrects && !cues.any(&[Cue::Forbids, Cue::Decides])
        }
        // `To change it, I'll first need to look`.
        "to" => words.find("i'll").is_some() && !cues.has(Cue::Decides),
        "but" => words.find("i want").is_some(),
        "let's" | "now" | "first" | "next" => cues.has(Cue::Probes),
        "i'll" | "i" | "i'm" => {
            let bounds = cues.has(Cue::Bounds) && cues.has(Cue::Value);
            cues.has(Cue::Demands) && !cues.any(&[Cue::Forbids, Cue::Prefers]) && !bounds
        }
        _ => cues.has(Cue::Courts),
    }
}

/// Whether it says at once that something is begun: `I've begun filing it`, `I'm in the middle of it`.
fn begins_underway(words: &Words) -> bool {
    const SAID: [&str; 6] =
        ["begun", "started", "halfway", "in the process of", "in the middle of", "working on"];
    (1..MOST_BEGUN).any(|at| SAID.iter().any(|said| words.matches(at, said).is_some()))
}

/// Whether it says what it takes for something: `I'll work with the old gym as the rehearsal room`.
fn takes_as(words: &Words) -> bool {
    let is_as = |at: usize| {
        let is_named = words.get(at + 2).is_some();
        is_named && words.low(at) == "as" && words.is(at + 1, List::Articles)
    };
    let takes = matches!(words.low(1), "work" | "go" | "use" | "take" | "treat" | "keep" | "stick");
    words.low(0) == "i'll" && takes && (3..words.len().min(MOST_TAKEN)).any(is_as)
}

/// The model: it decides, finds and reports, and announces a good deal.
fn of_model(cues: &Cues, words: &Words, asks: bool) -> Option<Kind> {
    if takes_as(words) && !asks {
        return Some(Kind::Fact);
    }
    let announces = cues.announces.is_some_and(|at| at < 3)
        || words.find("let me").is_some()
        || words.low(0) == "i'll"
            && !cues.any(&[Cue::Forbids, Cue::Bounds, Cue::Decides, Cue::Prefers])
        || is_talk(cues, words);
    let bounds = cues.has(Cue::Bounds) && cues.has(Cue::Value);
    let rules = bounds || cues.any(&[Cue::Forbids, Cue::Decides, Cue::Blocked, Cue::Prefers]);
    if announces && (is_talk(cues, words) || !rules) {
        return None;
    }
    if asks {
        let is_real = cues.has(Cue::Asks) || is_plain_question(words);
        return is_real.then_some(Kind::Question);
    }
    if cues.has(Cue::Boxed) && state(cues, words).is_some() {
        return state(cues, words);
    }
    if cues.has(Cue::Lifts) && (cues.has(Cue::Social) || cues.has(Cue::Changes)) {
        return Some(Kind::Constraint);
    }
    // `I've begun filing it`, whatever else is said of it.
    let tells_state = matches!(words.low(0), "i've" | "i'm" | "i") && begins_underway(words);
    if tells_state && !cues.any(&[Cue::Forbids, Cue::Decides]) {
        return Some(Kind::Underway);
    }
    // `It took longer than I thought, but it's done` limits nothing.
    let is_report = cues.has(Cue::Blocked) || cues.has(Cue::Done) && is_reported(words);
    if cues.has(Cue::Bounds)
        && cues.has(Cue::Value)
        && (cues.has(Cue::Commands) || cues.has(Cue::Ought) || !cues.links.is_empty())
        && !cues.has(Cue::Decides)
        && !is_report
    {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Asks) && is_undecided(words) {
        return Some(Kind::Question);
    }
    // `Got it, I'll steer clear of it` says whose rule it is.
    let vows = || words.find("i'll").is_some();
    let never = cues.has(Cue::Forbids)
        && (cues.count > 1 || cues.has(Cue::Social) || cues.has(Cue::Commands) || vows());
    let negated = cues.has(Cue::Negates) && words.find("must").or(words.find("should")).is_some();
    if (never || negated) && !cues.has(Cue::Decides) {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Decides) {
        return Some(Kind::Decision);
    }
    if cues.has(Cue::Prefers) {
        return Some(Kind::Preference);
    }
    if cues.has(Cue::Asks) && !tells_news(cues) {
        return Some(Kind::Question);
    }
    if cues.has(Cue::Demands)
        || (cues.has(Cue::Lasts) && cues.has(Cue::Ought) && cues.has(Cue::Social))
    {
        return Some(Kind::Constraint);
    }
    // `I can't benchmark it until we have the key` waits.
    let aims = cues.has(Cue::Aims) && !cues.has(Cue::Blocked);
    if aims && (cues.has(Cue::Social) || !cues.links.is_empty()) {
        return Some(Kind::Goal);
    }
    if let Some(state) = state(cues, words) {
        return Some(state);
    }
    fact(cues, words)
}

/// `Should interns sign?`; nothing that is asked of the reader, and no heading of a manual.
fn is_plain_question(words: &Words) -> bool {
    let begins = |at: &usize| {
        let first = *at == 0
            || words.get(at - 1).is_some_and(|word| matches!(word.after, ':' | '|' | '.' | '—'));
        first && words.is(*at, List::AskFirst)
    };
    let Some(start) = (0..words.len()).find(begins) else { return false };
    words.len() > start + 4 && !(start..words.len()).any(|at| words.is(at, List::Readers))
}

/// Tools, and notes that agents put in: only what reads like prose, and says it itself.
fn of_others(cues: &Cues, words: &Words, asks: bool) -> Option<Kind> {
    if words.len() < 3 {
        return None;
    }
    if asks {
        let is_asked = cues.has(Cue::Asks)
            && (cues.has(Cue::Social) || words.find("asked").or(words.find("asks")).is_some());
        return (is_asked || is_plain_question(words)).then_some(Kind::Question);
    }
    if cues.has(Cue::Boxed) && state(cues, words).is_some() {
        return state(cues, words);
    }
    if cues.has(Cue::Asks) && is_undecided(words) {
        return Some(Kind::Question);
    }
    if cues.has(Cue::Forbids)
        || (cues.has(Cue::Negates) && (cues.has(Cue::Commands) || words.find("must").is_some()))
    {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Decides)
        || (cues.has(Cue::Picks) && cues.has(Cue::Because) && cues.has(Cue::Social))
    {
        return Some(Kind::Decision);
    }
    if cues.has(Cue::Prefers) {
        return Some(Kind::Preference);
    }
    if (cues.has(Cue::Bounds) && cues.has(Cue::Value))
        || (cues.has(Cue::Lifts) && (cues.has(Cue::Forbids) || cues.change() >= Change::Said))
    {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Demands) && (cues.has(Cue::Social) || cues.count > 1) {
        return Some(Kind::Constraint);
    }
    if cues.has(Cue::Asks) && !tells_news(cues) {
        return Some(Kind::Question);
    }
    if cues.has(Cue::Aims) && (!cues.links.is_empty() || cues.has(Cue::Value)) {
        return Some(Kind::Goal);
    }
    if cues.any(&[Cue::Blocked, Cue::Underway, Cue::Open])
        || (cues.has(Cue::Done) && (!cues.links.is_empty() || cues.has(Cue::Reported)))
    {
        return state(cues, words);
    }
    fact(cues, words)
}

/// A value, and words that say whose.
fn fact(cues: &Cues, words: &Words) -> Option<Kind> {
    let link = cues.links.first()?;
    let value = words.iter().any(|(at, word, _)| {
        let first = at == 0 && matches!(word.form, Form::Name | Form::Identifier);
        (word.form.is_value() && (at >= link.end || !first)) || words.is(at, List::Numbers)
    });
    (value && words.len() <= 40).then_some(Kind::Fact)
}

impl Kind {
    pub(super) fn weight(self) -> i32 {
        match self {
            Self::Constraint | Self::Decision => 30,
            Self::Preference => 28,
            Self::Goal => 26,
            Self::Blocked | Self::Question => 25,
            Self::Underway => 24,
            Self::Fact => 22,
            Self::Open => 20,
            Self::Done => 17,
        }
    }
}

impl Speaker {
    pub(super) fn weight(self) -> i32 {
        match self {
            Self::Human => 12,
            Self::System => 6,
            Self::Model | Self::Tool => 2,
            Self::Injected => -6,
        }
    }
}
