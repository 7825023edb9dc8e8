"""Every write of the binary fails, or is the last thing that it does: what was there stays, or what was to come is there whole.

    faults.py --epitome FILE --session FILE --every N

`strace` makes the calls fail one by one: of each kind of call (opening, writing, syncing, linking, renaming) the first, the
second … until none is left, with an error and with SIGKILL (each N-th of them; 1 is all). A limit on the size of files makes writes stop in the middle.
"""

import collections
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

import trials

OLD = "what was here before\n"
# Each kind of call that makes or changes a file, and what it may fail with.
CALLS = {
    "openat": "EMFILE",
    "write": "ENOSPC",
    "pwrite64": "ENOSPC",
    "fsync": "EIO",
    "fdatasync": "EIO",
    "linkat": "EPERM",
    "renameat": "EIO",
    "renameat2": "EINVAL",
    "ftruncate": "EIO",
}
# What a killed process may leave: names that nothing reads.
LEFT = re.compile(r"\.epitome-\w+\.tmp$")


class Work:
    """One command, and the files that it writes."""

    def __init__(self, line, *outputs, session="s.jsonl", exits=(0,)):
        self.line, self.outputs, self.session, self.exits = line, outputs, session, exits


WORKS = [
    Work("compact s.jsonl --target 50% -o out.json --receipt receipt.json", "receipt.json", "out.json"),
    Work("compact s.jsonl --target 50% --apply --archive store", "s.jsonl", "store"),
    Work("convert s.jsonl --to openai-chat -o out.json", "out.json"),
    Work("check broken.json --repair -o mended.json", "mended.json", exits=(0, 3)),
    Work("stats s.jsonl --html page.html --svg picture.svg", "page.html", "picture.svg"),
    Work("report s.jsonl --html -o report.html", "report.html"),
    Work("restore applied.jsonl --archive kept -o back.jsonl", "back.jsonl"),
]
BROKEN = (
    '{"model":"gpt-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":'
    '[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"and?"}]}'
)


class Bench:
    """A folder in which one command is run again and again, each time on the same files."""

    def __init__(self, epitome, session, folder):
        self.epitome, self.start, self.folder = epitome, folder / "start", folder / "work"
        self.start.mkdir()
        shutil.copy(session, self.start / "s.jsonl")
        (self.start / "broken.json").write_text(BROKEN)
        shutil.copy(session, self.start / "applied.jsonl")
        line = ["compact", "applied.jsonl", "--target", "50%", "--apply", "--archive", "kept"]
        subprocess.run([epitome, *line], cwd=self.start, env=self.env(), check=True, capture_output=True)

    def env(self):
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"]}

    def run(self, work, before=(), limit=None):
        """The exit code and what is in the folder then."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.start, self.folder)
        for output in work.outputs:
            if not (self.folder / output).exists() and output != "store":
                (self.folder / output).write_text(OLD)
        low = None if limit is None else lambda: held(limit)
        words = [*before, self.epitome, *work.line.split()]
        ran = subprocess.run(words, cwd=self.folder, env=self.env(), capture_output=True, timeout=120, preexec_fn=low)
        return ran.returncode, ran.stderr.decode(errors="replace")

    def read(self, name):
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None


def held(limit):
    # Otherwise the signal that says so ends the process before the write can fail.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def every_write(work, words, folder):
    bench = Bench(words.epitome, words.session, folder)
    code, said = bench.run(work)
    assert code in work.exits, said
    files = [name for name in work.outputs if name != "store"]
    new = {name: bench.read(name) for name in files}
    goes_on = "--apply" in work.line
    old = {name: (bench.start / name).read_bytes() if (bench.start / name).exists() else OLD.encode() for name in files}
    assert all(new[name] != old[name] for name in files), "it writes all of them"
    came = collections.Counter()

    def judge(code, said, at):
        killed = code in (-signal.SIGKILL, 128 + signal.SIGKILL)
        assert killed or 0 <= code < 128 and "panicked" not in said, f"{at}: {code} {said}"
        is_new = []
        for name in files:
            now = bench.read(name)
            is_whole = now == new[name]
            if goes_on and now != old[name]:
                # Its rows have ids of their own each time.
                is_whole = now.startswith(old[name]) and now.endswith(b"\n") and now.count(b"\n") == new[name].count(b"\n")
            assert is_whole or now == old[name], f"{at}: {name} is neither old nor new: {code} {said}"
            is_new.append(is_whole)
        # Whoever finds the last one finds the others too, and what says that it is done is done.
        assert all(is_new) or not is_new[-1], f"{at}: {is_new}"
        assert all(is_new) or code not in (0, 3), f"{at}: {code} {said}"
        left = [path.name for path in bench.folder.iterdir() if LEFT.search(path.name)]
        assert killed or not left, f"{at}: {left}"
        if goes_on and all(is_new):
            back = subprocess.run(
                [words.epitome, *"restore s.jsonl --archive store".split()],
                cwd=bench.folder, env=bench.env(), capture_output=True,
            )
            assert back.returncode == 0 and back.stdout == old["s.jsonl"], f"{at}: {back.stderr}"
        came["killed" if killed else "said" if code not in work.exits else "done", "new" if all(is_new) else "old"] += 1

    log = folder / "log"
    for call, error in CALLS.items():
        for what in (f"error={error}", "signal=KILL"):
            for nth in range(1, 200, words.every):
                log.unlink(missing_ok=True)
                inject = f"inject={call}:{what}:when={nth}"
                code, said = bench.run(work, ["strace", "-f", "-q", "-o", str(log), "-e", f"trace={call}", "-e", inject])
                told = log.read_text(errors="replace")
                if "INJECTED" not in told and "killed by SIGKILL" not in told:
                    break
                judge(code, said, inject)
    size = max(len(text) for text in new.values())
    for part in range(0, 16, words.every):
        code, said = bench.run(work, limit=1 + size * part // 16)
        judge(code, said, f"files of at most {1 + size * part // 16} bytes")
    told = ", ".join(f"{how} {which} {many}" for (how, which), many in sorted(came.items()))
    print(f"{work.line}: {sum(came.values())} faults: {told}", flush=True)


def main():
    words = trials.arguments(__doc__, epitome=trials.program, session=trials.program, every=int)
    tests = [
        (f"faults: {work.line.split(' ')[0]} {' and '.join(work.outputs)}", lambda folder, work=work: every_write(work, words, folder))
        for work in WORKS
    ]
    return trials.run(tests)


if __name__ == "__main__":
    sys.exit(main())
