//! Getting one summary from a chain of summarizers: parts, checks, reminders, the next in the chain. A state
//! machine that waits for nothing.

use std::sync::Arc;

use super::admit::{Door, Fault};
use super::prompt::Of;
use super::shape::Scales;
use super::source::{SummarySource, runs};
use super::{
    AgentPrompt, Ask, CallResult, Choice, End, FailureKind, Shape, ShapeReason, Spent, Summaries,
    SummarizeError, Summarizer, Summary, SummaryCall, SummaryReceipt, SummaryRequest,
};
use crate::context::Metadata;
use crate::count::TokenCounter;

/// Requests that are out at once.
const PARALLEL: usize = 4;
/// The least tokens of a part's own summary.
const LEAST_PART: u64 = 200;
/// Tokens of system text, fences, a reminder and the usual instruction, generously.
const AROUND: u64 = 1_200;
/// Of them, what an instruction of one's own comes on top of.
const BESIDE: u64 = 400;
/// The default maximum of a summary, in tokens.
const USUAL: u64 = 16_000;
/// By default a summary has at most this part of its summarizer's window; and this one in any case.
const USUAL_PART: u64 = 4;
const MOST_PART: u64 = 2;
/// Summaries of summaries of summaries are no summaries.
const MOST_ROUNDS: usize = 4;
/// The next step.
#[derive(Debug)]
pub(crate) enum Next {
    /// Answers to these questions. If there are none, the driver only drops unwanted ones.
    Ask(Vec<Ask>),
    /// Answers to earlier questions.
    Wait,
    /// Nothing: here is the summary, or why there is none.
    Done(Result<String, String>),
}

/// What an observer may be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SummaryEvent {
    Called { by: String, requests: usize },
    Rejected { by: String, fault: Fault },
    FellBack { by: String, why: String, kind: Option<FailureKind> },
}

#[derive(Debug)]
struct Job {
    id: u32,
    request: Arc<SummaryRequest>,
    is_out: bool,
    reminded: bool,
    text: Option<String>,
}

/// The agent's own next request, and how much of it stays.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    pub(crate) prompt: Arc<AgentPrompt>,
    /// Messages behind the last summarized one.
    pub(crate) newest: usize,
}

/// Asking, under way.
#[derive(Debug)]
pub(crate) struct Work {
    summaries: Arc<Summaries>,
    source: SummarySource,
    counter: Arc<dyn TokenCounter>,
    /// Tokens that the checkpoint has for it.
    room: u64,
    /// The maximum tokens of a summary by the current summarizer.
    most: u64,
    /// Whether the carried summary is a part of its own, because it doesn't fit beside the others.
    is_carried_apart: bool,
    replaced: u64,
    link: usize,
    jobs: Vec<Job>,
    door: Option<Door>,
    rounds: usize,
    next_id: u32,
    receipt: SummaryReceipt,
    /// Questions that were dropped, since another part had failed.
    dropped: Vec<(String, Arc<SummaryRequest>)>,
    /// The question whose answer came last.
    answered: Option<u32>,
    around: Option<Around>,
    /// Whether the question extends the agent's own prompt.
    is_extension: bool,
    whys: Vec<String>,
    metadata: Vec<(String, Metadata)>,
    done: Option<Result<String, String>>,
    said: Vec<SummaryEvent>,
}

impl Work {
    /// To get a summary of `source`, whose entries have `replaced` tokens, in `room` tokens.
    pub(crate) fn new(
        summaries: Arc<Summaries>,
        source: SummarySource,
        counter: Arc<dyn TokenCounter>,
        room: u64,
        replaced: u64,
        around: Option<Around>,
    ) -> Self {
        let mut work = Work {
            summaries,
            source,
            counter,
            room,
            most: room,
            is_carried_apart: false,
            replaced,
            link: 0,
            jobs: Vec::new(),
            door: None,
            rounds: 0,
            next_id: 0,
            receipt: SummaryReceipt::default(),
            dropped: Vec::new(),
            answered: None,
            around,
            is_extension: false,
            whys: Vec::new(),
            metadata: Vec::new(),
            done: None,
            said: Vec::new(),
        };
        work.begin();
        work
    }

    /// The next step.
    pub(crate) fn next(&mut self) -> Next {
        if self.done.is_some() && !self.dropped.is_empty() && self.answered.take().is_some() {
            // What they took is written when they are let go.
            return Next::Ask(Vec::new());
        }
        if let Some(done) = self.done.take() {
            return Next::Done(done);
        }
        let by = Arc::clone(&self.summaries.chain[self.link]);
        let out = self.jobs.iter().filter(|job| job.is_out && job.text.is_none()).count();
        let waiting = self.jobs.iter_mut().filter(|job| !job.is_out);
        let asks: Vec<Ask> = waiting
            .take(PARALLEL.saturating_sub(out))
            .map(|job| {
                job.is_out = true;
                Ask { id: job.id, by: Arc::clone(&by), request: Arc::clone(&job.request) }
            })
            .collect();
        if asks.is_empty() {
            return Next::Wait;
        }
        self.said.push(SummaryEvent::Called { by: by.name().to_owned(), requests: asks.len() });
        Next::Ask(asks)
    }

    /// Whether the answer to this question is still of interest.
    pub(crate) fn wants(&self, id: u32) -> bool {
        self.jobs.iter().any(|job| job.id == id && job.is_out && job.text.is_none())
    }

    /// What happened since this was last asked.
    pub(crate) fn said(&mut self) -> Vec<SummaryEvent> {
        std::mem::take(&mut self.said)
    }

    /// Its cost, cancelled answers included.
    pub(crate) fn receipt(&mut self) -> SummaryReceipt {
        for (by, request) in self.dropped.drain(..) {
            let spent = request.tab.take();
            if spent != Spent::default() {
                let why = Some(FailureKind::Unattended.to_string());
                self.receipt.spent += spent;
                let result = CallResult::Failed;
                self.receipt.calls.push(SummaryCall { by, result, why, spent });
            }
        }
        self.receipt.clone()
    }

    /// Why those before weren't used, in order.
    pub(crate) fn whys(&self) -> &[String] {
        &self.whys
    }

    /// What those who were asked say of their answers.
    pub(crate) fn metadata(&mut self) -> Vec<(String, Metadata)> {
        std::mem::take(&mut self.metadata)
    }

    /// Takes an answer. An unwanted one is booked, and forgotten.
    pub(crate) fn supply(&mut self, id: u32, answer: Result<Summary, SummarizeError>) {
        let spent = match &answer {
            Ok(summary) => summary.spent,
            Err(error) => error.spent,
        };
        self.receipt.spent += spent;
        let by =
            self.summaries.chain.get(self.link).map_or_else(String::new, |by| by.name().to_owned());
        let mut call = SummaryCall { by, result: CallResult::Admitted, why: None, spent };
        if !self.wants(id) {
            return;
        }
        self.answered = Some(id);
        match answer {
            Err(error) => {
                call.result = CallResult::Failed;
                call.why = Some(error.to_string());
                self.receipt.calls.push(call);
                let may_be_the_shape = matches!(
                    error.kind,
                    FailureKind::ToolCall
                        | FailureKind::Refusal
                        | FailureKind::Rejected
                        | FailureKind::Malformed
                        | FailureKind::SpendCap
                );
                if self.is_extension && may_be_the_shape {
                    return self.ask_fenced(&error.to_string());
                }
                self.give_up_for(&error.to_string(), Some(error.kind));
            }
            Ok(summary) => {
                self.metadata.push((call.by.clone(), summary.metadata));
                match self.admitted(&summary.text) {
                    Ok(text) => {
                        self.receipt.calls.push(call);
                        let job =
                            self.jobs.iter_mut().find(|job| job.id == id).expect("it is wanted");
                        job.text = Some(text);
                        if self.jobs.iter().all(|job| job.text.is_some()) {
                            self.round_is_over();
                        }
                    }
                    Err(fault) => {
                        call.result = CallResult::Rejected;
                        call.why = Some(fault.to_string());
                        self.said.push(SummaryEvent::Rejected {
                            by: call.by.clone(),
                            fault: fault.clone(),
                        });
                        self.receipt.calls.push(call);
                        self.rejected(id, &fault);
                    }
                }
            }
        }
    }

    /// The summary, if it passes the checks.
    fn admitted(&self, text: &str) -> Result<String, Fault> {
        let door = self.door.as_ref().expect("something was asked");
        door.admit(text, self.counter.as_ref())
    }

    /// One more try with a reminder, or none.
    fn rejected(&mut self, id: u32, fault: &Fault) {
        if self.is_extension {
            return self.ask_fenced(&fault.to_string());
        }
        let next = self.next_id;
        let job = self.jobs.iter_mut().find(|job| job.id == id).expect("it is wanted");
        if std::mem::replace(&mut job.reminded, true) {
            self.give_up(&fault.to_string());
            return;
        }
        job.request = Arc::new(job.request.reminding(fault));
        job.id = next;
        job.is_out = false;
        self.next_id += 1;
    }

    /// Begins with the summarizer whose turn it is.
    fn begin(&mut self) {
        self.rounds = 0;
        let Some(by) = self.summaries.chain.get(self.link).map(Arc::clone) else {
            let why = match self.whys.last() {
                Some(_) => self.whys.join("; "),
                None => "there is no summarizer".to_owned(),
            };
            self.done = Some(Err(why));
            return;
        };
        self.measure(by.as_ref());
        let Some(texts) = self.texts(by.as_ref()) else {
            return self.give_up("its window is too small for any part");
        };
        self.ask(&texts, Of::Whole);
        self.go_on_from_prompt(by.as_ref());
    }

    /// The maximum length of a summary by `by`, and whether the carried summary fits beside a part.
    fn measure(&mut self, by: &dyn Summarizer) {
        let window = by.window().unwrap_or(u64::MAX);
        let usual = USUAL.min(window / USUAL_PART);
        let asked = self.summaries.brief.max_tokens.unwrap_or(usual).min(window / MOST_PART);
        self.most = asked.min(self.room).max(1);
        let carried = self.counter.text(self.source.carried()).upper;
        self.is_carried_apart = carried > window / USUAL_PART;
    }

    /// The carried summary beside a part.
    fn carried(&self) -> &str {
        if self.is_carried_apart { "" } else { self.source.carried() }
    }

    /// The source in the parts that `by` is asked about; `None` if it can't be asked at all.
    fn texts(&self, by: &dyn Summarizer) -> Option<Vec<String>> {
        match self.space(by) {
            None => Some(vec![self.source.text()]),
            Some(0) => None,
            Some(space) => {
                let counter = self.counter.as_ref();
                let lines = self.source.carried().split_inclusive('\n');
                let mut parts = Vec::new();
                if self.is_carried_apart {
                    parts = runs(lines, space, counter);
                }
                parts.extend(self.source.runs(space, counter));
                Some(parts)
            }
        }
    }

    /// Asks behind the agent's own prompt instead, where that costs less.
    fn go_on_from_prompt(&mut self, by: &dyn Summarizer) {
        let Some(Around { prompt, newest }) = self.around.clone() else { return };
        let brief = &self.summaries.brief;
        let of = Of::Conversation { newest };
        let carried = self.source.carried();
        let asked = SummaryRequest::new(brief, of, "", carried, self.most);
        let counter = self.counter.as_ref();
        let model = by.shares_cache(&prompt);
        let scales = Scales { prompt: &prompt, counter, by: by.name(), model };
        let fenced = self.jobs.iter().map(|job| job.request.as_ref());
        let (choice, body) = scales.weigh(&asked, &fenced.collect::<Vec<_>>());
        self.receipt.shapes.push(choice);
        let Some(body) = body else { return };
        let known = prompt.known(carried);
        let door = Door::new(&self.source, brief.sections(), self.replaced, self.most);
        self.door = Some(door.knowing(known));
        let request = Arc::new(SummaryRequest { body: Some(body), ..asked });
        let id = self.next_id;
        self.next_id += 1;
        self.jobs = vec![Job { id, request, is_out: false, reminded: false, text: None }];
        self.is_extension = true;
    }

    /// What going on from the agent's prompt gave can't be used: the same one is asked as any other.
    fn ask_fenced(&mut self, why: &str) {
        let by = Arc::clone(&self.summaries.chain[self.link]);
        self.whys.push(format!("{}, going on from the agent's prompt: {why}", by.name()));
        let last = self.receipt.shapes.last().cloned().expect("it was chosen");
        self.receipt.shapes.push(Choice {
            shape: Shape::Fenced,
            why: ShapeReason::NotUsed,
            ..last
        });
        self.is_extension = false;
        let texts = self.texts(by.as_ref()).expect("there were some before");
        self.ask(&texts, Of::Whole);
    }

    /// Tokens of text that fit in one request to `by`; `None` for any number.
    fn space(&self, by: &dyn Summarizer) -> Option<u64> {
        let window = by.window()?;
        let carried = self.counter.text(self.carried()).upper;
        // The longest form of the question: wishes and a custom prompt may have any length.
        let of = Of::Part { nth: 999, of: 999 };
        let asked = SummaryRequest::new(&self.summaries.brief, of, "", "", self.most);
        let asked = self.counter.text(&asked.instruction).upper;
        let around = AROUND.max(asked.saturating_add(BESIDE));
        let needed = around.saturating_add(carried).saturating_add(self.most);
        let space = window.saturating_sub(needed);
        Some(if space < LEAST_PART { 0 } else { space })
    }

    /// Asks for a summary of each text: of the whole, if there is one.
    fn ask(&mut self, texts: &[String], what: Of) {
        let brief = &self.summaries.brief;
        let of = texts.len();
        let (most, replaced) = match of {
            1 => (self.most, self.replaced),
            // Together they must be shorter than one request.
            _ => ((self.most * 2 / of as u64).max(LEAST_PART), self.replaced),
        };
        self.door = Some(Door::new(&self.source, brief.sections(), replaced, most));
        let next = self.next_id;
        self.next_id += of as u32;
        self.jobs = texts
            .iter()
            .zip(next..)
            .enumerate()
            .map(|(at, (text, id))| {
                let is_part = of > 1 && what == Of::Whole;
                let what = if is_part { Of::Part { nth: at + 1, of } } else { what };
                let request = SummaryRequest::new(brief, what, text, self.carried(), most);
                Job { id, request: Arc::new(request), is_out: false, reminded: false, text: None }
            })
            .collect();
        self.rounds += 1;
    }

    /// Every text was summarised.
    fn round_is_over(&mut self) {
        let mut texts: Vec<String> = self.jobs.drain(..).filter_map(|job| job.text).collect();
        if texts.len() == 1 {
            let by = &self.summaries.chain[self.link];
            by.settled(End::Admitted);
            self.receipt.by = Some(by.name().to_owned());
            self.done = texts.pop().map(Ok);
            return;
        }
        if self.rounds >= MOST_ROUNDS {
            return self.give_up("the parts' summaries don't get shorter");
        }
        let space = self.space(self.summaries.chain[self.link].as_ref()).unwrap_or(u64::MAX);
        let many = texts.len();
        let ended: Vec<String> = texts.iter().map(|text| format!("{text}\n\n")).collect();
        let merged = runs(ended.iter().map(String::as_str), space, self.counter.as_ref());
        if merged.len() >= many {
            return self.give_up("the parts' summaries don't get shorter");
        }
        self.ask(&merged, Of::Parts);
    }

    /// On to the next in the chain.
    fn give_up(&mut self, why: &str) {
        self.give_up_for(why, None);
    }

    fn give_up_for(&mut self, why: &str, kind: Option<FailureKind>) {
        let by = &self.summaries.chain[self.link];
        by.settled(End::GaveUp);
        let name = by.name().to_owned();
        self.whys.push(format!("{name}: {why}"));
        let answered = self.answered;
        let is_waited = |job: &Job| job.is_out && job.text.is_none() && Some(job.id) != answered;
        let waited = self.jobs.drain(..).filter(is_waited);
        self.dropped.extend(waited.map(|job| (name.clone(), job.request)));
        self.said.push(SummaryEvent::FellBack { by: name, why: why.to_owned(), kind });
        self.is_extension = false;
        self.link += 1;
        self.begin();
    }
}
