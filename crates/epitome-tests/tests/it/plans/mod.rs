//! Plans of small transcripts for every target there is, drawn: where each rung begins, and where it lands.

mod own;
mod proposed;

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::Arc;

use epitome::checkpoint::least_tokens;
use epitome::count::{BytesPer, Tally};
use epitome::engine::delegate::JobContext;
use epitome::engine::plan::{Means, Plan, PlanInput, Reached};
use epitome::engine::{Budget, Stop, Tail};
use epitome::model::Binding;
use epitome::strategy::guard::{Guard, GuardOptions, OpenLoop, Preserved};
use epitome::strategy::{HistoryFacts, Strategy, ladder};
use epitome::transcript::Origin;
use epitome::transcript::unit::Units;
use epitome::wire::{self, Format, Request};
use epitome::{Options, Pin, Task};
use expect_test::{Expect, expect_file};
use serde_json::Value;
use testkit::page;

/// How a request begins that enables thinking by hand.
const MANUAL: &str = r#"{"thinking":{"type":"enabled","budget_tokens":1024},"#;

/// What is planned, and how.
struct Case {
    request: Request,
    strategies: Vec<Arc<dyn Strategy>>,
    pins: Vec<Pin>,
    tail: Tail,
    tools: Vec<String>,
    task: Task,
    stop: Stop,
    means: Means,
}

impl Case {
    fn of(request: Request) -> Self {
        Case {
            request,
            strategies: ladder(),
            pins: Vec::new(),
            tail: Tail::Fitting,
            tools: Vec::new(),
            task: Task::Keep,
            stop: Stop::AtTarget,
            means: Means::All,
        }
    }

    fn of_page(case: &page::Case) -> Self {
        let (format, settings) = case.format();
        let mut settings = settings.into_iter();
        let options = settings.next().map(serde_json::from_value::<Options>);
        let options = options.transpose().expect("options").unwrap_or_default();
        let mut request = case.request(format);
        if let Some(Value::Object(mut members)) = settings.next() {
            let mut body: Value = serde_json::from_str(request.source()).expect("a body");
            body.as_object_mut().expect("an object").append(&mut members);
            request = wire::parse(format, body.to_string()).expect("a body");
        }
        Case {
            request,
            strategies: options.strategies.build().expect("in range"),
            means: Means::from(&options.strategies),
            pins: options.pins,
            tail: options.tail,
            tools: options.preserved_tools,
            task: options.task,
            stop: options.stop,
        }
    }

    fn drawn(format: Format, notation: &str) -> Self {
        Case::of(testkit::parse(format, notation))
    }

    /// The plan for each target from one that nothing reaches to one that all of it is under.
    fn sheet(&self) -> String {
        let whole = self.ask(1, |subject| subject.tally.total().tokens);
        let mut rows: Vec<Row> = Vec::new();
        for target in 1..=whole + 1 {
            let Some(plan) = self.plan(target) else { continue };
            let kind = kind(&plan);
            let is_more = |row: &&mut Row| row.kind == kind;
            match rows.last_mut().filter(is_more) {
                Some(row) => row.take(target, &plan),
                None => rows.push(Row::new(kind, target, &plan)),
            }
        }
        let mut drawn = format!("{whole} tokens\n");
        for row in rows {
            let _ = writeln!(drawn, "{}", row.drawn());
        }
        drawn
    }

    fn plan(&self, target: u64) -> Option<Plan> {
        self.ask(target, |subject| {
            let plan = subject.plan(&self.strategies);
            holds(subject, &plan);
            Some(plan)
        })
    }

    /// What is planned, to land at `target`: four bytes are a token.
    fn ask<T>(&self, target: u64, what: impl FnOnce(&PlanInput<'_>) -> T) -> T {
        let counter = BytesPer::new(NonZeroU32::new(4).expect("it isn't"));
        let units = Units::of(&self.request.transcript, self.request.format.instructions());
        let tally = Tally::of(&self.request, &counter);
        let binding = Binding::of(&self.request);
        let preserved = Preserved { tools: &self.tools, ..Preserved::default() };
        let (task, pins, tail) = (self.task, self.pins.as_slice(), self.tail);
        let came_from: Vec<_> = (0..self.request.transcript.len()).map(Some).collect();
        let options = GuardOptions {
            target,
            task,
            pins,
            came_from: &came_from,
            tail,
            preserved,
            binding,
            open_loop: OpenLoop::Stays,
        };
        let guard = Guard::new(&self.request, &units, &tally, options);
        let leaving =
            self.request.transcript.entries().filter(|entry| guard.may_leave(entry.index));
        let least = least_tokens(leaving, &[], &counter);
        what(&PlanInput {
            request: &self.request,
            units: &units,
            tally: &tally,
            guard: &guard,
            budget: Budget::new(target),
            least,
            stop: self.stop,
            means: self.means,
            cause: None,
            about: &JobContext::default(),
            counter: &counter,
            binding,
            found: &HistoryFacts::of(&self.request.transcript),
        })
    }
}

/// Where a plan lands, with the least checkpoint that it needs.
fn landing(subject: &PlanInput<'_>, plan: &Plan) -> u64 {
    plan.draft.total() + if plan.draft.folds() { subject.least } else { 0 }
}

/// What is true of every plan.
fn holds(subject: &PlanInput<'_>, plan: &Plan) {
    let (target, whole) = (subject.budget.target, subject.tally.total().tokens);
    let (landing, floor) = (landing(subject, plan), plan.floor);
    let is = |reached: &str| format!("{reached}: {landing} of {whole} to {target}, floor {floor}");
    match &plan.reached {
        Reached::NothingToDo => {
            assert!(landing == whole && plan.steps.is_empty(), "{}", is("none"));
        }
        Reached::Target => assert!(landing <= target, "{}", is("target")),
        Reached::Short => assert!(landing > target && floor <= target, "{}", is("short")),
        Reached::Unreachable { held_by } => {
            assert!(landing >= floor && floor > target, "{}", is("unreachable"));
            assert!(held_by.is_sorted_by_key(|(_, tokens)| std::cmp::Reverse(*tokens)));
            let held: u64 = held_by.iter().map(|(_, tokens)| tokens).sum();
            assert!(held <= whole && held_by.iter().all(|(_, tokens)| *tokens > 0));
        }
        other => panic!("nobody asked for {other:?}"),
    }
    let is_nothing = plan.reached == Reached::NothingToDo;
    assert!(is_nothing || floor <= landing, "{}", is("floor"));
    // What must stay does, and pairs stay whole.
    for at in 0..subject.request.transcript.len() {
        assert!(plan.draft.is_shown(at) || subject.guard.may_leave(at), "{at} must stay");
    }
    for unit in subject.units.all() {
        let left = |at: usize| plan.draft.is_folded(at);
        assert!(unit.entries.clone().all(left) || !unit.entries.clone().any(left), "half a unit");
    }
    // The checkpoint has what is left, up to its share.
    if plan.draft.folds() {
        let most = if is_unreachable(plan) { target + target / 4 + landing } else { target };
        assert!(plan.checkpoint.left <= most.max(subject.least), "{}", is("checkpoint"));
    } else {
        assert_eq!(plan.checkpoint.left, 0, "{}", is("nothing is folded"));
    }
    let shown = wire::render(subject.request, &plan.draft.view(&subject.request.transcript));
    let shown = wire::parse(subject.request.format, shown).expect("spliced JSON");
    // Where a checkpoint is to lead, the plan alone needn't begin as its provider demands.
    if !plan.draft.folds() && !shown.transcript.is_empty() {
        assert_eq!(wire::check(&shown), [], "{} {}", is("sound"), shown.source());
    }
}

fn is_unreachable(plan: &Plan) -> bool {
    matches!(plan.reached, Reached::Unreachable { .. })
}

/// What a plan does, but for how much of it and how often.
fn kind(plan: &Plan) -> String {
    let reached = match plan.reached {
        Reached::NothingToDo => "nothing",
        Reached::Target => "lands",
        Reached::Short => "short",
        _ => "above",
    };
    let mut kind = vec![reached.to_owned()];
    for step in &plan.steps {
        if !kind.contains(&step.strategy) {
            kind.push(step.strategy.clone());
        }
    }
    if plan.draft.folds() {
        kind.push(format!("checkpoint before {}", plan.place));
    }
    kind.join(", ")
}

/// Targets for which a plan does the same.
struct Row {
    kind: String,
    targets: RangeInclusive<u64>,
    landings: RangeInclusive<u64>,
}

impl Row {
    fn new(kind: String, target: u64, plan: &Plan) -> Self {
        let landing = plan.draft.total();
        Row { kind, targets: target..=target, landings: landing..=landing }
    }

    fn take(&mut self, target: u64, plan: &Plan) {
        let with = |range: &mut RangeInclusive<u64>, new: u64| {
            *range = new.min(*range.start())..=new.max(*range.end());
        };
        with(&mut self.targets, target);
        with(&mut self.landings, plan.draft.total());
    }

    fn drawn(&self) -> String {
        let range = |range: &RangeInclusive<u64>| match (range.start(), range.end()) {
            (one, other) if one == other => one.to_string(),
            (from, to) => format!("{from}-{to}"),
        };
        let (targets, landings) = (range(&self.targets), range(&self.landings));
        format!("{targets}: {}; {landings} shown", self.kind)
    }
}

/// The request with the first part of entry `at` known for a checkpoint.
fn standing(mut request: Request, at: usize) -> Request {
    let first = request.transcript.entry(at).parts().next().expect("a part").slot;
    request.transcript.set_part_origin(first, Origin::Checkpoint);
    request
}

fn check(case: &Case, expected: &Expect) {
    expected.assert_eq(&case.sheet());
}

/// The options, and members of the body besides, are settings.
#[test]
fn plans_are_as_the_page_draws_them() {
    page::check(&expect_file!["plans.txt"], |case| Case::of_page(case).sheet());
}
