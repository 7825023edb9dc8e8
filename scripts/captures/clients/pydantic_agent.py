"""pydantic-ai (PyPI): its agent, two turns; the provider is the first word."""

import sys

from desk import NEXT, RULES, TASK, result
from pydantic_ai import Agent


def model(provider):
    if provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel

        return AnthropicModel("claude-opus-5-5", settings={"max_tokens": 32000, "anthropic_thinking": {"type": "adaptive"}})
    if provider == "chat":
        from pydantic_ai.models.openai import OpenAIChatModel

        return OpenAIChatModel("gpt-4.1")
    from pydantic_ai.models.openai import OpenAIResponsesModel

    return OpenAIResponsesModel(
        "gpt-6.1-sol", settings={"openai_reasoning_effort": "medium", "openai_reasoning_summary": "auto", "openai_store": False}
    )


agent = Agent(model(sys.argv[1]), instructions=RULES)


@agent.tool_plain
def read_file(path: str, first: int = 1) -> str:
    """Reads a file of the repository. Gives its text with line numbers."""
    return result("read_file", {"path": path, "first": first})


@agent.tool_plain
def run(command: str) -> str:
    """Runs a command in the root of the repository. Gives its output and exit code."""
    return result("run", {"command": command})


first = agent.run_sync(TASK)
print(first.output)
print(agent.run_sync(NEXT, message_history=first.all_messages()).output)
