"""anthropic (PyPI), its tool runner: it writes the loop itself."""

from anthropic import Anthropic, beta_tool
from desk import RULES, TASK, read_file, run

client = Anthropic()
runner = client.beta.messages.tool_runner(
    model="claude-opus-5",
    max_tokens=8192,
    system=RULES,
    messages=[{"role": "user", "content": TASK}],
    tools=[beta_tool(read_file), beta_tool(run)],
    thinking={"type": "adaptive"},
    stream=True,
    thread=False,
)
for stream in runner:
    stream.get_final_message()
