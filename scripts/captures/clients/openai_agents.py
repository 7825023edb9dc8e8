"""openai-agents (PyPI): its runner, two turns with a session in memory, nothing kept by the server."""

from agents import Agent, ModelSettings, Runner, SQLiteSession, function_tool, set_tracing_disabled
from desk import NEXT, RULES, TASK, result
from openai.types.shared import Reasoning

set_tracing_disabled(True)


@function_tool
def read_file(path: str, first: int = 1) -> str:
    """Reads a file of the repository. Gives its text with line numbers."""
    return result("read_file", {"path": path, "first": first})


@function_tool
def run(command: str) -> str:
    """Runs a command in the root of the repository. Gives its output and exit code."""
    return result("run", {"command": command})


settings = ModelSettings(
    store=False, response_include=["reasoning.encrypted_content"], reasoning=Reasoning(effort="medium", summary="auto")
)
agent = Agent(name="stock", instructions=RULES, model="gpt-6.1-sol", model_settings=settings, tools=[read_file, run])
session = SQLiteSession("stock")
for words in [TASK, NEXT]:
    print(Runner.run_sync(agent, words, session=session).final_output)
