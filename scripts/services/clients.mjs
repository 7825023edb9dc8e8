// SDKs of npm behind a proxy: which one, of which API, and the model. The last words of the model are printed.

const { PROXY, TASK, RULES, STEPS } = process.env;
const [kind, ...rest] = process.argv.slice(2);
const model = rest.at(-1);
const api = rest[0];

/** What the tool gives back, as in sdks.py. */
function result(command) {
  const seed = [...command].reduce((sum, letter) => sum + letter.codePointAt(0), 0);
  const line = (n) =>
    `[${String(n).padStart(3, "0")}] ${command}: wheel ${(seed * n) % 97} of ${(seed % 31) + n}, ${(seed * (n + 3)) % 1009} ms`;
  return [...Array(24).keys()].map(line).concat("exit code 0").join("\n");
}

const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

async function aiSdk() {
  const { generateText, jsonSchema, stepCountIs, tool } = await import("ai");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
  const { createOpenAI } = await import("@ai-sdk/openai");
  const providers = {
    anthropic: () => ({
      model: createAnthropic({ baseURL: `${PROXY}/v1` })(model),
      providerOptions: { anthropic: { thinking: { type: "adaptive" } } },
    }),
    chat: () => ({ model: createOpenAI({ baseURL: `${PROXY}/v1` }).chat(model) }),
    responses: () => ({
      model: createOpenAI({ baseURL: `${PROXY}/v1` }).responses(model),
      providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
    }),
    google: () => ({ model: createGoogleGenerativeAI({ baseURL: `${PROXY}/v1beta`, apiKey: "none" })(model) }),
  };
  const run = tool({ description: "Runs a command.", inputSchema: jsonSchema(schema), execute: ({ command }) => result(command) });
  const told = await generateText({
    ...providers[api](),
    system: RULES,
    prompt: TASK,
    tools: { run },
    maxRetries: 0,
    stopWhen: stepCountIs(Number(STEPS) + 2),
  });
  return told.text;
}

async function anthropic() {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: PROXY, maxRetries: 0 });
  const messages = [{ role: "user", content: TASK }];
  const tools = [{ name: "run", description: "Runs a command.", input_schema: schema }];
  for (;;) {
    const body = { model, max_tokens: 1024, system: RULES, thinking: { type: "adaptive" }, tools, messages };
    const reply = await client.messages.stream(body).finalMessage();
    messages.push({ role: "assistant", content: reply.content });
    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return reply.content.map((block) => block.text ?? "").join("");
    const answer = ({ id, input }) => ({ type: "tool_result", tool_use_id: id, content: result(input.command) });
    messages.push({ role: "user", content: calls.map(answer) });
  }
}

async function openai() {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({ baseURL: `${PROXY}/v1`, maxRetries: 0 });
  if (api === "chat") {
    const messages = [
      { role: "system", content: RULES },
      { role: "user", content: TASK },
    ];
    const tools = [{ type: "function", function: { name: "run", parameters: schema } }];
    for (;;) {
      const stream = client.chat.completions.stream({ model, messages, tools });
      const { message } = (await stream.finalChatCompletion()).choices[0];
      const { role, content, tool_calls: calls } = message;
      const plain = calls?.map(({ id, type, function: { name, arguments: words } }) => ({ id, type, function: { name, arguments: words } }));
      messages.push({ role, content, ...(plain?.length ? { tool_calls: plain } : {}) });
      if (!plain?.length) return content;
      for (const call of plain) {
        messages.push({ role: "tool", tool_call_id: call.id, content: result(JSON.parse(call.function.arguments).command) });
      }
    }
  }
  const input = [{ role: "user", content: TASK }];
  const tools = [{ type: "function", name: "run", parameters: schema, strict: false }];
  for (;;) {
    const include = ["reasoning.encrypted_content"];
    const reply = await client.responses.create({ model, instructions: RULES, store: false, include, tools, input });
    input.push(...reply.output);
    const calls = reply.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return reply.output_text;
    for (const call of calls) {
      input.push({ type: "function_call_output", call_id: call.call_id, output: result(JSON.parse(call.arguments).command) });
    }
  }
}

async function genai() {
  const { GoogleGenAI } = await import("@google/genai");
  const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: PROXY } });
  const functions = [{ name: "run", description: "Runs a command.", parametersJsonSchema: schema }];
  const config = { systemInstruction: RULES, tools: [{ functionDeclarations: functions }] };
  const contents = [{ role: "user", parts: [{ text: TASK }] }];
  for (;;) {
    const parts = [];
    for await (const chunk of await client.models.generateContentStream({ model, contents, config })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    contents.push({ role: "model", parts });
    const calls = parts.map((part) => part.functionCall).filter(Boolean);
    if (calls.length === 0) return parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
    const answer = ({ id, name, args }) => ({ functionResponse: { ...(id ? { id } : {}), name, response: { output: result(args.command) } } });
    contents.push({ role: "user", parts: calls.map(answer) });
  }
}

console.log(await { "ai-sdk": aiSdk, anthropic, openai, genai }[kind]());
