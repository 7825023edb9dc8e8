// @google/genai (npm): streamed contents, calls in parallel, thoughts and their signatures, a picture.
import { GoogleGenAI } from "@google/genai";
import { picture, result, rules, shapes, task } from "./desk.mjs";

const client = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const functionDeclarations = Object.entries(shapes).map(([name, { description, parameters }]) => ({
  name,
  description,
  parametersJsonSchema: parameters,
}));
const contents = [
  {
    role: "user",
    parts: [{ text: task }, { inlineData: { mimeType: "image/png", data: picture() } }],
  },
];

async function turn() {
  for (;;) {
    const stream = await client.models.generateContentStream({
      model: "gemini-3.1-pro",
      contents,
      config: {
        systemInstruction: rules,
        tools: [{ functionDeclarations }],
        thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" },
        temperature: 1,
      },
    });
    const parts = [];
    for await (const chunk of stream) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    contents.push({ role: "model", parts });
    const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
    if (calls.length === 0) return;
    contents.push({
      role: "user",
      parts: calls.map(({ id, name, args }) => ({
        functionResponse: { id, name, response: { output: result(name, args) } },
      })),
    });
  }
}

await turn();
contents.push({ role: "user", parts: [{ text: "Good. Now add a test for an item on three shelves." }] });
await turn();
await client.models.countTokens({ model: "gemini-3.1-pro", contents });
