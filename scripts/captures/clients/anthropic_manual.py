"""anthropic (PyPI): manual thinking with interleaving, an encrypted thought, errors, a document, two markers."""

from anthropic import Anthropic
from desk import NEXT, RULES, SHAPES, TASK, TOOLS, picture, result

client = Anthropic()
tools = [
    {"name": name, "description": tool.__doc__.splitlines()[0], "input_schema": SHAPES[name]}
    for name, tool in TOOLS.items()
]
messages = [
    {
        "role": "user",
        "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture()}},
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": result("read_file", {"path": "README.md"})},
                "title": "README.md",
            },
            {"type": "text", "text": TASK, "cache_control": {"type": "ephemeral"}},
        ],
    }
]


def turn():
    while True:
        message = client.messages.create(
            model="claude-sonnet-4-5",
            max_tokens=8192,
            system=[{"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}],
            messages=messages,
            tools=tools,
            thinking={"type": "enabled", "budget_tokens": 2048},
            extra_headers={"anthropic-beta": "interleaved-thinking-2025-05-14"},
        )
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return
        results = []
        for call in calls:
            content = result(call.name, call.input)
            block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
            results.append({**block, "is_error": True} if content.startswith("Error") else block)
        messages.append({"role": "user", "content": results})


turn()
messages.append({"role": "user", "content": NEXT})
turn()
