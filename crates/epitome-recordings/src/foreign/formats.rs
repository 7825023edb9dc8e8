//! The formats of others that are known, a row each.

use super::Foreign;
use super::Mark::{Among, Any, Begins, Ends, Has, Inside, Is, Key, Lacks, Within};
use super::Place::{Body, Message, Row};

const BODY: &str = "log the request body that is sent to the provider, and read that";
const CHAT: &str = "write it as a list of messages: [{\"role\": \"user\", \"content\": \"…\"}, …]";
const NEXT: &str = "read the request that came before it; the reply is in the next one";

/// The formats, the surest marks first.
pub(super) const FORMATS: &[Foreign] = &[
    Foreign {
        what: "a dump of Pydantic AI's messages",
        instead: BODY,
        place: Message,
        marks: &[&[Begins("kind", &["re"]), Among("parts", &[Has("part_kind", '"')])]],
    },
    Foreign {
        what: "a span of OpenTelemetry's GenAI conventions",
        instead: CHAT,
        place: Row,
        marks: &[
            &[Key("attributes", "gen_ai.")],
            &[Among("attributes", &[Begins("key", &["gen_ai."])])],
            &[Has("resourceSpans", '[')],
            &[Has("scopeSpans", '[')],
            &[Has("gen_ai.input.messages", '[')],
        ],
    },
    Foreign {
        what: "a list of OpenTelemetry's GenAI messages",
        instead: CHAT,
        place: Message,
        marks: &[
            &[
                Has("role", '"'),
                Among("parts", &[Is("type", &["text", "reasoning"]), Any("content")]),
            ],
            &[
                Has("role", '"'),
                Among("parts", &[Is("type", &["tool_call", "tool_call_response"]), Has("id", '"')]),
            ],
        ],
    },
    Foreign {
        what: "a list of the Vercel AI SDK's UI messages",
        instead: "log what convertToModelMessages and the provider make of it: the request body that is sent",
        place: Message,
        marks: &[
            &[Has("role", '"'), Among("parts", &[Has("type", '"')])],
            &[Has("role", '"'), Among("toolInvocations", &[Has("toolCallId", '"')])],
        ],
    },
    Foreign {
        what: "a list of the Vercel AI SDK's model messages",
        instead: BODY,
        place: Message,
        marks: &[&[Among("content", &[Has("toolCallId", '"'), Begins("type", &["tool-"])])]],
    },
    Foreign {
        what: "a dump of LangChain's messages",
        instead: "write what convert_to_openai_messages gives as JSON, and read that",
        place: Message,
        marks: &[
            &[Is("type", &["human", "ai", "system", "tool"]), Within("data", &[Any("content")])],
            &[
                Is("type", &["human", "ai", "system", "tool"]),
                Any("content"),
                Has("additional_kwargs", '{'),
            ],
            &[Any("lc"), Has("kwargs", '{')],
            &[Is("type", &["human", "ai"]), Any("content"), Lacks("role")],
        ],
    },
    Foreign {
        what: "a run of LangSmith",
        instead: BODY,
        place: Row,
        marks: &[&[Has("run_type", '"'), Has("inputs", '{')]],
    },
    Foreign {
        what: "a list of LlamaIndex's messages",
        instead: BODY,
        place: Message,
        marks: &[
            &[Has("role", '"'), Has("additional_kwargs", '{')],
            &[Has("role", '"'), Among("blocks", &[Has("block_type", '"')])],
        ],
    },
    Foreign {
        what: "a list of Haystack's messages",
        instead: "write what ChatMessage.to_openai_dict_format gives as JSON, and read that",
        place: Message,
        marks: &[
            &[Has("_role", '"'), Has("_content", '[')],
            &[Has("role", '"'), Has("meta", '{'), Any("name"), Among("content", &[Lacks("type")])],
        ],
    },
    Foreign {
        what: "a chat history of Semantic Kernel",
        instead: BODY,
        place: Message,
        marks: &[
            &[Among("items", &[Has("$type", '"')])],
            &[Among("Items", &[Has("$type", '"')])],
            &[Has("role", '"'), Among("items", &[Has("content_type", '"')])],
            &[Within("role", &[Has("Label", '"')])],
            &[Within("Role", &[Has("Label", '"')])],
        ],
    },
    Foreign {
        what: "AutoGen's messages",
        instead: BODY,
        place: Message,
        marks: &[
            &[Has("source", '"'), Any("models_usage"), Ends("type", &["Message", "Event"])],
            &[
                Ends(
                    "type",
                    &["UserMessage", "AssistantMessage", "SystemMessage", "ExecutionResultMessage"],
                ),
                Any("content"),
            ],
        ],
    },
    Foreign {
        what: "a saved state of AutoGen",
        instead: BODY,
        place: Row,
        marks: &[&[Has("agent_states", '{')], &[Ends("type", &["State"]), Has("llm_context", '{')]],
    },
    Foreign {
        what: "a session of Strands Agents",
        instead: "put the `message` of each file into a list, and read that: jq -s 'map(.message)' message_*.json | epitome stats",
        place: Row,
        marks: &[
            &[
                Any("message_id"),
                Within("message", &[Has("role", '"'), Has("content", '[')]),
                Lacks("type"),
            ],
            &[Has("agent_id", '"'), Has("conversation_manager_state", '{')],
            &[Has("session_id", '"'), Has("session_type", '"')],
        ],
    },
    Foreign {
        what: "a thread of Amp",
        instead: CHAT,
        place: Body,
        marks: &[
            &[Begins("id", &["T-"]), Any("created"), Has("messages", '[')],
            &[Among("messages", &[Any("messageId"), Has("role", '"')])],
            &[Among("messages", &[Among("content", &[Has("toolUseID", '"')])])],
        ],
    },
    Foreign {
        what: "a thread of Amp",
        instead: CHAT,
        place: Message,
        marks: &[&[Has("role", '"'), Among("content", &[Has("toolUseID", '"')])]],
    },
    Foreign {
        what: "a session of Goose",
        instead: CHAT,
        place: Row,
        marks: &[
            &[Has("working_dir", '"'), Has("conversation", '[')],
            &[Has("working_dir", '"'), Any("message_count")],
            &[Has("working_dir", '"'), Has("description", '"')],
        ],
    },
    Foreign {
        what: "messages of Goose",
        instead: CHAT,
        place: Message,
        marks: &[&[
            Has("role", '"'),
            Among(
                "content",
                &[Is("type", &["toolRequest", "toolResponse", "frontendToolRequest"])],
            ),
        ]],
    },
    Foreign {
        what: "a transcript of Cursor",
        instead: CHAT,
        place: Row,
        marks: &[
            &[
                Has("role", '"'),
                Within("message", &[Any("content")]),
                Lacks("type"),
                Lacks("content"),
            ],
            &[
                Is("type", &["tool_call"]),
                Is("subtype", &["started", "completed"]),
                Has("tool_call", '{'),
            ],
            &[Has("composerId", '"'), Any("conversation")],
            &[Has("bubbleId", '"'), Any("type")],
            &[Has("composerId", '"'), Has("allComposers", '[')],
            &[Among("bubbles", &[Any("bubbleId")])],
        ],
    },
    Foreign {
        what: "a session of Copilot CLI",
        instead: CHAT,
        place: Row,
        marks: &[&[
            Begins(
                "type",
                &["session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent."],
            ),
            Has("data", '{'),
            Any("parentId"),
        ]],
    },
    Foreign {
        what: "a chat of Copilot in VS Code",
        instead: CHAT,
        place: Row,
        marks: &[&[Has("responderUsername", '"'), Has("requests", '[')]],
    },
    Foreign {
        what: "a session of Qwen Code",
        instead: "take Gemini's contents out: jq -s 'map(select(.message.parts).message)' FILE | epitome stats --from gemini",
        place: Row,
        marks: &[&[
            Is("type", &["user", "assistant", "tool_result"]),
            Within("message", &[Has("parts", '[')]),
        ]],
    },
    Foreign {
        what: "a wire log of Kimi CLI",
        instead: "read the context.jsonl beside it",
        place: Row,
        marks: &[
            &[
                Any("timestamp"),
                Within("message", &[Has("type", '"'), Has("payload", '{')]),
                Lacks("type"),
            ],
            &[Is("type", &["metadata"]), Any("protocol_version")],
        ],
    },
    Foreign {
        what: "a session of Factory Droid",
        instead: "take the messages out: jq -s 'map(select(.type == \"message\").message)' FILE | epitome stats",
        place: Row,
        marks: &[&[Is("type", &["session_start"]), Has("id", '"')]],
    },
    Foreign {
        what: "a chat history of Grok",
        instead: CHAT,
        place: Row,
        marks: &[
            &[Is("type", &["tool_result"]), Has("tool_call_id", '"')],
            &[Is("type", &["assistant"]), Has("model_id", '"'), Any("content")],
            &[Is("type", &["assistant"]), Has("tool_calls", '['), Lacks("role")],
            &[Is("type", &["user"]), Any("prompt_index")],
        ],
    },
    Foreign {
        what: "a conversation of Amazon Q or Kiro",
        instead: CHAT,
        place: Row,
        marks: &[
            &[Has("conversation_id", '"'), Has("history", '[')],
            &[Has("conversation_id", '"'), Has("transcript", '[')],
            &[Has("conversationState", '{')],
        ],
    },
    Foreign {
        what: "the events of `codex exec --json`",
        instead: "read the session that Codex wrote itself: ~/.codex/sessions/*/*/*/rollout-*.jsonl",
        place: Row,
        marks: &[
            &[Is("type", &["thread.started"]), Has("thread_id", '"')],
            &[
                Begins("type", &["item."]),
                Within("item", &[Has("id", '"')]),
                Lacks("sequence_number"),
            ],
        ],
    },
    Foreign {
        what: "the events of `gemini --output-format stream-json`",
        instead: "read the session that Gemini CLI wrote itself: chats/session-*.json* in its folder",
        place: Row,
        marks: &[
            &[Is("type", &["init"]), Has("session_id", '"')],
            &[Is("type", &["tool_use", "tool_result"]), Has("tool_id", '"')],
        ],
    },
    Foreign {
        what: "what Cline or Roo Code shows (ui_messages.json)",
        instead: "read the api_conversation_history.json beside it",
        place: Row,
        marks: &[
            &[Is("type", &["say"]), Has("say", '"')],
            &[Is("type", &["ask"]), Has("ask", '"')],
        ],
    },
    Foreign {
        what: "a session of Continue",
        instead: "take the messages out: jq '.history | map(.message)' FILE | epitome stats",
        place: Row,
        marks: &[&[Has("sessionId", '"'), Among("history", &[Has("message", '{')])]],
    },
    Foreign {
        what: "a session of Google's ADK",
        instead: "take Gemini's contents out: jq '.events | map(.content)' FILE | epitome stats --from gemini",
        place: Row,
        marks: &[&[Any("appName"), Has("events", '[')], &[Any("app_name"), Has("events", '[')]],
    },
    Foreign {
        what: "a log of Inspect",
        instead: "take one out: jq '.samples[0].messages' FILE | epitome stats",
        place: Row,
        marks: &[&[Has("eval", '{'), Among("samples", &[Has("messages", '[')])]],
    },
    Foreign {
        what: "messages of a thread of OpenAI's Assistants",
        instead: CHAT,
        place: Row,
        marks: &[
            &[Is("object", &["thread.message"])],
            &[Among("data", &[Is("object", &["thread.message"])])],
        ],
    },
    Foreign {
        what: "a provider's reply",
        instead: NEXT,
        place: Row,
        marks: &[
            &[Begins("object", &["chat.completion"]), Has("choices", '[')],
            &[Is("object", &["response"]), Has("output", '[')],
            &[Has("candidates", '['), Lacks("contents")],
            &[
                Is("type", &["message"]),
                Is("role", &["assistant"]),
                Has("content", '['),
                Any("stop_reason"),
            ],
        ],
    },
    Foreign {
        what: "a provider's reply as a stream of events",
        instead: NEXT,
        place: Row,
        marks: &[
            &[Is("type", &["message_start"]), Has("message", '{')],
            &[Begins("type", &["response."]), Any("sequence_number")],
        ],
    },
    Foreign {
        what: "a batch of requests, one a line",
        instead: "sed -n 1p FILE | jq .body | epitome stats",
        place: Row,
        marks: &[&[Has("custom_id", '"'), Has("body", '{')]],
    },
    Foreign {
        what: "a batch of requests",
        instead: "take one out: jq '(.requests[0] // .).params' FILE | epitome stats",
        place: Row,
        marks: &[
            &[Has("custom_id", '"'), Has("params", '{')],
            &[Among("requests", &[Has("custom_id", '"')])],
        ],
    },
    Foreign {
        what: "a ShareGPT conversation",
        instead: CHAT,
        place: Row,
        marks: &[&[Among("conversations", &[Has("from", '"')])]],
    },
    Foreign {
        what: "a ShareGPT conversation",
        instead: CHAT,
        place: Message,
        marks: &[&[Has("from", '"'), Has("value", '"'), Lacks("role"), Lacks("type")]],
    },
    Foreign {
        what: "an export of ChatGPT",
        instead: CHAT,
        place: Row,
        marks: &[&[Inside("mapping", &[Has("message", '{')])]],
    },
    Foreign {
        what: "an export of claude.ai",
        instead: CHAT,
        place: Row,
        marks: &[&[Has("chat_messages", '[')]],
    },
    Foreign {
        what: "a trajectory around plain messages, as mini-swe-agent writes it",
        instead: "jq .messages FILE | epitome stats",
        place: Body,
        marks: &[&[
            Has("info", '{'),
            Among("messages", &[Has("role", '"')]),
            Lacks("task_id"),
            Lacks("reward"),
        ]],
    },
];
