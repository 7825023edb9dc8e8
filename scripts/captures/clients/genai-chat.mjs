// @google/genai (npm), its chat: it keeps the history itself.
import { GoogleGenAI } from "@google/genai";
import { result, rules, shapes, task } from "./desk.mjs";

const client = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const functionDeclarations = ["read_file", "run"].map((name) => ({
  name,
  description: shapes[name].description,
  parametersJsonSchema: shapes[name].parameters,
}));
const chat = client.chats.create({
  model: "gemini-2.5-flash",
  config: { systemInstruction: rules, tools: [{ functionDeclarations }], thinkingConfig: { thinkingBudget: 1024 } },
});

async function turn(message) {
  for (;;) {
    const { functionCalls } = await chat.sendMessage({ message });
    if (!functionCalls) return;
    message = functionCalls.map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: result(name, args) } },
    }));
  }
}

await turn(task);
await turn("Good. Now add a test for an item on three shelves.");
