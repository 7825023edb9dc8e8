"""openai (PyPI) against a compatible server that wants its `reasoning_content` back; messages dumped whole."""

import json

from desk import NEXT, RULES, SHAPES, TASK, TOOLS, result
from openai import OpenAI

client = OpenAI()
tools = [
    {
        "type": "function",
        "function": {"name": name, "description": tool.__doc__.splitlines()[0], "parameters": SHAPES[name]},
    }
    for name, tool in TOOLS.items()
]
messages = [{"role": "system", "content": RULES}, {"role": "user", "content": TASK}]


def turn():
    while True:
        answer = client.chat.completions.create(
            model="deepseek-chat", messages=messages, tools=tools, extra_body={"thinking": {"type": "enabled"}}
        )
        message = answer.choices[0].message
        messages.append(message.model_dump())
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            content = result(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


turn()
messages.append({"role": "user", "content": NEXT})
turn()
