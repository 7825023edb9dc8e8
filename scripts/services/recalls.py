"""The recall server, asked by the official Python SDK of the Model Context Protocol.

    recalls.py --epitome FILE --session FILE

A session is compacted into an archive; what that hides is found and given through the server, on the archive and on the
recording itself.
"""

import asyncio
import contextlib
import json
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import trials

TOOLS = {"recall_search", "recall_get", "context_stats"}


def said(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


@contextlib.asynccontextmanager
async def on_pipes(words):
    """The streams to a server that is started with `words`."""
    async with stdio_client(StdioServerParameters(command=words[0], args=words[1:])) as streams:
        yield streams


@contextlib.asynccontextmanager
async def over_http(words):
    """The same, over HTTP on a free port."""
    words = words + ["--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = server.stderr.readline().removeprefix("serving ").strip()
            async with streamable_http_client(url) as streams:
                yield streams
        finally:
            server.kill()


async def ask(words, question, reach=on_pipes):
    """Goes through all tools of a server that is started with `words`; the text of the first hit."""
    async with reach(words) as (reading, writing):
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


def over_streamable_http(epitome, session, folder):
    assert "regex" in asyncio.run(ask([epitome, "mcp", session], "regex", over_http)).lower()


TESTS = [on_an_archive, on_a_recording, over_streamable_http]


def main():
    words = trials.arguments(__doc__, epitome=trials.program, session=trials.program)
    tests = [
        (f"recalls: {trials.named(test)}", lambda folder, test=test: test(words.epitome, words.session, folder))
        for test in TESTS
    ]
    return trials.run(tests)



if __name__ == "__main__":
    sys.exit(main())
