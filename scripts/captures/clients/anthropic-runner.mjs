// @anthropic-ai/sdk (npm), its tool runner: it writes the loop itself; tools cleared by the server, automatic caching.
import Anthropic from "@anthropic-ai/sdk";
import { result, rules, shapes, task } from "./desk.mjs";

const client = new Anthropic();
const tools = ["read_file", "run"].map((name) => ({
  type: "custom",
  name,
  description: shapes[name].description,
  input_schema: shapes[name].parameters,
  parse: (input) => input,
  run: (input) => {
    const text = result(name, input);
    if (text.startsWith("Error")) throw new Error(text);
    return text;
  },
}));

const runner = client.beta.messages.toolRunner({
  model: "claude-opus-5-5",
  max_tokens: 8000,
  system: rules,
  messages: [{ role: "user", content: task }],
  tools,
  stream: true,
  cache_control: { type: "ephemeral" },
  thinking: { type: "adaptive", display: "summarized" },
  context_management: {
    edits: [
      { type: "clear_thinking_20251015", keep: "all" },
      { type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 100000 } },
    ],
  },
  betas: ["context-management-2025-06-27"],
});
await runner.runUntilDone();
