//! One request in, one answer out; what is kept between them. No IO, no clock.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::cache::{PromptCache, Usage};
use super::error::ApiError;
use super::prompt::Understood;
use super::reply::{self, Draft, Event, Ids, Spoken, order};
use super::rules::{Call, Judge, ORGANIZATION, text};
use super::script::{self, Loop, Next, Reply, Script, Seen};
use super::threads::{self, Threads};
use super::{Api, Endpoint, Route};

/// A request as it came.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// `GET`, `POST` …
    pub method: &'a str,
    /// Path, with or without its query.
    pub path: &'a str,
    /// Names in lower case, and values.
    pub headers: &'a [(String, String)],
    /// The body's bytes.
    pub body: &'a [u8],
}

impl Incoming<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What is sent back.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers beside the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub payload: Payload,
    /// Silence before the first byte.
    pub wait: Duration,
    /// Silence before each further event.
    pub pace: Duration,
    /// The connection is cut at the end, without a proper one.
    pub is_cut: bool,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// JSON, as it is written.
    Whole(String),
    /// Server-sent events, as they are written.
    Events(Vec<String>),
    /// The elements of one JSON array, as they are written (Gemini without `alt=sse`).
    Array(Vec<String>),
    /// Messages of Amazon's binary event stream (Bedrock).
    Frames(Vec<Vec<u8>>),
}

/// What the server made of a request.
#[derive(Clone, Debug)]
pub struct Noted {
    /// Where it went.
    pub route: Option<Route>,
    /// What was understood, or the refusal.
    pub verdict: Result<Understood, ApiError>,
    /// What it used, if it was answered.
    pub usage: Option<Usage>,
}

/// The server: rules, script, cache, and the responses that it keeps.
pub struct Server {
    /// The rules.
    pub judge: Judge,
    script: Box<dyn Script>,
    cache: PromptCache,
    kept: HashMap<String, Vec<Value>>,
    threads: Threads,
    requests: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(Loop::default())
    }
}

impl Server {
    /// A server that answers by `script`.
    pub fn new(script: impl Script + 'static) -> Self {
        Self {
            judge: Judge::default(),
            script: Box::new(script),
            cache: PromptCache::default(),
            kept: HashMap::new(),
            threads: Threads::default(),
            requests: 0,
        }
    }

    /// Answers from now on by `script`.
    pub fn play(&mut self, script: impl Script + 'static) {
        self.script = Box::new(script);
    }

    /// The answer to a request at `now` (since 1970, or since whenever).
    pub fn answer(&mut self, incoming: &Incoming<'_>, now: Duration) -> (Answer, Noted) {
        self.requests += 1;
        let (path, query) = incoming.path.split_once('?').unwrap_or((incoming.path, ""));
        let route = Route::of(path);
        let Some(route) = route.filter(|_| incoming.method == "POST") else {
            return self.aside(incoming, path);
        };
        let api = route.api;
        let body = match serde_json::from_slice::<Value>(incoming.body) {
            Ok(body) => body,
            Err(error) => return refused(route, unreadable(api, &error.to_string())),
        };
        let betas = betas(incoming, &body);
        let has_threads = api == Api::Anthropic && betas.iter().any(|beta| beta == threads::BETA);
        let body = match if has_threads { self.threads.whole(body) } else { Ok(body) } {
            Ok(body) => body,
            Err(error) => return refused(route, error),
        };
        let body = match self.resolved(api, body) {
            Ok(body) => body,
            Err(error) => return refused(route, error),
        };
        let history = match self.history(api, &body) {
            Ok(history) => history,
            Err(error) => return refused(route, error),
        };
        let call = Call {
            api,
            endpoint: route.endpoint,
            model: route.model.as_deref(),
            betas: &betas,
            history: &history,
            body: &body,
        };
        let understood = match self.judge.validate(&call) {
            Ok(understood) => understood,
            Err(error) => return refused(route, error),
        };
        let next = match route.endpoint {
            Endpoint::Count | Endpoint::Compact => Next::Reply(Reply::default()),
            Endpoint::Generate | Endpoint::Stream => {
                self.script.next(&Seen { call: &call, understood: &understood })
            }
        };
        let reply = match next {
            Next::Reply(reply) => reply,
            Next::Fault(fault) => {
                let error = fault.error(api, &understood);
                let answer = error_answer(api, &error);
                return (
                    answer,
                    Noted { route: Some(route), verdict: Ok(understood), usage: None },
                );
            }
        };
        let usage = self.usage(&call, &understood, &reply, now);
        let mut after = understood.clone();
        let spoken = reply::speak(Draft {
            call: &call,
            understood: &mut after,
            say: &reply.say,
            stop: reply.stop.as_deref(),
            usage,
            ids: Ids::new(incoming.body, self.requests),
            now,
        });
        self.keep(&call, &understood, &spoken);
        if has_threads {
            self.threads.hold(&body, &spoken.whole);
        }
        let form = match api {
            _ if !understood.stream || spoken.events.is_empty() => ReplyForm::Whole,
            Api::Gemini if !query.contains("alt=sse") => ReplyForm::Array,
            Api::Converse => ReplyForm::Frames,
            _ => ReplyForm::Events,
        };
        let answer = sent(api, &understood, &reply, spoken, form);
        (answer, Noted { route: Some(route), verdict: Ok(understood), usage: Some(usage) })
    }

    fn usage(
        &mut self,
        call: &Call<'_>,
        understood: &Understood,
        reply: &Reply,
        now: Duration,
    ) -> Usage {
        if call.endpoint == Endpoint::Count {
            return Usage { prompt: understood.prompt.tokens(), ..Usage::default() };
        }
        let served =
            self.cache.serve(call.api, ORGANIZATION, &understood.model, &understood.prompt, now);
        let (output, reasoning) = script::tokens(&reply.say, understood.thinks);
        Usage { output, reasoning, ..served }
    }

    /// The body with the items that it only refers to, where they are kept.
    fn resolved(&self, api: Api, mut body: Value) -> Result<Value, ApiError> {
        let input = body.get_mut("input").filter(|_| api == Api::Responses);
        let items = input.and_then(Value::as_array_mut);
        for item in items.into_iter().flatten().filter(|item| item["type"] == "item_reference") {
            let mut kept = self.kept.values().flatten();
            let found = kept.find(|kept| kept["id"].is_string() && kept["id"] == item["id"]);
            *item = found.cloned().ok_or_else(|| {
                let id = text(&item["id"]);
                ApiError::new(api, 404, format!("Item with id '{id}' not found.")).param("input")
            })?;
        }
        Ok(body)
    }

    /// What the kept answer that a request goes on from stands for.
    fn history(&self, api: Api, body: &Value) -> Result<Vec<Value>, ApiError> {
        let conversation = &body["conversation"];
        let named = conversation.as_str().or_else(|| conversation["id"].as_str());
        if let Some(id) =
            named.filter(|_| api == Api::Responses && body["previous_response_id"].is_null())
        {
            // Nobody begins one here.
            let gone = format!("Conversation with id '{id}' not found.");
            return Err(ApiError::new(api, 404, gone));
        }
        let Some(key) = api.goes_on_from() else { return Ok(Vec::new()) };
        let Some(id) = body[key].as_str() else { return Ok(Vec::new()) };
        self.kept.get(id).cloned().ok_or_else(|| match api {
            Api::Interactions => ApiError::new(api, 404, format!("Interaction '{id}' not found.")),
            _ => ApiError::invalid(api, format!("Previous response with id '{id}' not found."))
                .code("previous_response_not_found")
                .param(key),
        })
    }

    fn keep(&mut self, call: &Call<'_>, understood: &Understood, spoken: &Spoken) {
        let keeps = call.api.goes_on_from().is_some() && call.body["store"] != false;
        let is_kept = keeps && !spoken.items.is_empty();
        if let Some(id) = spoken.whole["id"].as_str().filter(|_| is_kept) {
            let mut items = understood.items.clone();
            items.extend(spoken.items.iter().cloned());
            self.kept.insert(id.to_owned(), items);
        }
    }

    /// Everything that isn't a call of a model: lists of models, and what isn't there.
    fn aside(&self, incoming: &Incoming<'_>, path: &str) -> (Answer, Noted) {
        let api = if incoming.header("anthropic-version").is_some() {
            Api::Anthropic
        } else if path.contains("/v1beta") {
            Api::Gemini
        } else {
            Api::Chat
        };
        let is_list = incoming.method == "GET" && path.trim_end_matches('/').ends_with("/models");
        if is_list {
            let list = match api {
                Api::Anthropic => {
                    json!({"data": [{"type": "model", "id": "claude-opus-5-5", "display_name": "Claude Opus 5.5",
                    "created_at": "2026-09-01T00:00:00Z"}], "has_more": false, "first_id": null, "last_id": null})
                }
                Api::Gemini => {
                    json!({"models": [{"name": "models/gemini-3.1-pro", "supportedGenerationMethods":
                    ["generateContent", "countTokens"]}]})
                }
                _ => {
                    json!({"object": "list", "data": [{"id": "gpt-6.1-sol", "object": "model", "owned_by": "openai"}]})
                }
            };
            let verdict = Err(ApiError::new(api, 200, "not a call"));
            return (whole(api, 200, &list), Noted { route: None, verdict, usage: None });
        }
        let kept = path.rsplit_once("/responses/").and_then(|(_, id)| self.kept.get_key_value(id));
        if let Some((id, items)) = kept.filter(|_| incoming.method == "GET") {
            let verdict = Err(ApiError::new(api, 200, "not a call"));
            let body =
                json!({"id": id, "object": "response", "status": "completed", "output": items});
            return (whole(api, 200, &body), Noted { route: None, verdict, usage: None });
        }
        let error = ApiError::new(api, 404, format!("Invalid URL ({} {path})", incoming.method));
        (error_answer(api, &error), Noted { route: None, verdict: Err(error), usage: None })
    }
}

fn betas(incoming: &Incoming<'_>, body: &Value) -> Vec<String> {
    let named = incoming.headers.iter().filter(|(name, _)| name == "anthropic-beta");
    let named = named.flat_map(|(_, value)| value.split(',')).map(|beta| beta.trim().to_owned());
    let inside = body["betas"].as_array().into_iter().flatten();
    named.chain(inside.map(|beta| text(beta).to_owned())).collect()
}

fn unreadable(api: Api, why: &str) -> ApiError {
    let text = match api {
        Api::Anthropic => format!("The request body is not valid JSON: {why}"),
        Api::Gemini | Api::Interactions => format!("Invalid JSON payload received. {why}"),
        Api::Converse => format!("Unable to parse the request: {why}"),
        _ => "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload.".to_owned(),
    };
    ApiError::invalid(api, text)
}

fn refused(route: Route, error: ApiError) -> (Answer, Noted) {
    (
        error_answer(route.api, &error),
        Noted { route: Some(route), verdict: Err(error), usage: None },
    )
}

fn whole(api: Api, status: u16, body: &Value) -> Answer {
    Answer {
        status,
        headers: Vec::new(),
        payload: Payload::Whole(order::written(api, body)),
        wait: Duration::ZERO,
        pace: Duration::ZERO,
        is_cut: false,
    }
}

fn error_answer(api: Api, error: &ApiError) -> Answer {
    let mut answer = whole(api, error.status, &error.body(api));
    answer.headers = headers(api);
    if let Some(seconds) = error.retry_after {
        answer.headers.push(("retry-after", seconds.to_string()));
    }
    if api == Api::Converse {
        answer.headers.push(("x-amzn-errortype", error.kind.clone()));
    }
    answer
}

fn headers(api: Api) -> Vec<(&'static str, String)> {
    let name = match api {
        Api::Anthropic => "request-id",
        Api::Converse => "x-amzn-requestid",
        _ => "x-request-id",
    };
    vec![(name, "req_scripted".to_owned())]
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyForm {
    Whole,
    Events,
    Array,
    Frames,
}

fn sent(
    api: Api,
    understood: &Understood,
    reply: &Reply,
    spoken: Spoken,
    form: ReplyForm,
) -> Answer {
    let (payload, is_cut) = match &reply.broken {
        None if form == ReplyForm::Whole => {
            (Payload::Whole(order::written(api, &spoken.whole)), false)
        }
        None => (written(api, spoken.events, form), false),
        Some(broken) if form == ReplyForm::Whole => match &broken.fault {
            Some(fault) => return error_answer(api, &fault.error(api, understood)),
            None => (Payload::Whole(order::written(api, &spoken.whole)), true),
        },
        Some(broken) => {
            let mut events = spoken.events;
            events.truncate(broken.after);
            if let Some(fault) = &broken.fault {
                let error = fault.error(api, understood);
                events.push(reply::broken(api, &error, &events));
            }
            (written(api, events, form), broken.fault.is_none())
        }
    };
    let headers = headers(api);
    Answer { status: 200, headers, payload, wait: reply.wait, pace: reply.pace, is_cut }
}

fn written(api: Api, events: Vec<Event>, form: ReplyForm) -> Payload {
    if form == ReplyForm::Frames {
        return Payload::Frames(events.iter().map(Event::framed).collect());
    }
    if form == ReplyForm::Events {
        return Payload::Events(events.iter().map(|event| event.written(api)).collect());
    }
    let data = events.into_iter().filter_map(|event| match event {
        Event::Named(_, data) | Event::Data(data) => Some(order::written(api, &data)),
        Event::Done => None,
    });
    Payload::Array(data.collect())
}
