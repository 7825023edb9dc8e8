"""What names no upstream reaches nobody: it works where there is no network, and asks for none.

    egress.py --epitome FILE --session FILE

Each command runs in a network of its own without a way out (`unshare -rn`), and under `strace` where there is one: it does what it
is for, and makes no socket but those within the machine.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from trials import arguments, named, program, run

# Sockets that lead out of the process' own machine, as strace names their families.
OUTWARD = re.compile(r"\b(?:socket|connect|sendto|sendmsg)\(.*\b(AF_INET6?|AF_PACKET|AF_VSOCK|AF_BLUETOOTH|AF_TIPC)\b")
ALL = ["socket", "connect", "sendto", "sendmsg"]


class Desk:
    """A home folder with a recording of Claude Code's in it, and commands that are run there."""

    def __init__(self, folder, words):
        self.folder, self.epitome = folder, words.epitome
        recordings = folder / ".claude" / "projects" / "-x"
        recordings.mkdir(parents=True)
        self.recording = recordings / "s.jsonl"
        shutil.copy(words.session, self.recording)
        shutil.copy(words.session, folder / "s.jsonl")

    def run(self, line, stdin="", codes=(0,)):
        """What a command prints, having looked at the calls that it made."""
        traced = self.folder / "trace"
        before = ["strace", "-f", "-qq", "-o", str(traced), "-e", "trace=" + ",".join(ALL)] if traces() else []
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        ran = subprocess.run(
            [*before, self.epitome, *line.split()], cwd=self.folder, env=env, input=stdin, capture_output=True, text=True, timeout=300
        )
        assert ran.returncode in codes, f"{line}: {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
        if before:
            calls = traced.read_text().splitlines()
            outward = [call for call in calls if OUTWARD.search(call)]
            assert not outward, f"{line}: {outward[:5]}"
        return ran.stdout


def traces(known=[]):
    if not known:
        path = shutil.which("strace")
        known.append(path is not None and subprocess.run([path, "-o", os.devnull, "true"], capture_output=True).returncode == 0)
    return known[0]


# The tests


def there_is_no_way_out(folder, words):
    attempt = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    assert subprocess.run([sys.executable, "-c", attempt], capture_output=True).returncode != 0
    devices = pathlib.Path("/proc/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"], devices


def a_socket_would_be_seen(folder, words):
    if not traces():
        return
    desk = Desk(folder, words)
    desk.epitome = sys.executable
    (folder / "out.py").write_text("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n")
    (folder / "in.py").write_text("import socket\nsocket.socket(socket.AF_UNIX)\n")
    desk.run("in.py")
    try:
        desk.run("out.py")
    except AssertionError as error:
        assert "AF_INET" in str(error), error
    else:
        raise AssertionError("it made a socket, and nobody saw it")


def reading_a_recording(folder, words):
    desk = Desk(folder, words)
    assert json.loads(desk.run("stats s.jsonl --json"))["entries"] > 0
    assert json.loads(desk.run("count s.jsonl --json"))["tokens"] > 0
    assert "tokens" in desk.run("plan s.jsonl --target 20%", codes=(0, 3))
    desk.run("check s.jsonl", codes=(0, 3))
    assert "<svg" in desk.run("report s.jsonl --html")
    assert json.loads(desk.run("report s.jsonl --json"))
    assert json.loads(desk.run("simulate s.jsonl --whole --window 100k --json", codes=(0, 3)))["compactions"] >= 0
    assert json.loads(desk.run("convert s.jsonl --to openai-chat", codes=(0, 3)))["messages"]
    before = desk.recording.read_bytes()
    assert " s  claude-code " in desk.run("sessions") and " s  claude-code " in desk.run("")
    assert "tokens" in desk.run("stats s --json")
    assert desk.recording.read_bytes() == before


def compacting_and_the_way_back(folder, words):
    desk = Desk(folder, words)
    original = desk.recording.read_bytes()
    line = "compact s.jsonl --target 20% --archive store -o out.json --receipt receipt.json --recall shell"
    desk.run(line, codes=(0, 3))
    session = json.loads((folder / "receipt.json").read_text())["archived"]["session"]
    assert desk.run("diff s.jsonl out.json", codes=(0, 3))
    assert json.loads(desk.run("recall regex --archive store --json"))["hits"]
    assert json.loads(desk.run(f"sessions {session} --archive store --json"))["views"]
    desk.run("undo out.json --archive store -o now.json")
    desk.run("redo out.json --archive store -o now.json")
    assert desk.run("restore out.json --archive store").encode() == original
    file = desk.recording.relative_to(folder)
    desk.run(f"compact {file} --target 30% --apply", codes=(0, 3))
    assert desk.recording.read_bytes() != original
    desk.run(f"restore {file} -o {file}")
    assert desk.recording.read_bytes() == original
    assert desk.run("pin add never-push") and "never-push" in desk.run("pin list")
    desk.run("pin rm 1")
    desk.run(f"forget {session} --archive store")


def serving_an_agent(folder, words):
    desk = Desk(folder, words)
    desk.run("compact s.jsonl --target 20% --archive store -o out.json", codes=(0, 3))
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "desk", "version": "1"}}
    said = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "recall_search", "arguments": {"query": "regex"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "context_stats", "arguments": {}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in said)
    for line in ["mcp --archive store", "mcp s.jsonl"]:
        answers = [json.loads(answer) for answer in desk.run(line, stdin=lines).splitlines()]
        found = next(answer for answer in answers if answer.get("id") == 2)
        assert "[recalled " in found["result"]["content"][0]["text"], found
    event = json.dumps({"transcript_path": str(desk.recording), "trigger": "auto", "source": "compact"})
    assert "Write names of files" in desk.run("hook pre-compact", stdin=event)
    assert "recall_search" in desk.run("hook session-start", stdin=event)
    assert "tokens" in desk.run("hook status-line", stdin=event)


def settings_and_what_is_known(folder, words):
    desk = Desk(folder, words)
    for agent in ["claude-code", "codex"]:
        assert desk.run(f"install {agent} --dry-run")
        desk.run(f"install {agent}")
        desk.run(f"uninstall {agent} --dry-run")
        desk.run(f"uninstall {agent}")
    assert json.loads(desk.run("models --json"))
    assert desk.run("config show")
    assert desk.run("doctor", codes=(0, 3))
    assert "epitome" in desk.run("completions bash") and "epitome" in desk.run("man")
    assert desk.run("--version").startswith("epitome ")


def main():
    words = arguments(__doc__, epitome=program, session=program)
    if os.environ.get("EPITOME_ALONE") != "yes":
        if sys.platform != "linux" or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
            print("not shown: a network of its own isn't to be had here (unshare -rn)")
            return 0
        os.environ["EPITOME_ALONE"] = "yes"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    if not traces():
        print("strace is missing or not allowed: it is shown only that all works without a network")
    tests = [
        there_is_no_way_out,
        a_socket_would_be_seen,
        reading_a_recording,
        compacting_and_the_way_back,
        serving_an_agent,
        settings_and_what_is_known,
    ]
    return run([(named(test), lambda folder, test=test: test(folder, words)) for test in tests])


if __name__ == "__main__":
    sys.exit(main())
