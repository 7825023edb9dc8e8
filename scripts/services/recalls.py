"""The recall server, asked by the official Python SDK of the Model Context Protocol.

    recalls.py --epitome FILE --session FILE

A session is compacted into an archive; what that hides is found and given through the server, on the archive and on the
recording itself.
"""

import argparse
import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile
import traceback

from mcp import ClientSession, StdioServerParameters, stdio_client

TOOLS = {"recall_search", "recall_get", "context_stats"}


def said(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def ask(words, question):
    """Goes through all tools of a server that is started with `words`; the text of the first hit."""
    server = StdioServerParameters(command=words[0], args=words[1:])
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as client:
            hello = await client.initialize()
            assert hello.server_info.name == "epitome", hello
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == TOOLS, tools
            found = await client.call_tool("recall_search", {"query": question, "limit": 3})
            assert not found.is_error, found
            text = said(found)
            assert text.startswith("[recalled "), text
            id = text.removeprefix("[recalled ").split("]")[0]
            whole = await client.call_tool("recall_get", {"id": id, "max_tokens": 20000})
            assert not whole.is_error and id in said(whole), whole
            stats = json.loads(said(await client.call_tool("context_stats", {})))
            assert stats["messages"] > 0, stats
            wrong = await client.call_tool("recall_get", {"id": "nothing"})
            assert wrong.is_error, wrong
            return said(whole)


def on_an_archive(epitome, session, folder):
    store = str(folder / "store")
    command = [epitome, "compact", session, "--target", "10%", "--archive", store, "-o", str(folder / "out.json")]
    subprocess.run(command, check=True, capture_output=True)
    before = {path.name: path.read_bytes() for path in (folder / "store").iterdir()}
    assert "regex" in asyncio.run(ask([epitome, "mcp", "--archive", store], "regex")).lower()
    assert before == {path.name: path.read_bytes() for path in (folder / "store").iterdir()}, "it only reads"


def on_a_recording(epitome, session, folder):
    assert "regex" in asyncio.run(ask([epitome, "mcp", session], "regex")).lower()


TESTS = [on_an_archive, on_a_recording]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epitome", required=True)
    parser.add_argument("--session", required=True)
    words = parser.parse_args()
    failed = []
    for test in TESTS:
        name = f"recalls: {test.__name__.replace('_', ' ')}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(words.epitome, words.session, pathlib.Path(folder))
                print(f"test {name} ... ok", flush=True)
            except Exception:
                traceback.print_exc()
                print(f"test {name} ... FAILED", flush=True)
                failed.append(name)
    state = "FAILED" if failed else "ok"
    print(f"\ntest result: {state}. {len(TESTS) - len(failed)} passed; {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
