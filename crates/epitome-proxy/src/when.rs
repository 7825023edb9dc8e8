//! When a proxy compacts, model by model, and whether where it lands makes sense.

use std::sync::Arc;

use epitome::Target;
use epitome::count::Count;
use epitome::model::{Model, Registry};
use epitome::session::Landing;
use epitome::trigger::{Cause, Condition, Measurements, Trigger, When};

use crate::options::{ProxyError, ProxyOptions};

/// Whether a name of a setting is of a model: it is the same, or begins it where a `*` ends it.
fn is_of(setting: &str, model: &str) -> bool {
    match setting.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => setting == model,
    }
}

/// What is set for a model: of several names the longest.
pub(crate) fn set_for<'a, T>(settings: &'a [(String, T)], model: &str) -> Option<&'a T> {
    let fitting = settings.iter().filter(|(name, _)| is_of(name, model));
    fitting.max_by_key(|(name, _)| name.len()).map(|(_, value)| value)
}

/// Fires when a model's own trigger does; and when the soft one does, once the provider's cache has forgotten the prompt.
pub(crate) struct ByModel {
    usual: Condition,
    each: Vec<(String, Condition)>,
    soft: Option<Condition>,
}

impl ByModel {
    pub(crate) fn of(options: &ProxyOptions) -> Result<Self, ProxyError> {
        let each =
            options.triggers.iter().map(|(name, when)| Ok((name.clone(), when.clone().build()?)));
        Ok(ByModel {
            usual: options.trigger.clone().build()?,
            each: each.collect::<Result<_, ProxyError>>()?,
            soft: options.soft.clone().map(When::build).transpose()?,
        })
    }
}

impl Trigger for ByModel {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        let own = set_for(&self.each, &measurements.model).unwrap_or(&self.usual);
        let is_cold =
            measurements.idle.zip(measurements.cache_ttl).is_some_and(|(idle, ttl)| idle >= ttl);
        let soft = self.soft.as_ref().filter(|_| is_cold);
        own.fires(measurements).or_else(|| soft?.fires(measurements))
    }
}

/// Fires an eighth before another does, so that what is prepared then is there in time.
pub(crate) struct Early(pub(crate) Arc<ByModel>);

impl Trigger for Early {
    fn fires(&self, measurements: &Measurements) -> Option<Cause> {
        let sooner = |tokens: u64| tokens + tokens / 7;
        let Count { tokens, upper, basis } = measurements.tokens;
        let tokens = Count { tokens: sooner(tokens), upper: sooner(upper), basis };
        self.0.fires(&Measurements { tokens, ..measurements.clone() })
    }
}

/// No model's window is smaller: that of a prompt with instructions and tools alone is larger.
pub(crate) const LEAST_WINDOW: u64 = 1_000;

/// No view of a conversation has fewer tokens: the shortest checkpoint, the task and the newest message take about that.
const LEAST: f64 = 50.0;

/// Refuses where a compaction would land at or above what began it, as far as that can be told.
pub(crate) fn check(options: &ProxyOptions) -> Result<(), ProxyError> {
    for name in options
        .windows
        .iter()
        .map(|(name, _)| name)
        .chain(options.triggers.iter().map(|(name, _)| name))
    {
        if name.strip_suffix('*').unwrap_or(name).contains('*') {
            return Err(ProxyError::ModelName(name.clone()));
        }
    }
    let named = options.windows.iter().map(|(name, window)| (name.as_str(), *window));
    for (name, window) in named.chain(options.window.map(|window| ("", window))) {
        if window < LEAST_WINDOW {
            return Err(ProxyError::Window { window, of: of(name) });
        }
    }
    soft_is_below(options)?;
    let whens = std::iter::once(("", &options.trigger))
        .chain(options.soft.iter().map(|when| ("", when)))
        .chain(options.triggers.iter().map(|(name, when)| (name.as_str(), when)))
        .chain(options.windows.iter().map(|(name, _)| {
            let when = set_for(&options.triggers, name).unwrap_or(&options.trigger);
            (name.as_str(), when)
        }));
    for (name, when) in whens {
        let registered = || Registry::built_in().get(name).and_then(Model::most_input);
        let window = set_for(&options.windows, name).copied().or(options.window);
        let window = window.or_else(registered);
        let of = of(name);
        let share = |share: f64| match window {
            // None of any window is nothing.
            None => (share == 0.0).then_some(0.0),
            Some(window) => Some(share * window as f64),
        };
        if let Some(fires) = least(when, &share, &Some).filter(|fires| *fires < LEAST) {
            return Err(ProxyError::TooEarly { fires: format!("{fires:.0} tokens"), of });
        }
        let Some((lands, fires)) = places(options.landing, when, window) else { continue };
        if lands >= fires {
            return Err(ProxyError::Target {
                lands: shown(lands, options.landing),
                fires: shown(fires, options.landing),
                of,
            });
        }
    }
    Ok(())
}

/// For which model, if for one.
fn of(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" of {name}") }
}

/// Refuses a soft trigger that lies at or above the usual one, as far as that can be told.
fn soft_is_below(options: &ProxyOptions) -> Result<(), ProxyError> {
    let Some(soft) = &options.soft else { return Ok(()) };
    let window = options.window.map(|window| window as f64);
    let in_tokens = |when| least(when, &|share| Some(share * window?), &Some);
    let in_shares = |when| least(when, &Some, &|tokens| Some(tokens / window?));
    let refused = |at: (f64, f64), shown: &dyn Fn(f64) -> String| {
        let places = || ProxyError::SoftTrigger { soft: shown(at.0), hard: shown(at.1) };
        if at.0 < at.1 { Ok(()) } else { Err(places()) }
    };
    if let Some(at) = in_tokens(soft).zip(in_tokens(&options.trigger)) {
        return refused(at, &|tokens| format!("{tokens:.0} tokens"));
    }
    match in_shares(soft).zip(in_shares(&options.trigger)) {
        Some(at) => refused(at, &|share| format!("{:.0} % of the window", share * 100.0)),
        None => Ok(()),
    }
}

fn shown(place: f64, landing: Landing) -> String {
    match landing {
        Landing::Target(Target::Tokens(_)) => format!("{place:.0} tokens"),
        _ => format!("{:.0} %", place * 100.0),
    }
}

/// Where it lands and where it fires, in the same unit.
fn places(landing: Landing, when: &When, window: Option<u64>) -> Option<(f64, f64)> {
    let window = window.map(|window| window as f64);
    match landing {
        Landing::Target(Target::Tokens(tokens)) => {
            Some((tokens as f64, least(when, &|share| Some(share * window?), &Some)?))
        }
        Landing::Target(Target::Percent(percent)) => Some((f64::from(percent) / 100.0, 1.0)),
        Landing::Window(share) => {
            Some((share, least(when, &Some, &|tokens| Some(tokens / window?))?))
        }
        Landing::Turns(_) => None,
    }
}

/// The least size at which it fires, as far as sizes say.
fn least(
    when: &When,
    share: &dyn Fn(f64) -> Option<f64>,
    tokens: &dyn Fn(f64) -> Option<f64>,
) -> Option<f64> {
    let each = |list: &[When]| {
        list.iter().filter_map(|when| least(when, share, tokens)).collect::<Vec<_>>()
    };
    match when {
        When::Tokens(limit) => tokens(*limit as f64),
        // Of any text, a token has at least one.
        When::Bytes(limit) | When::Characters(limit) if (*limit as f64) < LEAST => {
            tokens(*limit as f64)
        }
        When::Share(of) | When::ShareAbove(of) => share(*of),
        When::Any(list) => each(list).into_iter().reduce(f64::min),
        When::All(list) => each(list).into_iter().reduce(f64::max),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parsed(when: &str) -> When {
        when.parse().expect("a trigger")
    }

    #[test]
    fn a_target_at_or_above_the_trigger_is_refused() {
        let landing = |text: &str| Landing::Target(text.parse().expect("a target"));
        for (when, lands, window, is_fine) in [
            ("80%", landing("40k"), None, true),
            ("80%", landing("40k"), Some(50_000), false),
            ("80%", landing("39k"), Some(50_000), true),
            ("40k", landing("40k"), None, false),
            ("41k", landing("40k"), None, true),
            ("40k", Landing::Window(0.3), Some(100_000), true),
            ("30k", Landing::Window(0.3), Some(100_000), false),
            ("30%", Landing::Window(0.3), None, false),
            ("80%", landing("100%"), None, false),
            ("80%", landing("99%"), None, true),
            ("1k", Landing::Turns(30), None, true),
        ] {
            let options = ProxyOptions {
                trigger: parsed(when),
                landing: lands,
                window,
                ..ProxyOptions::default()
            };
            assert_eq!(check(&options).is_ok(), is_fine, "{when} {lands:?} {window:?}");
        }
        let named = ProxyOptions {
            landing: landing("40k"),
            windows: vec![("small".to_owned(), 32_000)],
            triggers: vec![("small".to_owned(), parsed("80%"))],
            ..ProxyOptions::default()
        };
        let why = check(&named).expect_err("it would land above").to_string();
        assert!(why.contains("40000 tokens") && why.contains("25600 tokens of small"), "{why}");
    }

    #[test]
    fn a_soft_trigger_lies_below_and_a_window_holds_something() {
        for (soft, hard, window, is_fine) in [
            ("50%", "80%", None, true),
            ("80%", "80%", None, false),
            ("90%", "80%", None, false),
            ("90%", "80%", Some(10_000), false),
            ("5k", "80%", None, true),
            ("5k", "80%", Some(10_000), true),
            ("9k", "80%", Some(10_000), false),
            ("9k", "8k", None, false),
            ("50%", "4k", Some(10_000), false),
        ] {
            let soft_one = Some(parsed(soft));
            let options = ProxyOptions {
                soft: soft_one,
                trigger: parsed(hard),
                window,
                ..ProxyOptions::default()
            };
            assert_eq!(check(&options).is_ok(), is_fine, "{soft} {hard} {window:?}");
        }
        for (window, is_fine) in [(100, false), (999, false), (1_000, true)] {
            let usual = ProxyOptions { window: Some(window), ..ProxyOptions::default() };
            assert_eq!(check(&usual).is_ok(), is_fine, "{window}");
            let windows = vec![("qwen*".to_owned(), window)];
            let named = ProxyOptions { windows, ..ProxyOptions::default() };
            assert_eq!(check(&named).is_ok(), is_fine, "{window}");
            let why = check(&named).err().map(|why| why.to_string()).unwrap_or_default();
            assert!(is_fine || why.contains("of qwen*"), "{why}");
        }
    }

    #[test]
    fn each_model_has_its_own_and_the_soft_one_waits_while_the_cache_is_warm() {
        let options = ProxyOptions {
            trigger: parsed("10k"),
            triggers: vec![
                ("gpt-*".to_owned(), parsed("20k")),
                ("gpt-6".to_owned(), parsed("30k")),
            ],
            soft: Some(parsed("5k")),
            ..ProxyOptions::default()
        };
        let by = ByModel::of(&options).expect("in range");
        let fires = |model: &str, tokens: u64, idle: u64| {
            by.fires(&Measurements {
                model: model.to_owned(),
                tokens: Count::exact(tokens),
                idle: Some(Duration::from_secs(idle)),
                cache_ttl: Some(Duration::from_mins(5)),
                ..Measurements::default()
            })
            .is_some()
        };
        for (model, limit) in
            [("other", 10_000), ("gpt-5", 20_000), ("gpt-6", 30_000), ("", 10_000)]
        {
            assert!(!fires(model, limit - 1, 299) && fires(model, limit, 0), "{model}");
            assert!(fires(model, 5_000, 300) && !fires(model, 4_999, 300), "{model}");
        }
    }
}
