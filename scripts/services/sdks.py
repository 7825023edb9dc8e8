"""Agents that work past their window: official SDKs against the scripted model server, `epitome compact` between.

    sdks.py --epitome FILE --server FILE

Each agent works through a task of many steps with tools. Its window is small: without a compaction the provider's own
overflow error ends it; with one, whenever that error comes, it works to its last word, whole and streamed. Requests go
through the SDKs of PyPI, so what comes out of a compaction is read by their types, too.
"""

import json
import subprocess
import sys

import anthropic
import boto3
import botocore.config
import botocore.exceptions
import openai
from google import genai
from google.genai import errors, types

import trials

STEPS = 24
WINDOW = 6_000
# Where a compaction lands.
TARGET = "40%"
TASK = "Build every part of the clock, one after the other, and say which part was the slowest. Never touch part 13."
RULES = "You build clocks. You work through the tools that you are given."
LAST = "All parts are built. The slowest was part 7."
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def result(command):
    """What the tool gives back: a log, always the same for a command."""
    seed = sum(map(ord, command))
    lines = [f"[{n:03}] {command}: wheel {seed * n % 97} of {seed % 31 + n}, {seed * (n + 3) % 1009} ms" for n in range(24)]
    return "\n".join([*lines, "exit code 0"])


def script():
    """What the model says: two calls a step, with a thought before them."""
    command = lambda step, half: {"name": "run", "input": {"command": f"make part-{step}{half}"}}
    steps = [
        {"think": f"Part {n} is next.", "text": f"I build part {n}.", "calls": [command(n, "a"), command(n, "b")]}
        for n in range(1, STEPS + 1)
    ]
    return json.dumps([*steps, {"text": LAST}])


class Overflow(Exception):
    """The provider says that the request is too long."""


class Claude:
    """Messages: reasoning is bound to what stands before it."""

    model = "claude-opus-5-5"

    def __init__(self, url):
        self.client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        self.body = {
            "model": self.model,
            "max_tokens": 1024,
            "system": RULES,
            "thinking": {"type": "adaptive"},
            "tools": [{"name": "run", "description": "Runs a command.", "input_schema": SCHEMA}],
            "messages": [{"role": "user", "content": TASK}],
        }

    def ask(self, streamed):
        try:
            if streamed:
                with self.client.messages.stream(**self.body) as stream:
                    reply = stream.get_final_message()
            else:
                reply = self.client.messages.create(**self.body)
        except anthropic.BadRequestError as error:
            raise overflow(error, "prompt is too long: ") from None
        whole = plain(reply)
        assert not whole.get("input_transformations"), whole["input_transformations"]
        self.body["messages"].append({"role": "assistant", "content": whole["content"]})
        calls = [block for block in whole["content"] if block["type"] == "tool_use"]
        said = "".join(block["text"] for block in whole["content"] if block["type"] == "text")
        return said, [(call["id"], call["input"]) for call in calls]

    def answer(self, calls):
        block = lambda name, words: {"type": "tool_result", "tool_use_id": name, "content": result(words["command"])}
        self.body["messages"].append({"role": "user", "content": [block(*call) for call in calls]})

    def thinks(self):
        blocks = [block for message in self.body["messages"][1:] for block in message["content"]]
        return any(block["type"] == "thinking" for block in blocks if isinstance(block, dict))


class Responses:
    """Responses, nothing kept by the server: encrypted reasoning, which the model leaves out where it doesn't belong."""

    model = "gpt-6.2-sol"

    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        self.body = {
            "model": self.model,
            "instructions": RULES,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "tools": [{"type": "function", "name": "run", "parameters": SCHEMA, "strict": False}],
            "input": [{"role": "user", "content": TASK}],
        }

    def ask(self, streamed):
        try:
            if streamed:
                events = self.client.responses.create(**self.body, stream=True)
                reply = [event for event in events if event.type == "response.completed"][-1].response
            else:
                reply = self.client.responses.create(**self.body)
        except openai.BadRequestError as error:
            raise overflow(error, "exceeds the context window") from None
        whole = plain(reply)
        assert not whole.get("input_transformations"), whole["input_transformations"]
        self.body["input"] += whole["output"]
        calls = [item for item in whole["output"] if item["type"] == "function_call"]
        return reply.output_text, [(call["call_id"], json.loads(call["arguments"])) for call in calls]

    def answer(self, calls):
        output = lambda name, words: {"type": "function_call_output", "call_id": name, "output": result(words["command"])}
        self.body["input"] += [output(*call) for call in calls]

    def thinks(self):
        return any(item.get("encrypted_content") for item in self.body["input"])


class Chat:
    """Chat Completions."""

    model = "gpt-4.1"

    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        self.body = {
            "model": self.model,
            "tools": [{"type": "function", "function": {"name": "run", "parameters": SCHEMA}}],
            "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": TASK}],
        }

    def ask(self, streamed):
        try:
            if streamed:
                with self.client.chat.completions.stream(**self.body) as stream:
                    message = stream.get_final_completion().choices[0].message
            else:
                message = self.client.chat.completions.create(**self.body).choices[0].message
        except openai.BadRequestError as error:
            raise overflow(error, "maximum context length is ") from None
        message = plain(message)
        message.pop("parsed", None)
        for call in message.get("tool_calls") or []:
            call["function"].pop("parsed_arguments", None)
        self.body["messages"].append(message)
        calls = message.get("tool_calls") or []
        words = [(call["id"], json.loads(call["function"]["arguments"])) for call in calls]
        return message.get("content") or "", words

    def answer(self, calls):
        message = lambda name, words: {"role": "tool", "tool_call_id": name, "content": result(words["command"])}
        self.body["messages"] += [message(*call) for call in calls]

    def thinks(self):
        return True


class Gemini:
    """generateContent: steps of the current turn are signed."""

    model = "gemini-3.1-pro"

    def __init__(self, url):
        self.client = genai.Client(api_key="none", http_options={"base_url": url})
        function = {"name": "run", "description": "Runs a command.", "parametersJsonSchema": SCHEMA}
        self.body = {
            "systemInstruction": {"parts": [{"text": RULES}]},
            "tools": [{"functionDeclarations": [function]}],
            "contents": [{"role": "user", "parts": [{"text": TASK}]}],
        }

    def ask(self, streamed):
        contents = [types.Content.model_validate_json(json.dumps(content)) for content in self.body["contents"]]
        config = {
            "system_instruction": RULES,
            "tools": self.body["tools"],
            "automatic_function_calling": {"disable": True},
        }
        models = self.client.models
        words = {"model": self.model, "contents": contents, "config": config}
        try:
            whole = list(models.generate_content_stream(**words)) if streamed else [models.generate_content(**words)]
        except errors.ClientError as error:
            raise overflow(error, "The input token count") from None
        parts = [part for chunk in whole for part in (chunk.candidates[0].content.parts or [])]
        content = types.Content(role="model", parts=parts)
        self.body["contents"].append(content.model_dump(mode="json", by_alias=True, exclude_none=True))
        said = "".join(part.text or "" for part in parts if not part.thought)
        calls = [part.function_call for part in parts if part.function_call]
        return said, [((call.id, call.name), call.args) for call in calls]

    def answer(self, calls):
        def part(call, words):
            response = {"id": call[0], "name": call[1], "response": {"output": result(words["command"])}}
            return {"functionResponse": {key: value for key, value in response.items() if value is not None}}

        self.body["contents"].append({"role": "user", "parts": [part(*call) for call in calls]})

    def thinks(self):
        parts = [part for content in self.body["contents"] for part in content["parts"]]
        return any(part.get("thoughtSignature") for part in parts)


class Converse:
    """Bedrock Converse, streamed in its binary way: reasoning is bound here too."""

    model = "us.anthropic.claude-opus-5-5-v1:0"

    def __init__(self, url):
        keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
        once = botocore.config.Config(retries={"total_max_attempts": 1})
        self.client = boto3.client("bedrock-runtime", endpoint_url=url, config=once, **keys)
        tool = {"name": "run", "description": "Runs a command.", "inputSchema": {"json": SCHEMA}}
        self.body = {
            "system": [{"text": RULES}],
            "toolConfig": {"tools": [{"toolSpec": tool}]},
            "additionalModelRequestFields": {"thinking": {"type": "adaptive"}},
            "messages": [{"role": "user", "content": [{"text": TASK}]}],
        }

    def ask(self, streamed):
        try:
            if streamed:
                content = gathered(self.client.converse_stream(modelId=self.model, **self.body)["stream"])
            else:
                content = self.client.converse(modelId=self.model, **self.body)["output"]["message"]["content"]
        except botocore.exceptions.ClientError as error:
            raise overflow(error, "Input is too long") from None
        self.body["messages"].append({"role": "assistant", "content": content})
        calls = [block["toolUse"] for block in content if "toolUse" in block]
        said = "".join(block.get("text", "") for block in content)
        return said, [(call["toolUseId"], call["input"]) for call in calls]

    def answer(self, calls):
        block = lambda name, words: {
            "toolResult": {"toolUseId": name, "content": [{"text": result(words["command"])}], "status": "success"}
        }
        self.body["messages"].append({"role": "user", "content": [block(*call) for call in calls]})

    def thinks(self):
        return any("reasoningContent" in block for message in self.body["messages"] for block in message["content"])


def gathered(events):
    """The blocks that a stream of Converse tells of."""
    blocks, inputs = {}, {}
    for event in events:
        start, delta = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if start:
            blocks[start["contentBlockIndex"]] = {"toolUse": start["start"]["toolUse"]}
        if not delta:
            continue
        at, [(kind, piece)] = delta["contentBlockIndex"], delta["delta"].items()
        if kind == "text":
            blocks.setdefault(at, {"text": ""})["text"] += piece
        elif kind == "toolUse":
            inputs[at] = inputs.get(at, "") + piece["input"]
        else:
            told = blocks.setdefault(at, {"reasoningContent": {"reasoningText": {"text": ""}}})
            told = told["reasoningContent"]["reasoningText"]
            told["text"] += piece.get("text", "")
            if "signature" in piece:
                told["signature"] = piece["signature"]
    for at, words in inputs.items():
        blocks[at]["toolUse"]["input"] = json.loads(words)
    return [blocks[at] for at in sorted(blocks)]


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)


def overflow(error, words):
    """The overflow that it is, or the error itself."""
    return Overflow(str(error)) if words in str(error) else error


class Epitome:
    """The command, continued from compaction to compaction."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.count = 0

    def __call__(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, f"epitome {words[0]} exits with {done.returncode}: {done.stderr}"

    def compact(self, body):
        request, receipt = self.folder / "request.json", self.folder / "receipt.json"
        request.write_text(json.dumps(body))
        self("compact", request, "--target", TARGET, "-o", request, "--receipt", receipt)
        self("check", request)
        self.count += 1
        return json.loads(request.read_text())


class Running:
    """A server of its own, with the script from its beginning."""

    def __init__(self, program, model, folder):
        told = folder / "script.json"
        told.write_text(script())
        words = [program, "--port", "0", "--script", str(told), "--window", f"{model}={WINDOW}"]
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        line = self.server.stdout.readline()
        assert line.startswith("listening on "), line
        return line.removeprefix("listening on ").strip()

    def __exit__(self, *_):
        self.server.kill()
        self.server.communicate()


def work(agent, streamed, compact):
    """Works until the model has no more calls; its last words, and the steps that it took."""
    for step in range(STEPS + 1):
        try:
            said, calls = agent.ask(streamed)
        except Overflow:
            assert step > 3, f"too long already at step {step}"
            assert agent.thinks(), "there is no reasoning that a compaction could misplace"
            agent.body = compact(agent.body)
            said, calls = agent.ask(streamed)
        if not calls:
            return said, step
        agent.answer(calls)
    raise AssertionError("the model doesn't come to an end")


def ends(agent, _folder, _program):
    """Without a compaction the window ends it."""

    class Ended(Exception):
        pass

    def end(_body):
        raise Ended

    try:
        work(agent, False, end)
    except Ended:
        return
    raise AssertionError("the window was large enough")


def goes_on(agent, folder, program, streamed):
    epitome = Epitome(program, folder)
    said, steps = work(agent, streamed, epitome.compact)
    assert (said, steps) == (LAST, STEPS), (said, steps)
    assert epitome.count >= 3, f"{epitome.count} compactions"
    assert TASK in json.dumps(agent.body), "the task is gone"


AGENTS = [Claude, Responses, Chat, Gemini, Converse]
WAYS = {
    "the window ends it": ends,
    "compacted it works to its end": lambda *words: goes_on(*words, streamed=False),
    "compacted it works to its end, streamed": lambda *words: goes_on(*words, streamed=True),
}


def trial(make, test, words):
    def run(folder):
        with Running(words.server, make.model, folder) as url:
            test(make(url), folder, words.epitome)

    return run


def main():
    words = trials.arguments(__doc__, epitome=trials.program, server=trials.program)
    tests = [
        (f"{make.__name__.lower()}: {way}", trial(make, test, words))
        for make in AGENTS
        for way, test in WAYS.items()
    ]
    return trials.run(tests)



if __name__ == "__main__":
    sys.exit(main())
