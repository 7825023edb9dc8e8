// openai (npm), Responses without state on the server: reasoning carried by the client, tools in parallel, a custom
// tool, web search, a picture in an output.
import OpenAI from "openai";
import { picture, result, rules, shapes, task } from "./desk.mjs";

const client = new OpenAI();
const tools = [
  ...Object.entries(shapes).map(([name, shape]) => ({ type: "function", name, ...shape, strict: true })),
  { type: "custom", name: "apply_patch", description: "Applies a patch." },
  { type: "web_search", search_context_size: "low" },
];
tools[0].strict = false; // It has a parameter that may be left out.
const input = [{ role: "user", content: [{ type: "input_text", text: task }] }];

function output(call) {
  if (call.type === "custom_tool_call") {
    return { type: "custom_tool_call_output", call_id: call.call_id, output: "Applied." };
  }
  const words = JSON.parse(call.arguments);
  const output =
    call.name === "show_picture"
      ? [
          { type: "input_text", text: words.path },
          { type: "input_image", image_url: `data:image/png;base64,${picture(words.path)}`, detail: "auto" },
        ]
      : result(call.name, words);
  return { type: "function_call_output", call_id: call.call_id, output };
}

async function turn(more) {
  for (;;) {
    const stream = client.responses.stream({
      model: "gpt-6.1-sol",
      instructions: rules,
      input,
      tools,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "medium", summary: "auto" },
      parallel_tool_calls: true,
      prompt_cache_key: "stock-2",
      ...more,
    });
    const response = await stream.finalResponse();
    input.push(...response.output);
    const calls = response.output.filter((item) => ["function_call", "custom_tool_call"].includes(item.type));
    if (calls.length === 0) return;
    input.push(...calls.map(output));
  }
}

await turn({});
input.push({ role: "developer", content: "The user has switched to the branch `mend-least`." });
input.push({ role: "user", content: "Good. Now add a test for an item on three shelves." });
await turn({ reasoning: { effort: "low", summary: "auto" } });
await client.responses.inputTokens.count({ model: "gpt-6.1-sol", instructions: rules, input, tools });
await client.responses.compact({ model: "gpt-6.1-sol", instructions: rules, input });
