//! What a request is: its tokens, what breaks its provider's rules, how another format says it.

use std::collections::BTreeMap;

use epitome::convert::{Converted, Goal, convert};
use epitome::count::{Tally, Weights, tool_weights};
use epitome::model::{Binding, Registry, repair_inspected};
use epitome::transcript::unit::Units;
use epitome::wire::{self, Finding, Format, Mend, RULES, RuleId};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::callbacks::raised;
use crate::compactor::Compactor;
use crate::error;
use crate::request::Given;

/// What breaks the provider's rules, as JSON.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, given: &Given, excluding: Vec<String>) -> PyResult<String> {
    let waived = waived(py, excluding)?;
    let findings = py.detach(|| wire::inspect(&given.request, &waived));
    json_of(py, &findings.iter().map(told).collect::<Vec<_>>())
}

/// The request with every breach mended the least way; what was mended, and what only its author can mend, as JSON.
#[pyfunction]
pub(crate) fn mend(
    py: Python<'_>,
    given: &Given,
    excluding: Vec<String>,
) -> PyResult<(Py<PyAny>, String)> {
    let waived = waived(py, excluding)?;
    let binding = Binding::of(&given.request);
    let repaired = py.detach(|| repair_inspected(&given.request, binding, &waived));
    let left: Vec<_> = repaired.left.iter().map(told).collect();
    let report = json_of(py, &json!({ "mended": repaired.mended, "left": left }))?;
    Ok((given.back(py, repaired.request.source())?, report))
}

/// The request in another format, as JSON, and what became of it.
#[pyfunction]
#[pyo3(signature = (given, to, model=None))]
pub(crate) fn translate(
    py: Python<'_>,
    given: &Given,
    to: &str,
    model: Option<&str>,
) -> PyResult<(String, String)> {
    let format: Format = to.parse().map_err(|fault| error::option(py, "to", fault))?;
    let known = model.and_then(|model| Registry::built_in().get(model));
    let goal = Goal { format, model, max_output: known.and_then(|model| model.output) };
    let Converted { text, lost, mended, left, wanting, .. } =
        py.detach(|| convert(&given.request, goal));
    let left: Vec<_> = left.iter().map(told).collect();
    let report = json!({ "lost": lost, "mended": mended, "left": left, "wanting": wanting });
    Ok((text, json_of(py, &report)?))
}

/// The tokens of a request, by kind and by tool, as JSON.
#[pyfunction]
pub(crate) fn survey(py: Python<'_>, given: &Given, compactor: &Compactor) -> PyResult<String> {
    let request = &given.request;
    let reader = compactor.settings.reader(py, request)?;
    let survey = py.detach(|| {
        let tally = Tally::of(request, reader.counter.as_ref());
        let units = Units::of(&request.transcript, request.format.instructions());
        let weights = Weights::of(request, &tally);
        let kinds = weights.kinds().filter(|(_, weight)| weight.tokens > 0);
        let kinds: BTreeMap<_, _> =
            kinds.map(|(kind, weight)| (kind.name(), weight.tokens)).collect();
        json!({
            "format": request.format,
            "model": request.model(),
            "counter": reader.counter.name(),
            "window": reader.window,
            "tokens": tally.total().tokens,
            "upper": tally.total().upper,
            "basis": tally.total().basis,
            "bytes": request.source().len(),
            "entries": request.transcript.len(),
            "steps": units.all().iter().filter(|unit| unit.is_step).count(),
            "turns": units.all().iter().filter(|unit| unit.is_turn).count(),
            "open_calls": units.pairs().iter().filter(|pair| pair.result.is_none()).count(),
            "kinds": kinds,
            "tools": tool_weights(request, &units, &tally),
        })
    });
    match raised() {
        Some(raised) => Err(raised),
        None => json_of(py, &survey),
    }
}

fn json_of(py: Python<'_>, report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|fault| error::compaction(py, fault))
}

fn waived(py: Python<'_>, names: Vec<String>) -> PyResult<Vec<RuleId>> {
    let find = |name: String| {
        let rule = RULES.iter().find(|rule| rule.id.0 == name).map(|rule| rule.id);
        rule.ok_or_else(|| error::option(py, "excluding", format!("there is no rule {name:?}")))
    };
    names.into_iter().map(find).collect()
}

/// A finding with what its rule demands.
fn told(finding: &Finding) -> serde_json::Value {
    let rule = RULES.iter().find(|rule| rule.id == finding.rule);
    json!({
        "rule": finding.rule,
        "entry": finding.entry,
        "member": finding.member,
        "detail": finding.detail,
        "demand": rule.map(|rule| rule.demand),
        "error": rule.map(|rule| rule.error),
        "mendable": finding.mend != Mend::Nothing,
    })
}
