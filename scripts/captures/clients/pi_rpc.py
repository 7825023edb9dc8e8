"""pi over its RPC: a command of the person's own, another way from an earlier message, a compaction."""

import json
import subprocess
import sys

PI = subprocess.Popen(
    ["pi", "--mode", "rpc", "--provider", sys.argv[1], "--model", sys.argv[2]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def ask(until="response", **command):
    """Sends a command and reads until an event of the kind; returns it."""
    print(json.dumps(command), file=PI.stdin, flush=True)
    for line in PI.stdout:
        event = json.loads(line)
        if event["type"] == until:
            return event
        if event["type"] == "response" and not event["success"]:
            sys.exit(f"{command}: {event}")
    sys.exit(f"{command}: pi is gone")


def prompt(message):
    ask(until="agent_end", type="prompt", message=message)


prompt("The tests of this repository fail. Find out why, mend it, and say what you changed.")
ask(type="bash", command="git diff --stat; exit 3")
prompt("Good. Now add a test for an item on three shelves.")
messages = ask(type="get_fork_messages")["data"]["messages"]
ask(type="fork", entryId=messages[-1]["entryId"])
prompt("Rather add a test for an empty file.")
ask(type="compact", customInstructions="Keep names of files.")
prompt("Run the tests once more.")
PI.stdin.close()
PI.terminate()
