//! The formats of others that are known, a row each.

use super::Foreign;
use super::Mark::{Among, Any, Begins, Ends, Has, Inside, Is, Key, Lacks, Within};
use super::Place::{Body, Message, Row};

const BODY: &str = "log the request body that is sent to the provider, and read that";
const CHAT: &str = "write it as a list of messages: [{\"role\": \"user\", \"content\": \"…\"}, …]";
const NEXT: &str = "read the request that came before it; the reply is in the next one";

/// The formats, the surest marks first: what it is, what to do instead, where its marks stand; and sets of marks, each of which
/// is enough.
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
    "the events of `gemini --output-format stream-json`",
        "read the session that Gemini CLI wrote itself: chats/session-*.json* in its folder", Row:
        [Is("type", &["init"]), Has("session_id", '"')]
        [Is("type", &["tool_use", "tool_result"]), Has("tool_id", '"')];
    "what Cline or Roo Code shows (ui_messages.json)", "read the api_conversation_history.json beside it", Row:
        [Is("type", &["say"]), Has("say", '"')]
        [Is("type", &["ask"]), Has("ask", '"')];
    "a session of Continue", "take the messages out: jq '.history | map(.message)' FILE | epitome stats", Row:
        [Has("sessionId", '"'), Among("history", &[Has("message", '{')])];
    "a session of Google's ADK",
        "take Gemini's contents out: jq '.events | map(.content)' FILE | epitome stats --from gemini", Row:
        [Any("appName"), Has("events", '[')]
        [Any("app_name"), Has("events", '[')];
    "a log of Inspect", "take one out: jq '.samples[0].messages' FILE | epitome stats", Row:
        [Has("eval", '{'), Among("samples", &[Has("messages", '[')])];
    "messages of a thread of OpenAI's Assistants", CHAT, Row:
        [Is("object", &["thread.message"])]
        [Among("data", &[Is("object", &["thread.message"])])];
    "a provider's reply", NEXT, Row:
        [Begins("object", &["chat.completion"]), Has("choices", '[')]
        [Is("object", &["response"]), Has("output", '[')]
        [Has("candidates", '['), Lacks("contents")]
        [Is("type", &["message"]), Is("role", &["assistant"]), Has("content", '['), Any("stop_reason")];
    "a provider's reply as a stream of events", NEXT, Row:
        [Is("type", &["message_start"]), Has("message", '{')]
        [Begins("type", &["response."]), Any("sequence_number")];
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
    "a trajectory around plain messages, as mini-swe-agent writes it", "jq .messages FILE | epitome stats", Body:
        [Has("info", '{'), Among("messages", &[Has("role", '"')]), Lacks("task_id"), Lacks("reward")];
}
