"""openai (PyPI), Chat Completions: whole answers, messages put back as the SDK gives them."""

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
        answer = client.chat.completions.create(model="gpt-4.1", messages=messages, tools=tools, temperature=0.2)
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return
        for call in message.tool_calls:
            content = result(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": [{"type": "text", "text": content}]})


turn()
messages.append({"role": "user", "content": NEXT, "name": "maya"})
turn()
