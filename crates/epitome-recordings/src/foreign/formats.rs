//! The formats of others that are known, a row each.

use super::Foreign;
use super::Mark::{Among, Any, Begins, Ends, Has, Inside, Is, Key, Lacks, Within};
use super::Place::{Body, Message, Row};

const BODY: &str = "log the request body that is sent to the provider, and read that";
const CHAT: &str = "write it as a list of messages: [{\"role\": \"user\", \"content\": \"…\"}, …]";
const CONTINUE: &str = "take the messages out, with the results that stand beside them: jq '(.history | map(.message.toolCallId)) as $told \
    | [.history[] | (.message | with_entries(.key |= ({toolCalls: \"tool_calls\", toolCallId: \"tool_call_id\"}[.] // .))), \
    (.toolCallStates[]? | select(.toolCallId as $id | $told | index($id) | not) \
    | {role: \"tool\", tool_call_id: .toolCallId, content: ([.output[]?.content] | join(\"\\n\"))})]' FILE | epitome stats";
const INSPECT: &str = "take one out: jq '.samples[0].messages | map(if .tool_calls then .tool_calls |= map({id, type, \
    function: {name: .function, arguments: (.arguments | tojson)}}) else . end)' FILE | epitome stats";
/// Kinds of Langfuse's observations in which a model is asked, or that hold such.
const OBSERVATIONS: &[&str] = &["GENERATION", "SPAN", "AGENT", "CHAIN"];
pub(super) const NEXT: &str = "read the request that came before it; the reply is in the next one";

/// The formats, the surest marks first: the name, the advice, where its marks stand, and sets of marks, each of which is
/// enough.
macro_rules! formats {
    ($($what:literal, $instead:expr, $place:ident: $([$($mark:expr),*])*;)*) => {
        pub(super) const FORMATS: &[Foreign] = &[$(Foreign {
            what: $what,
            instead: $instead,
            place: $place,
            marks: &[$(&[$($mark),*]),*],
        }),*];
    };
}

formats! {
    "a dump of Pydantic AI's messages", BODY, Message:
        [Begins("kind", &["re"]), Among("parts", &[Has("part_kind", '"')])];
    "a span of OpenTelemetry's GenAI conventions", CHAT, Row:
        [Key("attributes", "gen_ai.")]
        [Among("attributes", &[Begins("key", &["gen_ai."])])]
        [Has("resourceSpans", '[')]
        [Has("scopeSpans", '[')]
        [Has("gen_ai.input.messages", '[')];
    "a list of OpenTelemetry's GenAI messages", CHAT, Message:
        [Has("role", '"'), Among("parts", &[Is("type", &["text", "reasoning"]), Any("content")])]
        [Has("role", '"'), Among("parts", &[Is("type", &["tool_call", "tool_call_response"]), Has("id", '"')])];
    "a session of Crush", CHAT, Message:
        [Has("role", '"'), Among("parts", &[Is("type", &["text", "reasoning", "tool_call", "tool_result", "finish"]), Has("data", '{')])];
    "a list of the Vercel AI SDK's UI messages",
        "log what convertToModelMessages and the provider make of it: the request body that is sent", Message:
        [Has("role", '"'), Among("parts", &[Has("type", '"')])]
        [Has("role", '"'), Among("toolInvocations", &[Has("toolCallId", '"')])];
    "a list of the Vercel AI SDK's model messages", BODY, Message:
        [Among("content", &[Has("toolCallId", '"'), Begins("type", &["tool-"])])];
    "a dump of LangChain's messages", "write what convert_to_openai_messages gives as JSON, and read that", Message:
        [Is("type", &["human", "ai", "system", "tool"]), Within("data", &[Any("content")])]
        [Is("type", &["human", "ai", "system", "tool"]), Any("content"), Has("additional_kwargs", '{')]
        [Any("lc"), Has("kwargs", '{')]
        [Is("type", &["human", "ai"]), Any("content"), Lacks("role")];
    "a state of LangGraph",
        "write what convert_to_openai_messages gives for its `messages` as JSON, and read that", Row:
        [Within("values", &[Has("messages", '[')])];
    "a run of LangSmith", BODY, Row:
        [Has("run_type", '"'), Has("inputs", '{')];
    "a list of LlamaIndex's messages", BODY, Message:
        [Has("role", '"'), Has("additional_kwargs", '{')]
        [Has("role", '"'), Among("blocks", &[Has("block_type", '"')])];
    "a list of Haystack's messages", "write what ChatMessage.to_openai_dict_format gives as JSON, and read that", Message:
        [Has("_role", '"'), Has("_content", '[')]
        [Has("role", '"'), Has("meta", '{'), Any("name"), Among("content", &[Lacks("type")])];
    "a chat history of Semantic Kernel", BODY, Message:
        [Among("items", &[Has("$type", '"')])]
        [Among("Items", &[Has("$type", '"')])]
        [Has("role", '"'), Among("items", &[Has("content_type", '"')])]
        [Within("role", &[Has("Label", '"')])]
        [Within("Role", &[Has("Label", '"')])];
    "a list of Microsoft.Extensions.AI's messages", BODY, Body:
        [Has("role", '"'), Among("contents", &[Has("$type", '"')])];
    "AutoGen's messages", BODY, Message:
        [Has("source", '"'), Any("models_usage"), Ends("type", &["Message", "Event"])]
        [Ends("type", &["UserMessage", "AssistantMessage", "SystemMessage", "ExecutionResultMessage"]), Any("content")];
    "a saved state of AutoGen", BODY, Row:
        [Has("agent_states", '{')]
        [Ends("type", &["State"]), Has("llm_context", '{')];
    "a session of Strands Agents",
        "put the `message` of each file into a list, and read that: jq -s 'map(.message)' message_*.json | epitome stats", Row:
        [Any("message_id"), Within("message", &[Has("role", '"'), Has("content", '[')]), Lacks("type")]
        [Has("agent_id", '"'), Has("conversation_manager_state", '{')]
        [Has("session_id", '"'), Has("session_type", '"')];
    "a history of Gemini's Interactions in turns, as they were before June 2026",
        "write a step for each turn: {\"type\": \"user_input\", \"content\": […]}, {\"type\": \"model_output\", \"content\": […]}", Body:
        [Among("input", &[Is("role", &["model"]), Any("content"), Lacks("type")])];
    "a thread of Amp", CHAT, Body:
        [Begins("id", &["T-"]), Any("created"), Has("messages", '[')]
        [Among("messages", &[Any("messageId"), Has("role", '"')])]
        [Among("messages", &[Among("content", &[Has("toolUseID", '"')])])];
    "a thread of Amp", CHAT, Message:
        [Has("role", '"'), Among("content", &[Has("toolUseID", '"')])];
    "a thread of Zed", CHAT, Body:
        [Among("messages", &[Has("User", '{')])]
        [Among("messages", &[Has("Agent", '{')])]
        [Among("messages", &[Has("role", '"'), Has("segments", '[')])];
    "a conversation of LM Studio", CHAT, Body:
        [Among("messages", &[Has("versions", '['), Any("currentlySelected")])];
    "a conversation of LibreChat", CHAT, Body:
        [Among("messages", &[Has("messageId", '"'), Any("isCreatedByUser")])];
    "an export of Open WebUI", CHAT, Row:
        [Within("chat", &[Within("history", &[Has("messages", '{')])])];
    "a session of Goose", CHAT, Row:
        [Has("working_dir", '"'), Has("conversation", '[')]
        [Has("working_dir", '"'), Any("message_count")]
        [Has("working_dir", '"'), Has("description", '"')];
    "messages of Goose", CHAT, Message:
        [Has("role", '"'), Among("content", &[Is("type", &["toolRequest", "toolResponse", "frontendToolRequest"])])];
    "a transcript of Cursor", CHAT, Row:
        [Has("role", '"'), Within("message", &[Any("content")]), Lacks("type"), Lacks("content")]
        [Is("type", &["tool_call"]), Is("subtype", &["started", "completed"]), Has("tool_call", '{')]
        [Has("composerId", '"'), Any("conversation")]
        [Has("bubbleId", '"'), Any("type")]
        [Has("composerId", '"'), Has("allComposers", '[')]
        [Among("bubbles", &[Any("bubbleId")])];
    "a session of Copilot CLI", CHAT, Row:
        [Begins("type", &["session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent."]), Has("data", '{'),
         Any("parentId")];
    "a chat of Copilot in VS Code", CHAT, Row:
        [Has("responderUsername", '"'), Has("requests", '[')];
    "a session of Qwen Code",
        "take Gemini's contents out: jq -s 'map(select(.message.parts).message)' FILE | epitome stats --from gemini", Row:
        [Is("type", &["user", "assistant", "tool_result"]), Within("message", &[Has("parts", '[')])];
    "a wire log of Kimi CLI", "read the context.jsonl beside it", Row:
        [Any("timestamp"), Within("message", &[Has("type", '"'), Has("payload", '{')]), Lacks("type")]
        [Is("type", &["metadata"]), Any("protocol_version")];
    "a session of Factory Droid",
        "take the messages out: jq -s 'map(select(.type == \"message\").message)' FILE | epitome stats", Row:
        [Is("type", &["session_start"]), Has("id", '"')];
    "a chat history of Grok", CHAT, Row:
        [Is("type", &["tool_result"]), Has("tool_call_id", '"')]
        [Is("type", &["assistant"]), Has("model_id", '"'), Any("content")]
        [Is("type", &["assistant"]), Has("tool_calls", '['), Lacks("role")]
        [Is("type", &["user"]), Any("prompt_index")];
    "a conversation of Amazon Q or Kiro", CHAT, Row:
        [Has("conversation_id", '"'), Has("history", '[')]
        [Has("conversation_id", '"'), Has("transcript", '[')]
        [Has("conversationState", '{')];
    "the events of `codex exec --json`",
        "read the session that Codex wrote itself: ~/.codex/sessions/*/*/*/rollout-*.jsonl", Row:
        [Is("type", &["thread.started"]), Has("thread_id", '"')]
        [Begins("type", &["item."]), Within("item", &[Has("id", '"')]), Lacks("sequence_number")];
    "the prompts that Codex keeps (history.jsonl)",
        "read the session that Codex wrote itself: ~/.codex/sessions/*/*/*/rollout-*.jsonl", Row:
        [Has("session_id", '"'), Any("ts"), Has("text", '"'), Lacks("role"), Lacks("type")];
    "the prompts that Gemini CLI keeps (logs.json)",
        "read the session that Gemini CLI wrote itself: chats/session-*.json* in its folder", Row:
        [Has("sessionId", '"'), Any("messageId"), Has("message", '"'), Lacks("role")];
    "the events of `opencode run --format json`",
        "read the session itself: opencode export SESSION | epitome stats", Row:
        [Has("sessionID", '"'), Has("part", '{'), Any("timestamp")];
    "the events of `pi --mode json`",
        "read the session that pi wrote itself: ~/.pi/agent/sessions/*/*.jsonl", Row:
        [Is("type", &["agent_start"]), Lacks("payload")]
        [Is("type", &["message_end"]), Within("message", &[Has("role", '"')])];
    "an OpenHands conversation from before its SDK", CHAT, Row:
        [Has("source", '"'), Has("action", '"'), Has("args", '{')]
        [Has("source", '"'), Has("observation", '"'), Has("extras", '{')];
    "a task or message of the Agent2Agent protocol", CHAT, Row:
        [Has("contextId", '"'), Within("status", &[Has("state", '"')])]
        [Has("messageId", '"'), Is("role", &["user", "agent"]), Among("parts", &[Any("kind")])];
    "a log of the Agent Client Protocol", CHAT, Row:
        [Has("jsonrpc", '"'), Begins("method", &["session/"])];
    "the events of `gemini --output-format stream-json`",
        "read the session that Gemini CLI wrote itself: chats/session-*.json* in its folder", Row:
        [Is("type", &["init"]), Has("session_id", '"')]
        [Is("type", &["tool_use", "tool_result"]), Has("tool_id", '"')];
    "what Cline or Roo Code shows (ui_messages.json)", "read the api_conversation_history.json beside it", Row:
        [Is("type", &["say"]), Has("say", '"')]
        [Is("type", &["ask"]), Has("ask", '"')];
    "a session of Continue or Kiro", CONTINUE, Row:
        [Has("sessionId", '"'), Among("history", &[Has("message", '{')])];
    "messages of Continue", "write `toolCalls` as `tool_calls` and `toolCallId` as `tool_call_id`", Message:
        [Has("role", '"'), Has("toolCalls", '[')]
        [Is("role", &["tool"]), Has("toolCallId", '"')];
    "a trajectory in ATIF, as Harbor writes it", CHAT, Row:
        [Begins("schema_version", &["ATIF"]), Has("steps", '[')];
    "a trajectory of Trae", CHAT, Row:
        [Has("llm_interactions", '['), Has("agent_steps", '[')];
    "messages of Letta", CHAT, Row:
        [Ends("message_type", &["_message"])];
    "an agent of Letta", "take the messages out: jq '.agents[0].messages' FILE | epitome stats", Row:
        [Among("agents", &[Has("llm_config", '{')])];
    "a step of smolagents", BODY, Row:
        [Any("step_number"), Any("model_input_messages")];
    "a session of Google's ADK",
        "take Gemini's contents out: jq '.events | map(.content)' FILE | epitome stats --from gemini", Row:
        [Any("appName"), Has("events", '[')]
        [Any("app_name"), Has("events", '[')];
    "a log of Inspect", INSPECT, Row:
        [Has("eval", '{'), Among("samples", &[Has("messages", '[')])];
    "messages of Inspect",
        "write each call as {\"id\": \"…\", \"type\": \"function\", \"function\": {\"name\": \"…\", \"arguments\": \"{…}\"}}", Message:
        [Has("role", '"'), Among("tool_calls", &[Has("function", '"')])];
    "a trace of Langfuse", "take one request out: jq '.observations[-1].input' FILE | epitome stats", Row:
        [Among("observations", &[Is("type", OBSERVATIONS)])];
    "an observation of Langfuse", "take the request out: jq .input FILE | epitome stats", Row:
        [Has("traceId", '"'), Is("type", OBSERVATIONS)];
    "an observation of Langfuse", "take the request out: jq .input FILE | epitome stats", Body:
        [Has("traceId", '"'), Is("type", OBSERVATIONS)];
    "a recording of a browser's network (HAR)",
        "take a request out: jq -r '.log.entries[0].request.postData.text' FILE | epitome stats", Row:
        [Within("log", &[Has("version", '"'), Has("entries", '[')])];
    "a request of Cohere's first chat API", CHAT, Row:
        [Has("message", '"'), Has("chat_history", '[')];
    "a request to complete a prompt, as Ollama's /api/generate takes it", CHAT, Row:
        [Has("model", '"'), Has("prompt", '"')];
    "events of Gemini's Live API", "write what was said as contents: [{\"role\": \"user\", \"parts\": [{\"text\": \"…\"}]}, …]", Row:
        [Has("clientContent", '{')]
        [Has("serverContent", '{')]
        [Has("realtimeInput", '{')]
        [Has("setupComplete", '{')]
        [Within("setup", &[Has("model", '"')])];
    "messages of a thread of OpenAI's Assistants", CHAT, Row:
        [Is("object", &["thread.message"])]
        [Among("data", &[Is("object", &["thread.message"])])];
    "a provider's reply", NEXT, Row:
        [Begins("object", &["chat.completion"]), Has("choices", '[')]
        [Is("object", &["response"]), Has("output", '[')]
        [Has("candidates", '['), Lacks("contents")]
        [Within("output", &[Has("message", '{')]), Has("stopReason", '"')]
        [Is("type", &["message"]), Is("role", &["assistant"]), Has("content", '['), Any("stop_reason")];
    "a provider's reply as a stream of events", NEXT, Row:
        [Is("type", &["message_start"]), Has("message", '{')]
        [Begins("type", &["response."]), Any("sequence_number")];
    "events of OpenAI's Realtime API",
        "take the items out: jq -s 'map(select(.type == \"conversation.item.create\").item)' FILE | epitome stats", Row:
        [Begins("type", &["conversation.item."])]
        [Begins("type", &["session."]), Has("session", '{')]
        [Begins("type", &["input_audio_buffer."])];
    "a batch of requests, one a line", "sed -n 1p FILE | jq .body | epitome stats", Row:
        [Has("custom_id", '"'), Has("body", '{')];
    "a batch of requests", "take one out: jq '(.requests[0] // .).params' FILE | epitome stats", Row:
        [Has("custom_id", '"'), Has("params", '{')]
        [Among("requests", &[Has("custom_id", '"')])];
    "a ShareGPT conversation", CHAT, Row:
        [Among("conversations", &[Has("from", '"')])];
    "a ShareGPT conversation", CHAT, Message:
        [Has("from", '"'), Has("value", '"'), Lacks("role"), Lacks("type")];
    "an export of ChatGPT", CHAT, Row:
        [Inside("mapping", &[Has("message", '{')])];
    "an export of claude.ai", CHAT, Row:
        [Has("chat_messages", '[')];
    "a trajectory around plain messages, as mini-swe-agent writes it",
        "jq '.messages | map(select(.role != \"exit\"))' FILE | epitome stats", Body:
        [Has("info", '{'), Among("messages", &[Has("role", '"')]), Lacks("task_id"), Lacks("reward")];
}
