"""LangChain's agent behind a proxy: the kind of its model, and the model."""

import os
import sys

from langchain.agents import create_agent
from langchain.tools import tool

import sdks

PROXY = os.environ["PROXY"]


@tool
def run(command: str) -> str:
    """Runs a command."""
    return sdks.result(command)


def model(kind, name):
    if kind == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=name, max_tokens=1024, thinking={"type": "adaptive"}, base_url=PROXY, max_retries=0)
    from langchain_openai import ChatOpenAI

    if kind == "chat":
        return ChatOpenAI(model=name, base_url=f"{PROXY}/v1", max_retries=0)
    more = {"use_responses_api": True, "store": False, "include": ["reasoning.encrypted_content"]}
    return ChatOpenAI(model=name, base_url=f"{PROXY}/v1", max_retries=0, **more)


agent = create_agent(model(*sys.argv[1:3]), tools=[run], system_prompt=sdks.RULES)
task = {"messages": [{"role": "user", "content": sdks.TASK}]}
state = agent.invoke(task, {"recursion_limit": 4 * sdks.STEPS})
print(state["messages"][-1].text)
