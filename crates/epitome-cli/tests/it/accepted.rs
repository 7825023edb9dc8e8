//! Every compaction of every shipped session and every captured request, in its own format and converted to each other
//! one, is one that its provider takes: judged by the scripted model server, which shares no code with the library, with
//! the window on and with reasoning bound to its prefix.

use std::fs;
use std::path::Path;

use epitome::convert::Goal;
use epitome::engine::plan::Reached;
use epitome::{Format, Request, wire};
use epitome_recordings::{Reach, open};
use serde_json::{Value, json};
use testkit::captures::Capture;
use testkit::examples::{Example, examples};
use testkit::server::{Api, Call, Endpoint, Judge, Model, count, dressed};
use testkit::to_percent;

const TARGETS: [u8; 3] = [50, 20, 10];

/// Models that check as much as any: reasoning bound to its prefix, or signed steps.
fn model(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "claude-opus-5-5",
        Api::Responses => "gpt-6.2-sol",
        Api::Chat => "gpt-4.1",
        Api::Gemini | Api::Interactions => "gemini-3.1-pro",
        Api::Converse => "anthropic.claude-opus-5-5-v1:0",
    }
}

fn api(format: Format) -> Api {
    Api::of_format(format.name()).unwrap_or_else(|| panic!("no API speaks {format}"))
}

/// A request that the server takes as it is, and how it was sent.
pub(crate) struct Sent {
    pub(crate) name: String,
    pub(crate) api: Api,
    pub(crate) model: String,
    betas: Vec<String>,
    pub(crate) request: Request,
}

impl Sent {
    /// A transcript as a client would send it, held with the server itself.
    fn dressed(name: String, transcript: &Request) -> Sent {
        let api = api(transcript.format);
        let mut body = dressed(api, &body(transcript), model(api));
        // Other formats' models don't go on from their own words.
        if let Some(contents) = body.get_mut("contents").and_then(Value::as_array_mut)
            && contents.last().is_some_and(|last| last["role"] == "model")
        {
            contents.push(json!({"role": "user", "parts": [{"text": "Go on."}]}));
        }
        let call = Call { model: Some(model(api)), ..Call::new(api, &body) };
        let body = Judge::default().seal(&call).expect("a known model").to_string();
        let request = wire::parse(transcript.format, body).expect("it is well-formed");
        Sent { name, api, model: model(api).to_owned(), betas: Vec::new(), request }
    }

    /// The capture that it is of.
    fn capture(&self) -> &str {
        self.name.rsplit_once('/').map_or(&self.name, |(capture, _)| capture)
    }

    /// The same in another format, for a model of its provider.
    fn converted(&self, to: Format) -> Sent {
        let api = api(to);
        let model = model(api);
        let goal = Goal { format: to, model: Some(model), max_output: Some(4_096) };
        let converted = epitome::convert::convert(&self.request, goal);
        let request = wire::parse(to, converted.text).expect("it is well-formed");
        let name = format!("{} as {}", self.name, to.name());
        Sent { name, api, model: model.to_owned(), betas: Vec::new(), request }
    }

    pub(crate) fn call<'a>(&'a self, body: &'a Value) -> Call<'a> {
        Call { model: Some(&self.model), betas: &self.betas, ..Call::new(self.api, body) }
    }

    /// What the server has against `body`, sent as this was.
    fn refusal(&self, judge: &Judge, body: &Value) -> Option<String> {
        match judge.validate(&self.call(body)) {
            Err(refusal) => Some(refusal.message),
            Ok(understood) => understood
                .misplaced
                .first()
                .map(|lost| format!("the model isn't shown {}: {:?}", lost.path, lost.why)),
        }
    }

    /// What the server has against this as it is.
    pub(crate) fn as_it_is(&self) -> Option<String> {
        let why = self.refusal(&Judge::default(), &body(&self.request))?;
        Some(format!("{}: {why}", self.name))
    }

    /// What it has against this compacted to each of these targets.
    fn refusals_at(&self, targets: &[u8]) -> Vec<String> {
        let why = |percent: &u8| {
            let why = self.compacted(*percent).err()?;
            Some(format!("{} at {percent} %: {why}", self.name))
        };
        targets.iter().filter_map(why).collect()
    }

    fn refusals(&self) -> Vec<String> {
        self.refusals_at(&TARGETS)
    }

    /// Compacts, and lets the server judge; what it said against it.
    fn compacted(&self, percent: u8) -> Result<(), String> {
        let compactor = testkit::compactor(to_percent(percent), "o200k");
        let outcome = compactor.compact(&self.request).map_err(|error| error.to_string())?;
        let receipt = &outcome.receipt;
        let reached = match receipt.reached {
            Reached::Unreachable { .. } => receipt.floor,
            Reached::Declined => panic!("nobody was asked"),
            Reached::Target | Reached::NothingToDo | Reached::NotTriggered | Reached::Short => {
                receipt.target
            }
        };
        if receipt.reached == Reached::Target && !receipt.fallbacks.is_empty() {
            return Err(format!("another plan: {:?}", receipt.fallbacks));
        }
        // The server counts by a rule of its own, which adds a little around each block, and more for a picture.
        let out = body(&outcome.request);
        let answer =
            ["max_completion_tokens", "max_tokens"].iter().find_map(|key| out[*key].as_u64());
        // Chat Completions have the answer in the window, too.
        let answer = answer.filter(|_| self.api == Api::Chat).unwrap_or_default();
        let window = reached + reached / 8 + 500 + pictures(&out) * count::MEDIA + answer;
        let mut judge = Judge::default();
        judge.models.put(Model { window, ..Model::named(&self.model).expect("in the table") });
        if let Some(why) = self.refusal(&judge, &out) {
            return Err(why);
        }
        // The window is a wall: what is longer doesn't pass.
        match judge.validate(&self.call(&body(&self.request))) {
            Ok(understood) if understood.prompt.tokens() + answer > window => {
                Err(format!("{} tokens pass a window of {window}", understood.prompt.tokens()))
            }
            _ => Ok(()),
        }
    }
}

/// Pictures and documents, which are large for the server and small for the library.
fn pictures(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(pictures).sum(),
        Value::Object(map) => {
            let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
            let is_one = ["image", "document", "input_image", "input_file", "image_url"]
                .contains(&kind)
                || ["inlineData", "fileData", "image", "document"]
                    .iter()
                    .any(|key| map.contains_key(*key));
            u64::from(is_one) + map.values().map(pictures).sum::<u64>()
        }
        _ => 0,
    }
}

/// The messages of a request, whatever they are wrapped in.
pub(crate) fn body(request: &Request) -> Value {
    let text = request.source().trim_start_matches('\u{feff}');
    serde_json::from_str(text).unwrap_or_else(|_| {
        let lines = serde_json::Deserializer::from_str(text).into_iter();
        Value::Array(lines.map(|line| line.expect("it was parsed before")).collect())
    })
}

/// The shipped sessions.
pub(crate) fn sessions() -> Vec<Sent> {
    let session = |example: Example| {
        let options = epitome_recordings::Options { reach: Reach::Whole, ..Default::default() };
        let input = open(example.bytes(), None, options).expect(&example.name);
        Sent::dressed(example.name, input.request())
    };
    examples().into_iter().map(session).collect()
}

/// What real clients sent to be answered, and got answered, with all of the conversation in it.
fn captures() -> Vec<Sent> {
    let mut all = Vec::new();
    for capture in Capture::all() {
        for sent in &capture.requests {
            let route = sent.route();
            let request = wire::parse(sent.format(), sent.sealed()).expect("it is well-formed");
            let is_asked = matches!(route.endpoint, Endpoint::Generate | Endpoint::Stream);
            if !is_asked || request.elsewhere().is_some() || sent.refused.is_some() {
                continue;
            }
            let named = body(&request)["model"].as_str().map(str::to_owned);
            all.push(Sent {
                name: format!("{}/{}", capture.name, sent.file),
                api: route.api,
                model: route.model.or(named).expect("a request names its model"),
                betas: sent.betas.split(',').map(|beta| beta.trim().to_owned()).collect(),
                request,
            });
        }
    }
    all
}

fn none(refused: &[String]) {
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn every_compaction_of_every_session_is_accepted() {
    let sessions = sessions();
    none(&sessions.iter().flat_map(Sent::refusals).collect::<Vec<_>>());
    // A call in it is never answered, as its name says; compacted, it is.
    let broken: Vec<&Sent> = sessions.iter().filter(|sent| sent.as_it_is().is_some()).collect();
    let names: Vec<&str> = broken.iter().map(|sent| sent.name.as_str()).collect();
    assert_eq!(names, ["claude-code/edge_cases.jsonl"]);
    // No agent that we read writes these down.
    let is_recorded =
        |format: &Format| !matches!(format, Format::Bedrock | Format::GeminiInteractions);
    for format in Format::ALL.into_iter().filter(is_recorded) {
        let has_one = sessions.iter().any(|session| session.request.format == format);
        assert!(has_one, "no session in {format}");
    }
}

#[test]
fn a_compaction_of_every_capture_is_accepted() {
    let captures = captures();
    assert!(captures.len() > 50, "{} captures", captures.len());
    none(&captures.iter().filter_map(Sent::as_it_is).collect::<Vec<_>>());
    let each = captures.iter().enumerate();
    let refused =
        each.flat_map(|(nth, sent)| sent.refusals_at(&TARGETS[nth % TARGETS.len()..][..1]));
    none(&refused.collect::<Vec<_>>());
}

/// Converts each to every other format, then compacts it to `targets` of its position.
fn accepted_elsewhere<'a>(all: &[Sent], targets: impl Fn(usize) -> &'a [u8]) {
    let mut refused = Vec::new();
    let elsewhere = all.iter().flat_map(|sent| Format::ALL.map(|to| (sent, to)));
    for (nth, (sent, to)) in elsewhere.enumerate() {
        // What is broken before is mended by a conversion as by a compaction.
        if to != sent.request.format {
            let there = sent.converted(to);
            refused.extend(there.as_it_is());
            refused.extend(there.refusals_at(targets(nth)));
        }
    }
    none(&refused);
}

/// The largest request of each capture, and sessions that aren't large; each is compacted to each target, in some format.
#[test]
fn compactions_of_conversions_are_accepted() {
    let mut captures = captures();
    captures.dedup_by(|later, earlier| {
        let is_same = later.capture() == earlier.capture();
        if is_same && later.request.source().len() > earlier.request.source().len() {
            std::mem::swap(later, earlier);
        }
        is_same
    });
    let mut all = sessions();
    all.retain(|session| session.request.source().len() < 300_000);
    all.extend(captures);
    assert!(all.len() > 40, "{}", all.len());
    accepted_elsewhere(&all, |nth| &TARGETS[nth % TARGETS.len()..][..1]);
}

#[test]
#[ignore = "a minute: ./test full"]
fn every_compaction_of_every_capture_and_conversion_is_accepted() {
    none(&captures().iter().flat_map(Sent::refusals).collect::<Vec<_>>());
    let all: Vec<Sent> = sessions().into_iter().chain(captures()).collect();
    accepted_elsewhere(&all, |_| &TARGETS);
}

#[test]
fn the_judge_minds_what_a_compaction_must_not_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bytes =
        fs::read(root.join("examples/claude-code/session-3fe1b6bc.jsonl")).expect("it is shipped");
    let input = open(bytes, None, epitome_recordings::Options::default()).expect("a session");
    let sent = Sent::dressed("a session".to_owned(), input.request());
    let whole = body(&sent.request);
    let refusal = |body: &Value| sent.refusal(&Judge::default(), body);
    assert_eq!(refusal(&whole), None);
    // A tail that keeps its reasoning behind a summary.
    let mut kept = whole.clone();
    let messages = kept["messages"].as_array_mut().expect("messages");
    let at = messages
        .iter()
        .position(|message| message["content"][0]["type"] == "thinking")
        .expect("the model thought");
    messages[0] = json!({"role": "user", "content": "Summary: much was done."});
    let refused = refusal(&kept).expect("the prefix is another");
    assert!(
        refused.starts_with(&format!("messages.{at}.content.0: Invalid `signature`")),
        "{refused}"
    );
    // A window that is too small.
    let mut small = Judge::default();
    small
        .models
        .put(Model { window: 1_000, ..Model::named(model(Api::Anthropic)).expect("in the table") });
    let refused = sent.refusal(&small, &whole).expect("too long");
    assert!(
        refused.starts_with("prompt is too long: ") && refused.ends_with("> 1000 maximum"),
        "{refused}"
    );
}
