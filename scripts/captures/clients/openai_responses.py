"""openai (PyPI), Responses: reasoning carried by the client, items put back as the SDK gives them."""

import json

from desk import NEXT, RULES, SHAPES, TASK, TOOLS, picture, result
from openai import OpenAI

client = OpenAI()
tools = [
    {
        "type": "function",
        "name": name,
        "description": tool.__doc__.splitlines()[0],
        "parameters": SHAPES[name],
        "strict": False,
    }
    for name, tool in TOOLS.items()
]
items = [
    {"role": "developer", "content": RULES},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": TASK},
            {"type": "input_image", "image_url": f"data:image/png;base64,{picture()}", "detail": "low"},
        ],
    },
]


def turn():
    while True:
        with client.responses.stream(
            model="gpt-6.2-sol",
            input=items,
            tools=tools,
            store=False,
            include=["reasoning.encrypted_content"],
            reasoning={"effort": "high"},
            context_management=[{"type": "compaction", "compact_threshold": 200000}],
        ) as stream:
            response = stream.get_final_response()
        items.extend(response.output)
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return
        for call in calls:
            output = result(call.name, json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


turn()
items.append({"role": "user", "content": NEXT})
turn()
