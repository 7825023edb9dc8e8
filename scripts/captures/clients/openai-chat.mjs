// openai (npm), Chat Completions: streamed, tools in parallel, a custom tool, a picture, a second person's message.
import OpenAI from "openai";
import { picture, result, rules, shapes, task } from "./desk.mjs";

const client = new OpenAI();
const tools = [
  ...["read_file", "run"].map((name) => ({ type: "function", function: { name, ...shapes[name], strict: false } })),
  { type: "custom", custom: { name: "apply_patch", description: "Applies a patch.", format: { type: "text" } } },
];
const messages = [
  { role: "developer", content: rules },
  {
    role: "user",
    content: [
      { type: "text", text: task },
      { type: "image_url", image_url: { url: `data:image/png;base64,${picture()}`, detail: "low" } },
    ],
  },
];

async function turn(more) {
  for (;;) {
    const stream = client.chat.completions.stream({
      model: "gpt-5.1",
      messages,
      tools,
      parallel_tool_calls: true,
      reasoning_effort: "medium",
      stream_options: { include_usage: true },
      prompt_cache_key: "stock-1",
      ...more,
    });
    const { message } = (await stream.finalChatCompletion()).choices[0];
    messages.push(message);
    if (!message.tool_calls) return;
    for (const call of message.tool_calls) {
      const content =
        call.type === "custom" ? "Applied." : result(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}

await turn({});
messages.push({ role: "developer", content: "The user has switched to the branch `mend-least`." });
messages.push({ role: "user", content: "Good. Now add a test for an item on three shelves." });
await turn({ reasoning_effort: "low" });
