//! `models`: what is known of models, with its source and day.

use anyhow::Result;
use epitome::model::{
    Bound, EarlierReasoning, FactSource, Mode, Model, Rates, Registry, Scheme, Unsupported,
};
use serde::Serialize;

use crate::args::ModelsArgs;
use crate::config::Settings;
use crate::failure::Exit;
use crate::output::{self, Report};
use crate::reader;
use crate::terminal::{FAINT, STRONG, count, left, line, paint, put, right};

/// Models, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    version: u32,
    made: &'a str,
    sources: &'a [FactSource],
    models: Vec<Named<'a>>,
}

/// A model with its id.
#[derive(Debug, Serialize)]
struct Named<'a> {
    id: &'a str,
    #[serde(flatten)]
    model: &'a Model,
}

/// Shows a model, or a table of them.
pub(crate) fn run(args: &ModelsArgs, report: Report) -> Result<Exit> {
    let settings = Settings::resolve(&args.files.how())?;
    let registry = reader::registry(&settings)?;
    let (found, is_one) = match &args.name {
        None => (registry.models().iter().collect(), false),
        Some(name) => match registry.find(name) {
            Ok(model) => (vec![model], true),
            Err(unknown) => {
                let like = like(&registry, name);
                if like.is_empty() {
                    return Err(reader::unknown(&unknown).hint("epitome models lists them").into());
                }
                (like, false)
            }
        },
    };
    match report {
        Report::Json => output::json(&Listed {
            version: 1,
            made: registry.made(),
            sources: registry.sources(),
            models: found.iter().map(|model| Named { id: &model.id, model }).collect(),
        })?,
        Report::Words if is_one => output::words(&page(&registry, found[0]))?,
        Report::Words => output::words(&table(&registry, found))?,
    }
    Ok(Exit::Ok)
}

/// Models that have `part` in their name, or are of the vendor.
fn like<'a>(registry: &'a Registry, part: &str) -> Vec<&'a Model> {
    let part = part.to_ascii_lowercase();
    let has = |model: &&Model| model.id.contains(&part) || model.vendor == part;
    registry.models().iter().filter(has).collect()
}

fn table(registry: &Registry, mut models: Vec<&Model>) -> String {
    models.sort_by(|a, b| (&a.vendor, &a.id).cmp(&(&b.vendor, &b.id)));
    let width = models.iter().map(|model| model.id.len()).max().unwrap_or(0).clamp(5, 36);
    let mut out = String::new();
    let head = format!(
        "{} {} {} {} {} {} {} counter",
        left("model", width),
        right("window", 8),
        right("input", 8),
        right("output", 8),
        right("$ in", 8),
        right("$ read", 8),
        right("$ out", 8),
    );
    put!(out, "{}", paint(FAINT, head));
    let mut vendor = "";
    for model in models {
        if model.vendor != vendor {
            vendor = &model.vendor;
            put!(out, "{}", paint(STRONG, line(registry.vendor(vendor), 60)));
        }
        let rates = model.price.as_ref().map(|price| price.rates(0));
        let price = |of: Option<String>| right(&of.unwrap_or_default(), 8);
        let cliff = model.price.as_ref().and_then(|price| price.above.first());
        let cliff = cliff.map(|cliff| format!("  dearer above {}", short(cliff.tokens)));
        put!(
            out,
            "{} {} {} {} {} {} {} {}{}",
            left(&line(&model.id, width), width),
            right(&size(model.window), 8),
            right(&size(model.most_input()), 8),
            right(&size(model.output), 8),
            price(rates.map(|rates| rates.input.to_string())),
            price(rates.filter(|r| r.read != r.input).map(|rates| rates.read.to_string())),
            price(rates.map(|rates| rates.output.to_string())),
            model.tokenizer.counter(),
            paint(FAINT, cliff.unwrap_or_default()),
        );
    }
    put!(out);
    let sources: Vec<String> = registry
        .sources()
        .iter()
        .map(|source| format!("{} ({})", source.name, source.date))
        .collect();
    let made = format!(
        "Tokens; dollars for a million of them. Made on {} from {}.",
        registry.made(),
        sources.join(", ")
    );
    put!(out, "{}", paint(FAINT, made));
    out
}

fn page(registry: &Registry, model: &Model) -> String {
    let mut out = String::new();
    let named = model.name.as_deref().map(|name| format!("  {}", line(name, 60)));
    put!(out, "{}{}", paint(STRONG, line(&model.id, 80)), named.unwrap_or_default());
    let mut row = |label: &str, text: String| {
        if !text.is_empty() {
            put!(out, "{} {}", paint(FAINT, left(label, 10)), line(&text, 400));
        }
    };
    let tokens = |tokens: Option<u64>| tokens.map(|tokens| format!("{} tokens", count(tokens)));
    row("vendor", registry.vendor(&model.vendor).to_owned());
    row("aliases", model.aliases.join(", "));
    row("window", tokens(model.window).unwrap_or_default());
    row(
        "input",
        tokens(model.most_input()).map(|most| format!("at most {most}")).unwrap_or_default(),
    );
    row("output", tokens(model.output).map(|most| format!("at most {most}")).unwrap_or_default());
    let tokenizer = serde_json::to_value(model.tokenizer).ok();
    let tokenizer = tokenizer.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    row("tokenizer", format!("{tokenizer}, counted by {}", model.tokenizer.counter()));
    row("sees", senses(model));
    row(
        "price",
        model.price.as_ref().map_or("not known".to_owned(), |price| {
            format!("{}; for a million tokens", rates(&price.rates(0)))
        }),
    );
    for cliff in model.price.iter().flat_map(|price| &price.above) {
        let price = model.price.as_ref().map(|price| rates(&price.rates(cliff.tokens + 1)));
        let price = price.unwrap_or_default();
        row("", format!("{price}; all of a request above {} tokens", count(cliff.tokens)));
    }
    row("cache", cache(model));
    row("reasoning", reasoning(model));
    row("refuses", refusals(model));
    row("retires", model.retires.clone().unwrap_or_default());
    row("note", model.note.clone().unwrap_or_default());
    row("source", format!("{} ({})", model.source, model.date.as_deref().unwrap_or("no day")));
    row("page", model.page.clone().unwrap_or_default());
    out
}

fn senses(model: &Model) -> String {
    match (model.images, model.documents) {
        (true, true) => "text, images, documents",
        (true, false) => "text, images",
        (false, true) => "text, documents",
        (false, false) => "text",
    }
    .to_owned()
}

/// Prices that differ.
fn rates(rates: &Rates) -> String {
    let mut said = vec![format!("${} in", rates.input), format!("${} out", rates.output)];
    if rates.read != rates.input {
        let share = rates.read.dollars() / rates.input.dollars();
        let share = (share * 1000.0).round() / 1000.0;
        let share = if share.is_finite() { format!(" ({share}×)") } else { String::new() };
        said.push(format!("${} read{share}", rates.read));
    }
    if rates.write != rates.input {
        said.push(format!("${} written", rates.write));
    }
    if rates.write_long != rates.write {
        said.push(format!("${} written for longer", rates.write_long));
    }
    said.join(", ")
}

fn cache(model: &Model) -> String {
    let Some(cache) = &model.cache else { return "none is known".to_owned() };
    let mut said = vec![
        match cache.scheme {
            Scheme::Marked => "what is marked",
            Scheme::Open => "by itself or what is marked",
            Scheme::Automatic => "by itself",
        }
        .to_owned(),
    ];
    if cache.minimum > 0 {
        said.push(format!("from {} tokens", count(cache.minimum)));
    }
    let minutes = |seconds: u64| match seconds {
        ..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    };
    let lives: Vec<String> =
        [cache.ttl, cache.ttl_long].into_iter().flatten().map(minutes).collect();
    if !lives.is_empty() {
        said.push(format!("for {}", lives.join(" or ")));
    }
    if let Some(marks) = cache.breakpoints {
        said.push(format!("{marks} marks"));
    }
    if let Some(back) = cache.lookback {
        said.push(format!("found {back} blocks back"));
    }
    said.join(", ")
}

fn reasoning(model: &Model) -> String {
    let Some(thinking) = &model.thinking else { return String::new() };
    let asked = |mode: &Mode| match mode {
        Mode::Adaptive => "adaptive",
        Mode::Manual => "by hand",
        Mode::Off => "off",
        Mode::Effort => "by effort",
    };
    let asked: Vec<&str> = thinking.modes.iter().map(asked).collect();
    let mut said = vec![asked.join(", ")];
    said.extend(thinking.kept.map(|kept| match kept {
        EarlierReasoning::All => "earlier turns' is read".to_owned(),
        EarlierReasoning::LastTurn => "only the last turn's is read".to_owned(),
    }));
    match thinking.binding {
        Bound::Free => {}
        Bound::Recorded => said.push("its prefix is noted".to_owned()),
        Bound::Refused => said.push("refused behind an edited prefix".to_owned()),
        Bound::Dropped => said.push("dropped behind an edited prefix".to_owned()),
    }
    said.join("; ")
}

fn refusals(model: &Model) -> String {
    let refused = |what: &Unsupported| match what {
        Unsupported::ForcedTool => "a forced tool call",
        Unsupported::MidSystem => "system text in mid-conversation",
        Unsupported::Prefill => "the assistant's words at the end",
    };
    model.refuses.iter().map(refused).collect::<Vec<_>>().join(", ")
}

fn size(tokens: Option<u64>) -> String {
    tokens.map(short).unwrap_or_default()
}

/// `200k`, `1M`, `1.05M`.
fn short(tokens: u64) -> String {
    match tokens {
        1_000_000.. => {
            let hundredths = (tokens + 5_000) / 10_000;
            let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            format!("{}M", text.trim_end_matches('0').trim_end_matches('.'))
        }
        10_000.. => format!("{}k", (tokens + 500) / 1000),
        _ => count(tokens),
    }
}
