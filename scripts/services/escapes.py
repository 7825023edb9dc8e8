"""What a transcript says drives neither a real terminal (tmux) nor a real browser (Chromium, without a network).

    escapes.py --epitome FILE --chromium FILE

Each text of the corpus stands in every name, id and text of a request and of a recording. On the terminal the title, the clipboard,
the screen's mode and what is typed stay as they were, and what is printed before and behind stays to be read. In the
browser there is no element, no handler and no link that the page wouldn't have without it, and the page is no wider.
"""

import collections
import html.parser
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import trials

ESC = "\x1b"
TERMINAL = {
    "title": f"{ESC}]0;owned\x07",
    "title, eight bits": "\x9d0;owned\x9c",
    "title in tmux": f"{ESC}kowned{ESC}\\",
    "clipboard": f"{ESC}]52;c;b3duZWQ=\x07",
    "link": f"{ESC}]8;;file:///etc/passwd\x07text{ESC}]8;;\x07",
    "screen cleared": f"{ESC}[2J{ESC}[3J{ESC}[H",
    "other screen": f"{ESC}[?1049h",
    "reset": f"{ESC}c",
    "where is the cursor": f"{ESC}[6n",
    "who are you": f"{ESC}[c{ESC}[>c{ESC}[=c",
    "what is your title": f"{ESC}[21t",
    "device control": f"{ESC}P$qm{ESC}\\",
    "passed through": f"{ESC}Ptmux;{ESC}{ESC}]0;owned\x07{ESC}\\",
    "string never ended": f"{ESC}]0;",
    "application command": f"{ESC}_owned{ESC}\\",
    "privacy message": f"{ESC}^owned{ESC}\\",
    "eight-bit sequence": "\x9b2J\x9b31m",
    "other letters": "\x0e" + f"{ESC}(0",
    "up and over": f"{ESC}[9A{ESC}[2Kok: nothing found",
    "line overwritten": "bad\rok: nothing found",
    "back and over": "bad\x08\x08\x08ok",
    "bells": "\x07" * 9,
    "hidden": f"{ESC}[8m hidden {ESC}[0m",
    "no wrapping": f"{ESC}[?7l",
    "mouse": f"{ESC}[?1000h{ESC}[?1003h",
    "pasted": f"{ESC}[?2004h",
    "margins": f"{ESC}[1;2r",
    "repeated": f"x{ESC}[65535b",
    "backwards": "\u202egnp.exe\u202c \u2066\u2067\u2069",
    "not seen": "pass\u200bword\u200d\ufeff\u2060\u00ad\U000e0061\ufe0f",
    "stacked": "Z" + "\u0301" * 400,
    "a huge line": "x" * 60_000,
    "lines without end": "\n" * 5_000,
    "other line ends": "one\u2028two\u2029three\x85four\x0bfive\x0c",
}
BROWSER = {
    "script": "<script>document.title='owned'</script>",
    "script closed first": "</script><script>document.title='owned'</script>",
    "title closed": "</title><script>document.title='owned'</script>",
    "style closed": "</style><script>document.title='owned'</script>",
    "picture": "<img src=x onerror=\"document.title='owned'\">",
    "svg": "<svg onload=\"document.title='owned'\"><a xlink:href='javascript:1'><text>x</text></a></svg>",
    "attribute closed": "\" onmouseover=\"document.title='owned'\" autofocus onfocus=\"document.title='owned'\" x=\"",
    "attribute closed, single": "' onload='document.title=1' x='",
    "frame": "<iframe srcdoc=\"<script>top.document.title='owned'</script>\"></iframe>",
    "refresh": "<meta http-equiv=refresh content='0;url=data:text/html,owned'>",
    "base": "<base href='https://example.org/'>",
    "style sheet": "<link rel=stylesheet href='https://example.org/x.css'><style>*{display:none}</style>",
    "form": "<form action='https://example.org/'><button autofocus>x</button></form>",
    "comment": "<!-- everything after",
    "comment ended": "--><script>document.title='owned'</script><!--",
    "CDATA": "]]><script>document.title='owned'</script><![CDATA[",
    "entities": "&lt;script&gt;&#60;script&#62;&amp;lt;",
    "template": "<template><script>document.title='owned'</script></template>",
    "mathematics": "<math><mtext><table><mglyph><style><img src=x onerror=\"document.title='owned'\">",
    "text only": "<plaintext>",
    "text area": "<textarea>",
    "link": "[x](javascript:document.title='owned') javascript:1 https://example.org/<b>",
    "half a character": "\u0000<script\u2028>",
    "a huge word": "x" * 60_000,
    "a huge line": "x y " * 15_000,
    "backwards": "\u202e<b>x</b>\u202c",
    "stacked": "Z" + "\u0301" * 400,
}
COMMANDS = ["stats", "check", "count", "plan --target 20%", "diff --target 20%", "compact --target 20% --json", "compact --target 20%"]


def request(evil):
    """A request with `evil` in every name and text."""
    call = {"id": evil, "type": "function", "function": {"name": evil, "arguments": json.dumps({"path": evil})}}
    messages = [
        {"role": "user", "content": evil},
        {"role": "tool", "tool_call_id": evil, "content": "orphan"},
        {"role": "assistant", "content": evil, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": evil, "content": evil},
        {"role": "user", "content": "Go on. " + evil},
    ]
    return json.dumps({"model": evil, "messages": messages})


def recording(evil):
    """A recording of Claude Code's with `evil` in every name and text."""
    rows, parent = [], None
    use = {"type": "tool_use", "id": "toolu_1", "name": evil[:60], "input": {"file_path": evil, "command": evil}}
    contents = [
        ("user", evil),
        ("assistant", [{"type": "text", "text": evil}, use]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": evil}]),
        ("assistant", [{"type": "text", "text": "done " + evil}]),
    ]
    for at, (role, content) in enumerate(contents):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{at}", "type": "message", "model": evil}
        row = {"type": role, "uuid": f"u{at}", "parentUuid": parent, "sessionId": "s", "cwd": evil, "gitBranch": evil}
        row |= {"version": "2.0.0", "timestamp": f"2026-01-01T00:00:0{at}Z", "isSidechain": False, "message": message}
        rows.append(json.dumps(row))
        parent = row["uuid"]
    return "".join(row + "\n" for row in rows)


class Tmux:
    """A terminal of its own."""

    count = 0

    def __init__(self, folder):
        Tmux.count += 1
        options = ("history-limit 100000", "set-clipboard on", "allow-passthrough on", "allow-rename on", "automatic-rename off")
        (folder / "tmux.conf").write_text("".join(f"set-option -gq {option}\n" for option in options))
        self.words = ["tmux", "-S", str(folder / f"socket{Tmux.count}"), "-f", str(folder / "tmux.conf")]
        self.folder = folder
        self.call("new-session", "-d", "-x", "100", "-y", "30", "-s", "s", "sh", "-c", "while read -r file; do . \"$file\"; done")

    def call(self, *words):
        return subprocess.run([*self.words, *words], check=True, capture_output=True, text=True, timeout=60).stdout

    def state(self):
        names = ("pane_title", "window_name", "alternate_on", "cursor_flag", "mouse_any_flag", "wrap_flag", "insert_flag",
                 "origin_flag", "keypad_flag", "scroll_region_upper", "scroll_region_lower", "window_bell_flag")
        told = self.call("display-message", "-p", "-t", "s", "\t".join(f"{name}=#{{{name}}}" for name in names))
        return told.strip(), self.call("list-buffers")

    def run(self, line):
        """What a command left on the screen, and whether the terminal answered as if somebody typed."""
        script = self.folder / "script"
        script.write_text(
            f"clear; printf 'BEFORE\\n'; {line} 2>&1; printf '\\nBEHIND\\n'\n"
            f"if bash -c 'IFS= read -rs -t 0.05 -n 1 x'; then printf 'TYPED\\n'; fi\n"
            f"{shlex.join([*self.words, 'wait-for', '-S', 'done'])}\n"
        )
        self.call("clear-history", "-t", "s")
        self.call("send-keys", "-t", "s", str(script), "Enter")
        self.call("wait-for", "done")
        return self.call("capture-pane", "-p", "-J", "-S", "-", "-t", "s")

    def end(self):
        subprocess.run([*self.words, "kill-server"], capture_output=True)


def terminals_obey_nothing(words, folder):
    tmux = Tmux(folder)
    try:
        tmux.run("true")
        usual = tmux.state()
        # What this sees: the corpus by itself drives the terminal.
        driven = 0
        for name, evil in TERMINAL.items():
            (folder / "evil.txt").write_text(evil)
            screen = tmux.run(f"cat {folder / 'evil.txt'}; sleep 0.02")
            driven += tmux.state() != usual or "TYPED" in screen or screen.split()[:1] != ["BEFORE"] or "BEHIND" not in screen
            tmux.end()
            tmux = Tmux(folder)
            tmux.run("true")
        assert driven >= 8, f"only {driven} of the corpus drive this terminal at all"
        runs = 0
        for name, evil in TERMINAL.items():
            (folder / "request.json").write_text(request(evil))
            (folder / "session.jsonl").write_text(recording(evil))
            for command in [*(f"{c} request.json" for c in COMMANDS), "stats session.jsonl", "report session.jsonl", "check session.jsonl"]:
                line = f"cd {folder} && HOME={folder} {words.epitome} {command}"
                at = f"{name}, {command}"
                try:
                    screen = tmux.run(line)
                except subprocess.CalledProcessError as lost:
                    # On a busy machine a terminal ended by itself once; one that a text ends does so again.
                    print(f"{at}: the terminal is gone: {lost.stderr.strip()}", flush=True)
                    tmux.end()
                    tmux = Tmux(folder)
                    tmux.run("true")
                    screen = tmux.run(line)
                assert tmux.state() == usual, f"{at}: {tmux.state()} was {usual}"
                lines = screen.strip().splitlines()
                ends = [line[:60] for line in (lines[0], lines[-1])]
                assert ends == ["BEFORE", "BEHIND"], f"{at}: {ends}"
                runs += 1
        print(f"{driven} of {len(TERMINAL)} texts drive tmux by themselves; none does through {runs} runs", flush=True)
    finally:
        tmux.end()


class Elements(html.parser.HTMLParser):
    """How often each element and each attribute that could do something occurs."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.title, self.inside = collections.Counter(), "", None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        if tag in ("script", "img", "iframe", "object", "embed", "form", "base", "link", "meta", "style", "svg", "a", "textarea", "plaintext", "template", "button"):
            self.seen[tag] += 1
        for name, value in attributes:
            if name.startswith("on") or name in ("href", "src", "srcdoc", "action", "xlink:href", "autofocus", "formaction"):
                self.seen[f"{tag} {name}"] += 1

    def handle_data(self, data):
        if self.inside == "title":
            self.title += data

    def handle_endtag(self, tag):
        self.inside = None


FRAME = """<!doctype html><body><iframe width=400 height=800 src="%s"
onload="document.body.dataset.wide = this.contentDocument.documentElement.scrollWidth"></iframe>"""


def dumped(chromium, page, folder):
    """The page as the browser has it after it ran whatever runs."""
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=2000"]
    words += [f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    alone = ["unshare", "-rn"] if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0 else []
    for _ in range(3):
        # On a busy machine it gives up now and then, without a word.
        ran = subprocess.run(alone + words, capture_output=True, text=True, timeout=120)
        if "<body" in ran.stdout:
            return ran.stdout
    raise AssertionError(ran.stderr[-2000:])


def browsers_run_nothing(words, folder):
    def pages(evil, place):
        place.mkdir()
        (place / "session.jsonl").write_text(recording(evil))
        (place / "request.json").write_text(request(evil))
        made = {
            "stats": "stats request.json --html stats.html",
            "stats of a recording": "stats session.jsonl --html recorded.html",
            "report": "report session.jsonl --html -o report.html",
        }
        for name, line in made.items():
            ran = subprocess.run([words.epitome, *line.split()], cwd=place, env={"HOME": str(place)}, capture_output=True, text=True)
            assert ran.returncode == 0, f"{name}: {ran.stderr}"
            yield name, place / line.split()[-1]

    def wide(page):
        frame = page.with_name("frame.html")
        frame.write_text(FRAME % page.name)
        return int(re.search(r'data-wide="(\d+)"', dumped(words.chromium, frame, page.parent)).group(1))

    def seen(evil, place):
        """What each page has, and how wide it is. Nothing of another text is in the folder."""
        return {name: (Elements(dumped(words.chromium, page, place)), wide(page)) for name, page in pages(evil, place)}

    texts = {"plain": "plain words", "long": "plain words " * 5_000, **BROWSER}
    # Most of the time is waiting for a browser to begin.
    with ThreadPoolExecutor(4) as pool:
        places = [folder / str(at) for at in range(len(texts))]
        short, long, *all = pool.map(seen, texts.values(), places)
    for (text, evil), found in zip(BROWSER.items(), all):
        for name, (page, width) in found.items():
            plain, _ = (long if len(evil) > 1000 else short)[name]
            # Larger figures make wider tables.
            most = max(short[name][1], long[name][1])
            at = f"{text}, {name}"
            assert page.seen == plain.seen, f"{at}: {page.seen} instead of {plain.seen}"
            assert "owned" not in page.title.replace("document.title='owned'", ""), f"{at}: {page.title}"
            assert width <= most, f"{at}: {width} instead of {most} wide"
    print(f"{len(BROWSER)} texts in {len(short)} pages: no element, handler or link is theirs, and no page is wider", flush=True)


def main():
    words = trials.arguments(__doc__, epitome=trials.program, chromium=str)
    tests = [
        ("escapes: terminals obey nothing", lambda folder: terminals_obey_nothing(words, folder)),
        ("escapes: browsers run nothing", lambda folder: browsers_run_nothing(words, folder)),
    ]
    return trials.run(tests)


if __name__ == "__main__":
    sys.exit(main())
