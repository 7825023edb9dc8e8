//! The tools.

use std::fmt::Write as _;
use std::sync::Arc;

use epitome::archive::ArchiveError;
use epitome::archive::recall::{self, Hit, Stretch};
use epitome::archive::{FoundOriginal, GET, SEARCH};
use epitome::count::TokenCounter;
use epitome::text::cut;
use epitome::text::secrets::masked;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::{Memory, SearchReach};

const STATS: &str = "context_stats";

/// Hits of a search, unless more are asked for.
const HITS: u64 = 5;

/// The most hits of a search.
const MOST_HITS: u64 = 20;

/// Tokens of an answer, unless others are asked for.
const TOKENS: u64 = 2000;

/// The most tokens of an answer: clients cut longer ones, or refuse them.
const MOST_TOKENS: u64 = 20_000;

/// The most bytes of one hit of several.
const STRETCH: usize = 700;

/// The most bytes of a name or of what was asked that an answer says again.
const ECHO: usize = 120;

/// The server.
#[derive(Clone, Debug)]
pub struct Recalls {
    memory: Arc<dyn Memory>,
    counter: Arc<dyn TokenCounter>,
}

impl Recalls {
    /// Recalls from a memory; answers are as long as the counter says.
    pub fn new(memory: Arc<dyn Memory>, counter: Arc<dyn TokenCounter>) -> Self {
        Recalls { memory, counter }
    }

    /// Answers a call. What the agent did wrong is told in words that it can act on.
    pub fn answer(&self, tool: &str, arguments: &JsonObject) -> Result<String, String> {
        let asked = Asked(arguments);
        match tool {
            SEARCH => {
                let words = asked.text("query")?;
                let limit = asked.number("limit", HITS, MOST_HITS)?;
                let tokens = asked.number("max_tokens", TOKENS, MOST_TOKENS)?;
                let limit = usize::try_from(limit).expect("it is at most 20");
                let reach =
                    if asked.flag("all")? { SearchReach::All } else { SearchReach::Project };
                let found =
                    self.memory.search(words, limit, reach).map_err(|error| told(&error))?;
                if found.is_empty() {
                    let (here, more) = match self.memory.project() {
                        Some(_) if reach == SearchReach::Project => {
                            (" in this project", "\nOther projects are searched with `all`: true.")
                        }
                        _ => ("", ""),
                    };
                    let words = short(words);
                    return Ok(format!(
                        "Nothing that was removed{here} says any of: {words}{more}"
                    ));
                }
                let all = found.len();
                let hits = recall::hits(found, words, STRETCH, tokens, self.counter.as_ref());
                let mut out = hits.iter().map(shown).collect::<String>();
                if hits.len() < all {
                    let more = all - hits.len();
                    writeln!(out, "{more} more left off: raise max_tokens").expect("it takes all");
                }
                out.push_str("All of one: recall_get with its id.");
                Ok(out)
            }
            GET => {
                let id = asked.text("id")?;
                let tokens = asked.number("max_tokens", TOKENS, MOST_TOKENS)?;
                let offset = asked.offset()?;
                let found = self.memory.get(id).map_err(|error| told(&error))?;
                let Some((_, first)) = found.first() else {
                    let id = short(id);
                    return Err(format!("Nothing has the id {id:?}; recall_search gives ids."));
                };
                // Several sessions may say the same.
                if found.iter().all(|(_, other)| other.id == first.id) {
                    return self.read_on(found, offset, tokens);
                }
                if offset > 0 {
                    return Err("Several ids begin like that: say all of one.".to_owned());
                }
                let hits = recall::hits(found, "", STRETCH, tokens, self.counter.as_ref());
                let shown: String = hits.iter().map(shown).collect();
                Ok(format!(
                    "{shown}Several ids begin like that; all of one: recall_get with its id."
                ))
            }
            STATS => {
                let stats = self.memory.stats().map_err(|error| told(&error))?;
                Ok(serde_json::to_string(&stats).expect("an object of texts and numbers"))
            }
            _ => Err(format!("There is no tool {:?}.", short(tool))),
        }
    }

    /// The text of a message from a byte on, and how to get the rest.
    fn read_on(
        &self,
        found: Vec<(String, FoundOriginal)>,
        offset: usize,
        tokens: u64,
    ) -> Result<String, String> {
        let words = found.first().map(|(_, first)| masked(&first.words).into_owned());
        let words = words.unwrap_or_default();
        let all = words.len();
        if offset > 0 && offset >= all {
            return Err(format!("It ends before `offset` {offset}: it has {all} bytes."));
        }
        let Stretch { text, from, next } =
            recall::piece(&words, offset, tokens, self.counter.as_ref());
        let mut hits = recall::hits(found, "", usize::MAX, 1, self.counter.as_ref());
        let mut out = String::new();
        if let Some(hit) = hits.first_mut() {
            text.clone_into(&mut hit.text);
            out = shown(hit);
        }
        if let Some(next) = next {
            writeln!(out, "Cut: bytes {from} to {next} of {all}. The rest: offset {next}")
                .expect("it takes all");
        }
        Ok(out)
    }
}

fn told(error: &ArchiveError) -> String {
    short(&error.to_string())
}

/// The first of something that may be as long as whoever asks likes, without its secrets.
fn short(text: &str) -> String {
    // More is masked than is shown, so that a secret at the cut is still recognised.
    cut::head(&masked(cut::head(text, 16 * ECHO)), ECHO).to_owned()
}

/// The text of a hit, marked as a recall's.
fn shown(hit: &Hit) -> String {
    let tool = hit.tool.as_deref().map(|tool| format!(", {}", short(tool))).unwrap_or_default();
    let time = hit.time.as_deref().map(|time| format!(", {time}")).unwrap_or_default();
    let (turn, entry, session) = (hit.turn, hit.entry, short(&hit.session));
    let (mark, by) = (&hit.recalled, hit.by());
    format!("{mark} {by}{tool}, turn {turn}, message {entry} of {session}{time}\n{}\n\n", hit.text)
}

/// Arguments as they came.
struct Asked<'a>(&'a JsonObject);

impl Asked<'_> {
    fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.0.get(name).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).ok_or_else(|| format!("`{name}` must be a text."))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| format!("`{name}` must be true or false."))
            }
        }
    }

    /// The byte from which on a message is wanted.
    fn offset(&self) -> Result<usize, String> {
        match self.0.get("offset") {
            None | Some(Value::Null) => Ok(0),
            Some(value) => value
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| "`offset` must be a number from 0.".to_owned()),
        }
    }

    fn number(&self, name: &str, usual: u64, most: u64) -> Result<u64, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(usual),
            Some(value) => match value.as_u64().filter(|number| *number > 0) {
                Some(number) => Ok(number.min(most)),
                None => Err(format!("`{name}` must be a number from 1 to {most}.")),
            },
        }
    }
}

/// The tools as an agent is told of them.
pub fn definitions() -> Vec<Tool> {
    let tool = |name: &'static str, description: &'static str, schema: Value| {
        let Value::Object(schema) = schema else { unreachable!("schemas are objects") };
        let hints = ToolAnnotations::new().read_only(true);
        Tool::new(name, description, schema).with_annotations(hints)
    };
    let tokens = json!({ "type": "integer", "description": "Longest answer (default 2000)" });
    vec![
        tool(
            SEARCH,
            "Find text of this project's conversations that was removed from the context: messages, tool calls, \
             results. Any of the words may match; identifiers match whole or in parts. Returns excerpts with ids.",
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words to look for" },
                    "all": { "type": "boolean", "description": "Other projects too (default false)" },
                    "limit": { "type": "integer", "description": "Most hits (default 5)" },
                    "max_tokens": tokens,
                },
                "required": ["query"],
            }),
        ),
        tool(
            GET,
            "Get a removed message by an id from recall_search. A long one comes in parts: each says the offset of the next.",
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": "string", "description": "The id" },
                    "offset": { "type": "integer", "description": "Byte to go on from (default 0)" },
                    "max_tokens": tokens,
                },
                "required": ["id"],
            }),
        ),
        tool(
            STATS,
            "What can be recalled: sessions, messages, compactions.",
            json!({ "type": "object", "properties": {} }),
        ),
    ]
}

impl ServerHandler for Recalls {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("epitome", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult { tools: definitions(), ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let recalls = self.clone();
        let arguments = request.arguments.unwrap_or_default();
        let answered =
            tokio::task::spawn_blocking(move || recalls.answer(&request.name, &arguments));
        let answered = answered.await.unwrap_or_else(|_| Err("The recall failed.".to_owned()));
        let result = match answered {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(result.into())
    }

    /// What isn't a request that is known; a call of a tool that isn't of the right form is read as such.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        if method == CallToolRequestMethod::VALUE {
            return Err(ErrorData::invalid_params("params: a tool's name and its arguments", None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }
}
