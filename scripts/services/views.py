"""`epitome view` in a real terminal (tmux): what it shows for which keys, and what it leaves behind.

    views.py --epitome FILE --session FILE
"""

import json
import subprocess
import sys
import time

import escapes
import reports
import trials

# Of a session that is repeated: as large as recordings get.
LARGE = 60_000_000


class View(escapes.Tmux):
    """A terminal in which a session is looked at."""

    def __init__(self, words, folder, session, size=(100, 40)):
        super().__init__(folder)
        self.call("resize-window", "-t", "s", "-x", str(size[0]), "-y", str(size[1]))
        self.usual = self.state()[0]
        script = folder / "script"
        script.write_text(f"HOME={folder} {words.epitome} view {session}; echo ended with $?\n")
        self.call("send-keys", "-t", "s", str(script), "Enter")

    def screen(self):
        return self.call("capture-pane", "-p", "-t", "s")

    def until(self, *said, seconds=300):
        """The screen, once it says all of that."""
        end = time.monotonic() + seconds
        while True:
            screen = self.screen()
            missing = [words for words in said if words not in screen]
            if not missing:
                return screen
            assert time.monotonic() < end, f"{missing} isn't on\n{screen}"
            time.sleep(0.05)

    def keys(self, *keys):
        self.call("send-keys", "-t", "s", *keys)

    def type(self, text):
        self.call("send-keys", "-t", "s", "-l", text)

    def ends(self, code):
        screen = self.until(f"ended with {code}")
        assert self.state()[0] == self.usual, f"{self.state()[0]} was {self.usual}"
        # Keys are echoed again, and lines edited.
        self.type("typed")
        self.until("typed")
        return screen


def a_session_is_walked_through(words, folder):
    session = reports.lived(words.epitome, words.session, folder)
    view = View(words, folder, session)
    try:
        view.until("turns", "tokens now", "compaction 2 by Epitome")
        view.keys("C")
        view.until("compaction 2 · by Epitome", "quoted word for word", "Hidden:")
        view.keys("C")
        view.until("compaction 1 · by the agent", "The user's words that nothing says any more")
        view.keys("C")
        view.until("there is none further on")
        view.keys("Home", "Down", "Enter", "Down", "Down")
        view.until("· call ·")
        view.keys("?")
        view.until("copy the id by which")
        view.type("/")
        view.type("all TOKEN_COUNT events have")
        view.keys("Enter")
        view.until("· call ·", "All token_count events have", "1 of ")
        view.keys("y")
        copied = view.until("copied: ").split("copied: ")[1].split()[0]
        assert view.call("show-buffer").strip() == copied, "tmux has it in its clipboard"
        told = subprocess.run([words.epitome, "recall", copied, "--archive", str(folder / "store"), "--json"], check=True, capture_output=True)
        hits = json.loads(told.stdout)["hits"]
        assert hits[0]["id"].startswith(copied) and "All token_count events have" in hits[0]["text"], hits
        view.call("resize-window", "-t", "s", "-x", "20", "-y", "8")
        view.until("at least 36 columns")
        view.call("resize-window", "-t", "s", "-x", "140", "-y", "40")
        view.until("All token_count events have", "tokens now")
        view.keys("q")
        view.ends(0)
    finally:
        view.end()


def it_can_be_ended_from_outside(words, folder):
    view = View(words, folder, words.session)
    try:
        view.until("tokens now")
        subprocess.run(["pkill", "-TERM", "-f", f"{words.epitome} view"], check=True)
        view.ends(0)
    finally:
        view.end()


def it_ends_with_its_terminal(words, folder):
    session = folder / "session.jsonl"
    session.write_text(escapes.recording("hello"))
    view = View(words, folder, session)
    view.until("tokens now")
    view.end()
    end = time.monotonic() + 60
    while subprocess.run(["pgrep", "-f", f"view {session}"], capture_output=True).returncode == 0:
        assert time.monotonic() < end, "it goes on"
        time.sleep(0.05)


def large_sessions_are_shown(words, folder):
    with open(words.session) as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row.get("type") in ("user", "assistant")]
    size, parent = 0, None
    with open(folder / "large.jsonl", "w") as out:
        for round in range(10_000):
            for row in rows:
                row = row | {"uuid": f"{row['uuid']}-{round}", "parentUuid": parent}
                parent = row["uuid"]
                line = json.dumps(row).replace("toolu_", f"toolu_{round}_") + "\n"
                size += len(line)
                out.write(line)
            if size > LARGE:
                break
    view = View(words, folder, folder / "large.jsonl")
    try:
        view.until("tokens now")
        view.keys("Home", "Enter", "End")
        view.type("/")
        view.type("tech-spec")
        view.keys("Enter")
        view.until('with "tech-spec"')
        view.keys("q")
        view.ends(0)
    finally:
        view.end()


def what_is_said_drives_nothing(words, folder):
    for name, evil in escapes.TERMINAL.items():
        (folder / "evil.jsonl").write_text(escapes.recording(evil))
        view = View(words, folder, folder / "evil.jsonl")
        try:
            view.until("tokens now")
            before = view.state()
            for keys in (["Home"], ["Enter"], ["Down"], ["Down"], ["Down"], ["Tab"], ["PageDown"]):
                view.keys(*keys)
            view.until("tokens now")
            assert view.state() == before, f"{name}: {view.state()} was {before}"
            view.keys("q")
            view.ends(0)
        finally:
            view.end()


def main():
    words = trials.arguments(__doc__, epitome=trials.program, session=trials.program)
    tests = [a_session_is_walked_through, it_can_be_ended_from_outside, it_ends_with_its_terminal, large_sessions_are_shown, what_is_said_drives_nothing]
    return trials.run([(f"views: {trials.named(test)}", lambda folder, test=test: test(words, folder)) for test in tests])


if __name__ == "__main__":
    sys.exit(main())
