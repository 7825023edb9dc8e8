// ai (npm): its own loop over tools, two turns; the provider is the first word.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { picture, result, rules, shapes, task } from "./desk.mjs";

const providers = {
  anthropic: () => ({
    model: createAnthropic({ baseURL: "http://127.0.0.1:4000/v1" })("claude-opus-5-5"),
    providerOptions: { anthropic: { thinking: { type: "adaptive" } } },
  }),
  chat: () => ({ model: createOpenAI().chat("gpt-4.1") }),
  responses: () => ({
    model: createOpenAI().responses("gpt-6.1-sol"),
    providerOptions: {
      openai: { store: false, include: ["reasoning.encrypted_content"], reasoningEffort: "medium", reasoningSummary: "auto" },
    },
  }),
  google: () => ({
    model: createGoogleGenerativeAI({ baseURL: "http://127.0.0.1:4000/v1beta", apiKey: "not-a-key" })("gemini-3.1-pro"),
    providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
  }),
};
const tools = Object.fromEntries(
  ["read_file", "run"].map((name) => [
    name,
    tool({
      description: shapes[name].description,
      inputSchema: jsonSchema(shapes[name].parameters),
      execute: (input) => result(name, input),
    }),
  ]),
);
const messages = [
  {
    role: "user",
    content: [
      { type: "text", text: task },
      { type: "file", data: picture(), mediaType: "image/png" },
    ],
  },
];

async function turn() {
  const { responseMessages } = await generateText({
    ...providers[process.argv[2]](),
    system: rules,
    messages,
    tools,
    stopWhen: stepCountIs(10),
  });
  messages.push(...responseMessages);
}

await turn();
messages.push({ role: "user", content: "Good. Now add a test for an item on three shelves." });
await turn();
