#!/usr/bin/env python3
"""Times other systems beside Epitome on one transcript, in one run, with their versions.

    python3 scripts/beside.py --epitome target/release/epitome [--messages 1000,10000] [--work FOLDER]

Installs from PyPI and npm what can be had there (FOLDER keeps it; a temporary one by default): langchain-core, litellm,
strands-agents, ai. Each system is a process of its own; its start and imports aren't counted, ours are. Processor time in
ms, the best of three, half of the tokens to be freed. What isn't to be had or fails is said so, and the others go on.
Python's `json` is load and dump of the same file, nothing else. Needs python3-venv; npm and node for `ai`.
"""

import argparse
import json
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

PYPI = ["langchain-core==1.7.0", "litellm==1.100.0", "strands-agents==1.62.0"]
NPM = "ai@7.0.173"
ROUNDS = 3

TIMED = """
import json, sys, time
messages = json.load(open(sys.argv[1]))["messages"]
{setup}
start = time.process_time()
{work}
print((time.process_time() - start) * 1e3)
"""

# What is timed: setup, work.
SYSTEMS = {
    "langchain-core `trim_messages`, approximate count": (
        "from langchain_core.messages.utils import convert_to_messages, count_tokens_approximately, trim_messages\n"
        "for m in messages:\n"
        "    if m['content'] is None: m['content'] = ''\n"
        "most = count_tokens_approximately(messages) // 2",
        "trim_messages(convert_to_messages(messages), max_tokens=most, token_counter=count_tokens_approximately,\n"
        "              strategy='last', start_on='human', include_system=True)"),
    "litellm `token_counter`, counts and no more": (
        "import litellm",
        "litellm.token_counter(model='gpt-4o', messages=messages)"),
    "strands-agents sliding window, counts no tokens": (
        "from types import SimpleNamespace\n"
        "from strands.agent.conversation_manager import SlidingWindowConversationManager\n"
        "def block(m):\n"
        "    if m['role'] == 'tool':\n"
        "        return {'role': 'user', 'content': [{'toolResult': {'toolUseId': m['tool_call_id'], 'status': 'success', 'content': [{'text': m['content']}]}}]}\n"
        "    if m.get('tool_calls'):\n"
        "        return {'role': 'assistant', 'content': [{'toolUse': {'toolUseId': c['id'], 'name': c['function']['name'], 'input': json.loads(c['function']['arguments'])}} for c in m['tool_calls']]}\n"
        "    return {'role': 'assistant' if m['role'] == 'assistant' else 'user', 'content': [{'text': m['content']}]}\n"
        "agent = SimpleNamespace(messages=[block(m) for m in messages])\n"
        "manager = SlidingWindowConversationManager(window_size=len(messages) // 2, should_truncate_results=False)",
        "manager.apply_management(agent)"),
}

NODE = """
import { pruneMessages } from 'ai';
import { readFileSync } from 'fs';
const said = JSON.parse(readFileSync(process.argv[2], 'utf8')).messages;
const part = m => m.role === 'tool'
  ? { role: 'tool', content: [{ type: 'tool-result', toolCallId: m.tool_call_id, toolName: 'Bash', output: { type: 'text', value: m.content } }] }
  : m.tool_calls
    ? { role: 'assistant', content: m.tool_calls.map(c => ({ type: 'tool-call', toolCallId: c.id, toolName: c.function.name, input: JSON.parse(c.function.arguments) })) }
    : { role: m.role, content: m.content };
const messages = said.map(part);
const start = process.cpuUsage();
pruneMessages({ messages, reasoning: 'all', toolCalls: `before-last-${messages.length >> 1}-messages` });
const took = process.cpuUsage(start);
console.log((took.user + took.system) / 1e3);
"""


def transcript(messages):
    """Steps of an agent: a call, and twelve lines that come back."""
    dice = random.Random(11)
    words = "the build of crate tests error warning line file value returns when not found in before after".split()
    say = lambda count: " ".join(dice.choice(words) for _ in range(count))
    said = [{"role": "system", "content": say(60)}]
    while len(said) < messages:
        said.append({"role": "user", "content": f"Please look at src/{dice.randrange(99)}.rs: {say(20)}."})
        for _ in range(12):
            name = f"call_{len(said):06}"
            call = {"command": f"cargo test -p crate{dice.randrange(99)} 2>&1 | tail -{dice.randrange(40)}"}
            said.append({"role": "assistant", "content": None, "tool_calls": [
                {"id": name, "type": "function", "function": {"name": "Bash", "arguments": json.dumps(call)}}]})
            lines = "\n".join(f"{dice.randrange(9999)}: {say(9)}" for _ in range(12))
            said.append({"role": "tool", "tool_call_id": name, "content": lines})
        said.append({"role": "assistant", "content": f"Done: {say(30)}."})
    return {"model": "gpt-4o", "messages": said}


def printed(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return float(done.stdout.split()[-1])


def processor_time(command):
    def used():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime
    before = used()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return (used() - before) * 1e3


def row(name, files, run):
    cells = []
    for file in files:
        try:
            cells.append(f"{min(run(file) for _ in range(ROUNDS)):,.0f}")
        except (RuntimeError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            cells.append("failed")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--epitome", required=True)
    options.add_argument("--messages", default="1000,10000")
    options.add_argument("--work")
    options = options.parse_args()
    work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="beside-")).absolute()
    work.mkdir(parents=True, exist_ok=True)
    files = []
    for count in map(int, options.messages.split(",")):
        file = work / f"{count}.json"
        file.write_text(json.dumps(transcript(count)))
        files.append(file)
    python = work / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    for package in PYPI:
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", package])
    sizes = [f"{file.stem} messages, {file.stat().st_size / 1e6:.1f} MB" for file in files]
    print(f"| ms | {' | '.join(sizes)} |\n|---|{'--:|' * len(files)}")
    alone = TIMED.format(setup="", work="json.dump(json.load(open(sys.argv[1])), open(sys.argv[1] + '.copy', 'w'))")
    row("Python `json`", files, lambda file: printed([python, "-c", alone, file]))
    ours = lambda file: processor_time(
        [options.epitome, "compact", file, "--target", "50%", "--counter", "o200k", "-o", work / "out.json"])
    version = subprocess.run([options.epitome, "--version"], capture_output=True, text=True).stdout.strip()
    row(f"{version} `compact`, from file to file, exact", files, ours)
    pinned = dict(package.split("==") for package in PYPI)
    for name, (setup, timed) in SYSTEMS.items():
        program = TIMED.format(setup=setup, work=timed)
        package = name.split(" ", 1)[0]
        shown = name.replace(package, f"{package} {pinned[package]}", 1)
        row(shown, files, lambda file: printed([python, "-c", program, file]))
    if shutil.which("npm") and shutil.which("node"):
        subprocess.run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", work, NPM])
        (work / "prune.mjs").write_text(NODE)
        row(f"{NPM.replace('@', ' ')} `pruneMessages`, counts no tokens", files,
            lambda file: printed(["node", work / "prune.mjs", file]))
    if not options.work:
        shutil.rmtree(work)


main()
