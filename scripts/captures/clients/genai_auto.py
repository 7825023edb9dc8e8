"""google-genai (PyPI), its chat with functions that the SDK calls by itself."""

from desk import NEXT, RULES, TASK, read_file, run
from google import genai
from google.genai import types

client = genai.Client()
chat = client.chats.create(
    model="gemini-3.8-flash",
    config=types.GenerateContentConfig(system_instruction=RULES, tools=[read_file, run]),
)
chat.send_message(TASK)
chat.send_message(NEXT)
