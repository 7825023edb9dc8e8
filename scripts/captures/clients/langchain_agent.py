"""langchain (PyPI): its agent, two turns; the provider is the first word."""

import sys

from desk import NEXT, RULES, TASK, picture, result
from langchain.agents import create_agent
from langchain.tools import tool


@tool
def read_file(path: str, first: int = 1) -> str:
    """Reads a file of the repository. Gives its text with line numbers."""
    return result("read_file", {"path": path, "first": first})


@tool
def run(command: str) -> str:
    """Runs a command in the root of the repository. Gives its output and exit code."""
    return result("run", {"command": command})


def model(provider):
    if provider == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model="claude-opus-5-5", max_tokens=32000, thinking={"type": "adaptive"})
    from langchain_openai import ChatOpenAI

    if provider == "chat":
        return ChatOpenAI(model="gpt-4.1")
    reasoning = {"effort": "medium", "summary": "auto"}
    return ChatOpenAI(
        model="gpt-6.1-sol", use_responses_api=True, store=False, include=["reasoning.encrypted_content"], reasoning=reasoning
    )


agent = create_agent(model(sys.argv[1]), tools=[read_file, run], system_prompt=RULES)
image = {"type": "image", "base64": picture(), "mime_type": "image/png"}
state = {"messages": [{"role": "user", "content": [{"type": "text", "text": TASK}, image]}]}
state = agent.invoke(state)
state["messages"].append({"role": "user", "content": NEXT})
agent.invoke(state)
