// @anthropic-ai/sdk (npm): streamed, adaptive thinking, tools in parallel, web search, a picture in a result, the
// cache marker moved to the newest message, system text in mid-conversation.
import Anthropic from "@anthropic-ai/sdk";
import { picture, result, rules, shapes, task } from "./desk.mjs";

const client = new Anthropic();
const tools = [
  ...Object.entries(shapes).map(([name, { description, parameters }]) => ({
    name,
    description,
    input_schema: parameters,
  })),
  { type: "web_search_20250305", name: "web_search", max_uses: 3 },
];
tools.at(-1).cache_control = { type: "ephemeral", ttl: "1h" };
const messages = [{ role: "user", content: task }];

/** The newest message gets the marker, the one before loses it. */
function marked() {
  const copy = structuredClone(messages);
  const last = copy.findLast((message) => message.role === "user");
  if (typeof last.content === "string") last.content = [{ type: "text", text: last.content }];
  last.content.at(-1).cache_control = { type: "ephemeral" };
  return copy;
}

async function turn(more) {
  for (;;) {
    const stream = client.messages.stream({
      model: "claude-opus-5-5",
      max_tokens: 16000,
      system: [{ type: "text", text: rules, cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: marked(),
      tools,
      thinking: { type: "adaptive" },
      metadata: { user_id: "u_5f1c" },
      ...more,
    });
    const message = await stream.finalMessage();
    messages.push({ role: message.role, content: message.content });
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return;
    const results = calls.map((call) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content:
        call.name === "show_picture"
          ? [
              { type: "text", text: call.input.path },
              { type: "image", source: { type: "base64", media_type: "image/png", data: picture(call.input.path) } },
            ]
          : result(call.name, call.input),
    }));
    messages.push({ role: "user", content: results });
  }
}

await turn({});
messages.push({ role: "user", content: [{ type: "text", text: "Good. Now add a test for an item on three shelves." }] });
messages.push({ role: "system", content: "The user has switched to the branch `mend-least`." });
await turn({});
messages.push({ role: "user", content: "Thanks." });
await client.messages.countTokens({ model: "claude-opus-5-5", system: rules, messages, tools });
