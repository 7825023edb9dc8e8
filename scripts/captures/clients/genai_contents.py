"""google-genai (PyPI): whole answers, contents put back as the SDK gives them, calls in parallel."""

import base64

from desk import NEXT, RULES, SHAPES, TASK, TOOLS, picture, result
from google import genai
from google.genai import types

client = genai.Client()
declarations = [
    types.FunctionDeclaration(
        name=name, description=tool.__doc__.splitlines()[0], parameters_json_schema=SHAPES[name]
    )
    for name, tool in TOOLS.items()
]
config = types.GenerateContentConfig(
    system_instruction=RULES,
    tools=[types.Tool(function_declarations=declarations)],
    thinking_config=types.ThinkingConfig(include_thoughts=True),
    max_output_tokens=8192,
)
image = types.Part.from_bytes(data=base64.b64decode(picture()), mime_type="image/png")
contents = [types.Content(role="user", parts=[types.Part.from_text(text=TASK), image])]


def turn():
    while True:
        answer = client.models.generate_content(model="gemini-3.1-pro", contents=contents, config=config)
        contents.append(answer.candidates[0].content)
        if not answer.function_calls:
            return
        parts = []
        for call in answer.function_calls:
            part = types.Part.from_function_response(name=call.name, response={"result": result(call.name, call.args)})
            part.function_response.id = call.id
            parts.append(part)
        contents.append(types.Content(role="user", parts=parts))


turn()
contents.append(types.Content(role="user", parts=[types.Part.from_text(text=NEXT)]))
turn()
