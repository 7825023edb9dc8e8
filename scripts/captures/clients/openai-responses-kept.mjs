// openai (npm), Responses with the history on the server: `previous_response_id`, only what is new is sent.
import OpenAI from "openai";
import { result, rules, shapes, task } from "./desk.mjs";

const client = new OpenAI();
const tools = ["read_file", "run"].map((name) => ({ type: "function", name, ...shapes[name], strict: false }));
let previous;

async function turn(input) {
  for (;;) {
    const response = await client.responses.create({
      model: "gpt-6.1-sol",
      instructions: rules,
      input,
      tools,
      previous_response_id: previous,
      truncation: "auto",
    });
    previous = response.id;
    const calls = response.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return;
    input = calls.map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: result(call.name, JSON.parse(call.arguments)),
    }));
  }
}

await turn(task);
await turn("Good. Now add a test for an item on three shelves.");
