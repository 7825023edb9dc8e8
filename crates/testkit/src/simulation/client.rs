//! A client: an agent's loop over its own history, as it writes it today.

use epitome::Request;
use epitome::session::{Recipient, RefusedPrompt, Sent, Ticket};
use epitome::wire;
use serde_json::{Value, json};

use super::dialect::{DIALECTS, Dialect, Open, Page, Pair};
use super::laws::Shown;
use super::score::Score;
use crate::layouts;
use crate::prose;
use crate::server::models::Trait;
use crate::server::{Fault, Next, Reply, Say, Seen};
use epitome_bench::dice::Dice;

pub(super) struct Client {
    pub(super) tenant: String,
    pub(super) dialect: &'static dyn Dialect,
    pub(super) pair: Pair,
    /// Which of its models it uses.
    pub(super) model: usize,
    /// What was said, as the client holds it.
    pub(super) history: Vec<Value>,
    /// Where its request is.
    pub(super) stage: Stage,
    /// What was sent last.
    pub(super) sent: Option<Shown>,
}

/// A request on its way.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) to: Recipient,
    pub(super) path: String,
    /// How often it was looked at.
    pub(super) looks: usize,
    /// It was refused as too long before, with so many bytes.
    pub(super) refused: Option<usize>,
}

/// Where a request is.
pub(super) enum Stage {
    /// There is none.
    Idle,
    /// It came in.
    Asked(Asked),
    /// It waits for a compaction.
    Waiting(Asked, Ticket),
    /// What to send is decided.
    Ready { asked: Asked, shown: Request, sent: Sent, epoch: u32 },
    /// It was answered, and nobody heard of it yet.
    Answered { sent: Sent, prompt: u64, said: Vec<Value> },
    /// It was refused as too long, and is compacted once more.
    Smaller(Asked, RefusedPrompt, Ticket),
}

impl Client {
    pub(super) fn new(dice: &mut Dice, nth: usize) -> Self {
        let dialect = DIALECTS[dice.below(DIALECTS.len())];
        let pairs = dialect.pairs();
        Client {
            tenant: format!("tenant {}", nth % 2),
            dialect,
            pair: pairs[dice.below(pairs.len())],
            model: dice.below(2),
            history: Vec::new(),
            stage: Stage::Idle,
            sent: None,
        }
    }

    /// The same, which goes its own way from now on.
    pub(super) fn fork(&self) -> Self {
        Client {
            tenant: self.tenant.clone(),
            history: self.history.clone(),
            sent: self.sent.clone(),
            stage: Stage::Idle,
            ..*self
        }
    }

    /// A history from the beginning.
    pub(super) fn start_over(&mut self) {
        self.history.clear();
        self.sent = None;
        self.stage = Stage::Idle;
    }

    /// The calls that nobody answered.
    fn open(&self) -> Vec<Open> {
        let newest = self.history.iter().rev().take_while(|message| self.dialect.is_reply(message));
        let newest: Vec<&Value> = newest.collect();
        newest.into_iter().rev().flat_map(|message| self.dialect.calls(message)).collect()
    }

    /// Its next message: results for open calls, else words. Whoever wasn't answered asks again.
    pub(super) fn speak(&mut self, dice: &mut Dice) {
        let is_asked = self.history.last().is_some_and(|last| !self.dialect.is_reply(last));
        if is_asked {
            return;
        }
        let open = self.open();
        if open.is_empty() {
            let words = format!("{} {}", prose::lorem(3 + dice.below(60)), dice.roll());
            self.history.push(self.dialect.words(words));
            return;
        }
        let mut log = || {
            let lines = if dice.one_in(12) { 600 } else { 1 + dice.below(60) };
            prose::log(dice.roll(), lines)
        };
        let results = open.into_iter().map(|open| (open, log())).collect();
        let words = dice.one_in(8).then(|| format!("And {}.", dice.roll()));
        self.history.extend(self.dialect.results(results, words));
    }

    /// Back to some earlier answer.
    pub(super) fn rewind(&mut self, to: usize) {
        self.history.truncate(to);
        let is_closed = |client: &Client| {
            let last = client.history.last();
            last.is_none_or(|last| client.dialect.closes(last)) && client.open().is_empty()
        };
        while !is_closed(self) {
            self.history.pop();
        }
    }

    pub(super) fn model(&self) -> &'static str {
        self.pair.models[self.model]
    }

    /// The request as it writes it today, keys in any order.
    pub(super) fn ask(&self, windows: [u64; 2], dice: &mut Dice) -> Asked {
        let page = Page { model: self.model(), pair: self.pair, history: &self.history };
        let body = self.dialect.body(&page, dice);
        let text = match dice.below(3) {
            0 => body.to_string(),
            1 => serde_json::to_string_pretty(&body).expect("JSON"),
            _ => layouts::shuffled(&body, dice.roll()),
        };
        let to = Recipient {
            model: Some(self.model().to_owned()),
            window: Some(windows[self.model]),
            ..Recipient::default()
        };
        Asked {
            request: wire::parse(self.dialect.format(), text).expect("a body"),
            to,
            path: self.dialect.path(self.model()),
            looks: 0,
            refused: None,
        }
    }

    /// Tools, system and messages of one of its requests.
    pub(super) fn elements(&self, request: &Request) -> Vec<Value> {
        let body: Value = serde_json::from_str(request.source()).expect("it was parsed");
        self.dialect.elements(&body)
    }

    pub(super) fn switch(&mut self, score: &mut Score) {
        self.model = 1 - self.model;
        score.switches += 1;
    }
}

/// What the model answers; now and then the provider has no time.
pub(super) fn next(dice: &mut Dice, seen: &Seen<'_>) -> Next {
    if dice.one_in(30) {
        let faults = [Fault::Overloaded, Fault::Internal, Fault::RateLimited { retry_after: None }];
        return Next::Fault(faults[dice.below(faults.len())].clone());
    }
    let body = seen.call.body;
    let modes =
        [&body["thinking"]["type"], &body["additionalModelRequestFields"]["thinking"]["type"]];
    let is_manual = modes.into_iter().any(|mode| mode == "enabled");
    let mut say = Vec::new();
    // Some want it back with each call.
    if is_manual || seen.understood.model.has(Trait::WantsReasoning) || dice.one_in(2) {
        say.push(Say::Think(prose::lorem(4 + dice.below(30))));
    }
    if dice.one_in(2) {
        say.push(Say::Text(format!("{} {}.", prose::lorem(3 + dice.below(30)), dice.roll())));
    }
    for _ in 0..dice.pick(&[0, 1, 1, 1, 2, 3]) {
        let input = json!({"path": prose::file(dice.roll())});
        say.push(Say::Call { name: "Read".to_owned(), input });
    }
    if say.iter().all(|said| matches!(said, Say::Think(_))) {
        say.push(Say::Text("Done.".to_owned()));
    }
    Next::Reply(Reply { say, ..Reply::default() })
}
