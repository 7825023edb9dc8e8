//! The tools.

use std::fmt::Write as _;
use std::sync::Arc;

use epitome::archive::ArchiveError;
use epitome::count::TokenCounter;
use epitome::recall::{self, Hit};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::Memory;

const SEARCH: &str = "recall_search";
const GET: &str = "recall_get";
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
                let found = self.memory.search(words, limit).map_err(|error| told(&error))?;
                if found.is_empty() {
                    return Ok(format!("Nothing that was removed says any of: {words}"));
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
                let found = self.memory.get(id).map_err(|error| told(&error))?;
                if found.is_empty() {
                    return Err(format!("Nothing has the id {id:?}; recall_search gives ids."));
                }
                let hits = recall::hits(found, "", usize::MAX, tokens, self.counter.as_ref());
                Ok(hits.iter().map(shown).collect())
            }
            STATS => {
                let stats = self.memory.stats().map_err(|error| told(&error))?;
                Ok(serde_json::to_string(&stats).expect("an object of texts and numbers"))
            }
            _ => Err(format!("There is no tool {tool:?}.")),
        }
    }
}

fn told(error: &ArchiveError) -> String {
    error.to_string()
}

/// What a hit says, marked as what a recall gave.
fn shown(hit: &Hit) -> String {
    let tool = hit.tool.as_deref().map(|tool| format!(", {tool}")).unwrap_or_default();
    let origin = serde_json::to_value(hit.origin).unwrap_or(Value::Null);
    let origin = origin.as_str().unwrap_or("other");
    format!(
        "{}{}] {origin}{tool}, turn {}, message {} of {}\n{}\n\n",
        recall::MARK,
        hit.id,
        hit.turn,
        hit.entry,
        hit.session,
        hit.text
    )
}

/// Arguments as they came.
struct Asked<'a>(&'a JsonObject);

impl Asked<'_> {
    fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.0.get(name).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).ok_or_else(|| format!("`{name}` must be a text."))
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
            "Find text of this or earlier conversations that was removed from the context: messages, tool calls, \
             results. Any of the words may match; identifiers match whole or in parts. Returns excerpts with ids.",
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words to look for" },
                    "limit": { "type": "integer", "description": "Most hits (default 5)" },
                    "max_tokens": tokens,
                },
                "required": ["query"],
            }),
        ),
        tool(
            GET,
            "Get the full text of a removed message by an id from recall_search.",
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": "string", "description": "The id" },
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
}
