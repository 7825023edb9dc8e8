#!/usr/bin/env python3
"""Makes crates/epitome/data/models.json, the registry of models.

    python3 scripts/models.py            # writes the file and says where the sources differ
    python3 scripts/models.py --check    # exits with 1 if the file isn't what this makes

Needs Python 3.11 and pip, which fetches the two packages below; nothing of them is run. What they say
of a model is taken in this order, the first that says something wins:

1. OVERRIDES here: what docs/PROVIDERS.md says (B.1.4, B.1.6, B.2.4, B.4, B.6), with its section;
2. litellm's price table (MIT);
3. genai-prices' table (MIT), at the price in force on DATE.

Facts of a price table are not copied text; both packages' licences are named in the file all the same.
"""

import datetime
import decimal
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

DATE = "2026-11-22"
LITELLM = ("litellm", "1.109.1", "2026-11-12")  # its SBOM's time stamp
GENAI = ("genai-prices", "0.2.3", "2026-11-04")  # the newest date in its table
OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/epitome/data/models.json"

# Who makes which models, how the price tables call them there, and what family a tokenizer is of.
# Ids are the vendor's own, without a date. A pair gives the id in genai-prices where it differs.
VENDORS = {
    "anthropic": dict(name="Anthropic", litellm="", genai="anthropic", tokenizer="claude", models="""
        claude-fable-5-2 claude-fable-5-1 claude-fable-5 claude-mythos-5-2 claude-mythos-5-1 claude-mythos-5
        claude-opus-5-5 claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5
        claude-opus-4-1 claude-opus-4=claude-opus-4-0 claude-sonnet-5-5 claude-sonnet-5 claude-sonnet-4-6
        claude-sonnet-4-5 claude-sonnet-4=claude-sonnet-4-0 claude-haiku-5-5 claude-haiku-4-5
        claude-3-7-sonnet=claude-3-7-sonnet-latest claude-3-5-sonnet claude-3-5-haiku=claude-3-5-haiku-latest"""),
    "openai": dict(name="OpenAI", litellm="", genai="openai", tokenizer="o200k", models="""
        gpt-6.1-sol gpt-6.1-terra gpt-6-astra gpt-6-sol gpt-6-luna gpt-5.6=gpt-5.6-sol gpt-5.6-sol gpt-5.6-terra
        gpt-5.6-luna gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.4-pro gpt-5.4-mini gpt-5.4-nano gpt-5.3-codex gpt-5.2
        gpt-5.2-codex=gpt-5.2 gpt-5.2-pro gpt-5.1 gpt-5.1-codex=gpt-5.1 gpt-5.1-codex-max=gpt-5.1
        gpt-5.1-codex-mini gpt-5 gpt-5-codex=gpt-5 gpt-5-mini gpt-5-nano gpt-5-pro gpt-4.1 gpt-4.1-mini
        gpt-4.1-nano gpt-4o gpt-4o-2024-05-13 gpt-4o-mini gpt-4-turbo gpt-4 gpt-3.5-turbo o1 o1-pro o3 o3-mini
        o3-pro o4-mini gpt-oss-120b gpt-oss-20b"""),
    "google": dict(name="Google", litellm="gemini/", genai="google", tokenizer="gemini", models="""
        gemini-4-argon gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash gemini-3.5-flash gemini-3.5-flash-lite
        gemini-3.1-pro-preview gemini-3.1-flash-lite gemini-3-pro-preview gemini-3-flash-preview gemini-2.5-pro
        gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it"""),
    "deepseek": dict(name="DeepSeek", litellm="deepseek/", genai="deepseek", tokenizer="deepseek", models="""
        deepseek-v4-pro deepseek-v4-flash deepseek-flash deepseek-v3.2 deepseek-chat deepseek-reasoner"""),
    "xai": dict(name="xAI", litellm="xai/", genai="x-ai", tokenizer="grok", models="""
        grok-4.7 grok-4.6 grok-4.5 grok-4.3 grok-4.20 grok-4.20-reasoning=grok-4.20
        grok-4.20-non-reasoning=grok-4.20 grok-build-0.1 grok-code-fast-1 grok-4=grok-4-0709
        grok-4-fast=grok-4-fast-reasoning grok-3 grok-3-mini"""),
    "mistral": dict(name="Mistral", litellm="mistral/", genai="mistral", tokenizer="mistral", models="""
        mistral-large-4 mistral-large-2512 mistral-medium-3-5 mistral-small-2603 devstral-latest=devstral-2512
        devstral-small-latest=devstral-small codestral-2508 magistral-medium-latest=magistral-medium
        magistral-small-latest=magistral-small ministral-14b-2512 ministral-8b-2512 ministral-3b-2512
        open-mistral-nemo=mistral-nemo"""),
    "qwen": dict(name="Alibaba Qwen", litellm="dashscope/", genai="-", tokenizer="qwen", models="""
        qwen3.8-max qwen3.8-flash qwen3.7-max qwen3.7-plus qwen3.5-plus qwen3-max qwen3-coder-plus
        qwen3-coder-flash qwen3-next-80b-a3b-instruct qwen3-next-80b-a3b-thinking qwen3-vl-plus qwen-max
        qwen-plus-latest qwen-flash qwq-plus"""),
    "moonshot": dict(name="Moonshot Kimi", litellm="moonshot/", genai="moonshotai", tokenizer="kimi", models="""
        kimi-k3.1-pro kimi-k3 kimi-k2.7-code kimi-k2.6 kimi-k2.5 kimi-k2-thinking kimi-k2-0905-preview"""),
    "zai": dict(name="Z.ai GLM", litellm="zai/", genai="zai", tokenizer="glm", models="""
        glm-5.3=GLM-5.3 glm-5.3-flash=GLM-5.3-Flash glm-5.2=GLM-5.2 glm-5.1=GLM-5.1 glm-5=GLM-5 glm-5-code
        glm-4.7=GLM-4.7 glm-4.7-flash glm-4.6=GLM-4.6 glm-4.5=GLM-4.5 glm-4.5-air=GLM-4.5-Air"""),
    "meta": dict(name="Meta", litellm="meta/", genai="meta", tokenizer="llama", models="""
        muse-wonder-1.0 muse-spark-1.3 muse-spark-1.2"""),
    "minimax": dict(name="MiniMax", litellm="minimax/", genai="minimax", tokenizer="minimax", models="""
        minimax-m3 minimax-m2.7=MiniMax-M2.7 minimax-m2.5 minimax-m2.1 minimax-m2=MiniMax-M2"""),
}

# Models without a maker's own price: where the row of litellm's table is taken from.
HOSTED = {
    "gpt-oss-120b": "groq/openai/gpt-oss-120b",
    "gpt-oss-20b": "groq/openai/gpt-oss-20b",
    "llama-4-maverick-17b-128e-instruct": "us.meta.llama4-maverick-17b-instruct-v1:0",
    "llama-4-scout-17b-16e-instruct": "us.meta.llama4-scout-17b-instruct-v1:0",
    "llama-3.3-70b-instruct": "us.meta.llama3-3-70b-instruct-v1:0",
    "llama-3.1-405b-instruct": "meta.llama3-1-405b-instruct-v1:0",
    "llama-3.1-70b-instruct": "meta.llama3-1-70b-instruct-v1:0",
    "llama-3.1-8b-instruct": "meta.llama3-1-8b-instruct-v1:0",
    "qwen3-coder-480b-a35b-instruct": "qwen.qwen3-coder-480b-a35b-v1:0",
    "qwen3-235b-a22b-instruct-2507": "qwen.qwen3-235b-a22b-2507-v1:0",
}
# Models whose maker's row is gone from litellm's table: what isn't a price is taken from these.
ELSEWHERE = {
    "claude-opus-4-1": "anthropic.claude-opus-4-1-20250805-v1:0",
    "claude-opus-4": "anthropic.claude-opus-4-20250514-v1:0",
    "claude-sonnet-4": "anthropic.claude-sonnet-4-20250514-v1:0",
    "claude-3-7-sonnet": "vercel_ai_gateway/anthropic/claude-3-7-sonnet",
    "claude-3-5-sonnet": "anthropic.claude-3-5-sonnet-20241022-v2:0",
    "claude-3-5-haiku": "anthropic.claude-3-5-haiku-20241022-v1:0",
    "gemini-3-pro-preview": "vertex_ai/gemini-3-pro-preview",
}
HOSTED_VENDOR = {"gpt-oss": "openai", "llama": "meta", "qwen": "qwen"}

# Other names under which a model is asked for. Dates, regions, platforms and `.` for `-` need none:
# the registry takes those off.
ALIASES = {
    "claude-opus-4": ["claude-4-opus", "claude-opus-4-0"],
    "claude-sonnet-4": ["claude-4-sonnet", "claude-sonnet-4-0"],
    "claude-opus-4-5": ["claude-4-5-opus", "claude-4.5-opus"],
    "claude-sonnet-4-5": ["claude-4-5-sonnet"],
    "claude-haiku-4-5": ["claude-4-5-haiku"],
    "claude-sonnet-4-6": ["claude-4-6-sonnet"],
    "claude-opus-4-6": ["claude-4-6-opus"],
    "claude-opus-4-7": ["claude-4-7-opus"],
    "claude-opus-4-8": ["claude-4-8-opus"],
    "claude-opus-5": ["claude-5-opus"],
    "claude-opus-5-5": ["claude-5-5-opus"],
    "claude-sonnet-5": ["claude-5-sonnet"],
    "claude-sonnet-5-5": ["claude-5-5-sonnet"],
    "claude-haiku-5-5": ["claude-5-5-haiku"],
    "claude-3-7-sonnet": ["claude-sonnet-3-7"],
    "claude-3-5-sonnet": ["claude-sonnet-3-5"],
    "claude-3-5-haiku": ["claude-haiku-3-5"],
    "gpt-4": ["gpt-4-0613"],
    "gpt-4-turbo": ["gpt-4-1106-preview", "gpt-4-0125-preview", "gpt-4-turbo-preview"],
    "gpt-3.5-turbo": ["gpt-3.5-turbo-0125", "gpt-3.5-turbo-1106", "gpt-35-turbo"],
    "gemini-3.8-flash": ["gemini-flash-latest"],
    "gemini-3.5-flash-lite": ["gemini-flash-lite-latest"],
    "gemini-3.1-pro-preview": ["gemini-3.1-pro", "gemini-pro-latest", "gemini-3.1-pro-preview-customtools"],
    "gemini-3-pro-preview": ["gemini-3-pro"],
    "gemini-3-flash-preview": ["gemini-3-flash"],
    "mistral-large-2512": ["mistral-large-3", "mistral-large-latest"],
    "mistral-large-4": ["mistral-large-4-0"],
    "mistral-medium-3-5": ["mistral-medium-2604", "mistral-medium-latest"],
    "mistral-small-2603": ["mistral-small-latest"],
    "devstral-latest": ["devstral-2512", "devstral-medium-latest"],
    "devstral-small-latest": ["devstral-small"],
    "codestral-2508": ["codestral-latest"],
    "magistral-medium-latest": ["magistral-medium"],
    "magistral-small-latest": ["magistral-small"],
    "ministral-14b-2512": ["ministral-14b-latest", "ministral-3-14b-2512"],
    "ministral-8b-2512": ["ministral-8b-latest", "ministral-3-8b-2512"],
    "ministral-3b-2512": ["ministral-3b-latest", "ministral-3-3b-2512"],
    "open-mistral-nemo": ["mistral-nemo"],
    "qwen-plus-latest": ["qwen-plus-2025-09-11"],
    "qwen3-coder-480b-a35b-instruct": ["qwen3-coder-480b-a35b", "qwen3-coder"],
    "qwen3-235b-a22b-instruct-2507": ["qwen3-235b-a22b-2507"],
    "kimi-k2-0905-preview": ["kimi-k2-0905", "kimi-k2"],
    "grok-4": ["grok-4-0709", "grok-4-latest"],
    "grok-4-fast": ["grok-4-fast-reasoning", "grok-4-fast-non-reasoning"],
    "grok-code-fast-1": ["grok-code-fast"],
    "llama-4-maverick-17b-128e-instruct": ["llama-4-maverick", "llama4-maverick-17b-instruct",
                                           "llama-4-maverick-17b-128e-instruct-fp8"],
    "llama-4-scout-17b-16e-instruct": ["llama-4-scout", "llama4-scout-17b-instruct"],
    "llama-3.3-70b-instruct": ["llama-3.3-70b", "llama3-3-70b-instruct", "llama-3.3-70b-versatile",
                               "llama-3.3-70b-instruct-turbo"],
    "llama-3.1-405b-instruct": ["llama3-1-405b-instruct", "meta-llama-3.1-405b-instruct"],
    "llama-3.1-70b-instruct": ["llama3-1-70b-instruct", "meta-llama-3.1-70b-instruct"],
    "llama-3.1-8b-instruct": ["llama3-1-8b-instruct", "llama-3.1-8b-instant", "meta-llama-3.1-8b-instruct"],
}

# Prompt caches by vendor: scheme, minimum and lives in PROVIDERS.md's sections.
# marked: written only where the client marks; open: written by itself or where marked, for a fee;
# automatic: written by itself, without a fee.
CACHES = {
    # B.1.6
    "anthropic": dict(scheme="marked", ttl=300, ttl_long=3600, breakpoints=4, lookback=20),
    # B.2.4: GPT-5.6 and later
    "openai-new": dict(scheme="open", minimum=1024, ttl=1800, ttl_long=43200, breakpoints=4),
    # B.2.4: before; kept for 5 to 10 minutes of rest, so 5 is what can be relied on
    "openai-old": dict(scheme="automatic", minimum=1024, ttl=300),
    # B.4: implicit caching, without a guarantee
    "google": dict(scheme="automatic"),
}
# B.1.6; Sonnet 4 and older Sonnets as Opus 4 [BK]
ANTHROPIC_MINIMUM = {
    512: "fable-5-2 fable-5-1 fable-5 mythos-5-2 mythos-5-1 mythos-5 opus-5-5 opus-5 sonnet-5-5 haiku-5-5",
    1024: "opus-4-8 sonnet-5 sonnet-4-5 opus-4 opus-4-1 sonnet-4 3-7-sonnet 3-5-sonnet",
    2048: "opus-4-7 sonnet-4-6 3-5-haiku",
    4096: "opus-4-6 opus-4-5 haiku-4-5",
}
# B.1.4: what becomes of reasoning whose prefix was edited
BINDING = {
    "refused": "fable-5-1 fable-5-2 mythos-5-2 opus-5-5 sonnet-5-5 haiku-5-5",
    "recorded": "mythos-5-1",
}
# B.1.3: models that take reasoning of all earlier turns as input; the others take the last turn's
KEEPS_ALL = "opus-4-5 opus-4-6 opus-4-7 opus-4-8 opus-5 opus-5-5 sonnet-4-6 sonnet-5 sonnet-5-5 haiku-5-5 " \
            "fable-5 fable-5-1 fable-5-2 mythos-5 mythos-5-1 mythos-5-2"
# B.1.4: a forced tool choice is refused
NO_FORCED_TOOL = "fable-5-1 fable-5-2 mythos-5-1 mythos-5-2 opus-5-5 sonnet-5-5"
# B.1.1: system text in mid-conversation is taken, without a beta header
MID_SYSTEM = "opus-4-8 opus-5 opus-5-5 fable-5 fable-5-1 fable-5-2 mythos-5 mythos-5-1 mythos-5-2 haiku-5-5 sonnet-5-5"


def dollars(value):
    """Dollars for a million tokens, without the noise of binary fractions."""
    number = round(float(value), 6)
    return int(number) if number == int(number) else number


def b6(inp, out, write, long, read, above=None, **facts):
    """A row of PROVIDERS.md B.6; a price that isn't told apart from the input's is left out."""
    price = dict(input=dollars(inp), output=dollars(out), write=write, write_long=long, read=dollars(read))
    if above:
        tokens, ins, outs = above
        times = lambda value, by: None if value is None else dollars(value * by)
        price["above"] = [dict(tokens=tokens, input=times(inp, ins), output=times(out, outs),
                               write=times(write, ins), write_long=times(long, ins), read=times(read, ins))]
    return dict(price=price, **facts)


M = 1_000_000
CLIFF = (272_000, 2, 1.5)
OVERRIDES = {  # PROVIDERS.md B.6, of 2026-11-21
    "claude-fable-5-1": b6(10, 50, 12.5, 20, 0.25, window=M),
    "claude-opus-5-5": b6(4, 20, 5, 8, 0.20, window=M),
    "claude-opus-5": b6(5, 25, 6.25, 10, 0.5, window=M),
    "claude-opus-4-8": b6(5, 25, 6.25, 10, 0.5, window=M),
    "claude-opus-4-7": b6(5, 25, 6.25, 10, 0.5, window=M),
    "claude-opus-4-6": b6(5, 25, 6.25, 10, 0.5, window=M),
    "claude-opus-4-5": b6(5, 25, 6.25, 10, 0.5, window=200_000),
    "claude-sonnet-5-5": b6(2, 10, 2.5, 4, 0.10, window=M),
    "claude-sonnet-5": b6(2, 10, 2.5, 4, 0.2, window=M),
    "claude-haiku-5-5": b6(0.1, 0.5, 0.125, 0.2, 0.01, (100_000, 5, 5), window=M),
    "gpt-6-astra": b6(10, 50, 12.5, 25, 1.0, CLIFF, input=922_000),
    "gpt-6-sol": b6(2, 10, 2.5, 5, 0.2, CLIFF, input=922_000),
    "gpt-6.1-sol": b6(2, 10, 2.5, 5, 0.1, CLIFF, input=922_000),
    "gpt-6.1-terra": b6(1, 5, 1.25, 2.5, 0.05, CLIFF, input=922_000),
    "gpt-6-luna": b6(0.1, 0.5, 0.125, 0.25, 0.01, CLIFF, input=922_000),
    "gpt-5.5": b6(5, 30, None, None, 0.5, CLIFF, window=1_050_000),
    "gpt-5.4": b6(2.5, 15, None, None, 0.25, CLIFF, window=1_050_000),
    "gemini-3.1-pro-preview": b6(2, 12, None, None, 0.2, (200_000, 2, 1.5), input=1_048_576),
    "gemini-3.8-flash": b6(0.75, 3.75, None, None, 0.075),
    "deepseek-chat": b6(0.28, 0.42, None, None, 0.028, input=131_072),
}

# What is known of a model that isn't in the table, by how its name starts; the longest start counts.
# Claude's next models are taken to check the prefix (B.1.4), OpenAI's from GPT-6.2 to drop (B.2.5).
FAMILIES = {
    "anthropic claude": "claude",
    "openai o200k": "gpt-4o gpt-4.1 gpt-4.5 gpt-5 gpt-6 gpt-oss chatgpt-4o codex- "
                    "o1 o2 o3 o4 o5 o6 o7 o8 o9",
    "openai cl100k": "gpt-4 gpt-3.5 gpt-35",
    "google gemini": "gemini gemma", "deepseek deepseek": "deepseek", "xai grok": "grok",
    "mistral mistral": "mistral ministral codestral devstral magistral mixtral pixtral open-mistral",
    "qwen qwen": "qwen qwq qvq", "moonshot kimi": "kimi moonshot", "zai glm": "glm zai-glm",
    "meta llama": "llama meta-llama codellama code-llama", "minimax minimax": "minimax",
}
BOUND_FAMILIES = {
    "anthropic claude refused": [f"claude-{kind}-{version}" for kind, versions in {
        "opus": "5-5 5-6 5-7 5-8 5-9 6 7", "sonnet": "5-5 5-6 5-7 5-8 5-9 6 7", "haiku": "5-5 5-6 5-7 5-8 5-9 6 7",
        "fable": "5-1 5-2 5-3 5-4 5-5 5-6 5-7 5-8 5-9 6 7", "mythos": "5-2 5-3 5-4 5-5 5-6 5-7 5-8 5-9 6 7",
    }.items() for version in versions.split()],
    "openai o200k dropped": "gpt-6.2 gpt-6.3 gpt-6.4 gpt-6.5 gpt-6.6 gpt-6.7 gpt-6.8 gpt-6.9 gpt-7 gpt-8 gpt-9".split(),
}

KINDS = {"input": "input_cost_per_token", "output": "output_cost_per_token",
         "read": "cache_read_input_token_cost", "write": "cache_creation_input_token_cost"}
LONG = ["cache_creation_input_token_cost_above_1hr", "cache_creation_input_token_cost_above_12hr"]


def wheel(package, folder):
    name, version, _ = package
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                    "--dest", folder, f"{name}=={version}"], check=True)
    file, = pathlib.Path(folder).glob(f"{name.replace('-', '_')}-{version}-*.whl")
    return zipfile.ZipFile(io.BytesIO(file.read_bytes()))


def read_litellm(folder):
    table = json.loads(wheel(LITELLM, folder).read("litellm/model_prices_and_context_window_backup.json"))
    return {key.lower(): row for key, row in table.items()}


class Node(dict):
    """A constructor call of genai-prices' table, as its arguments."""


def read_genai(folder):
    source = wheel(GENAI, folder).read("genai_prices/data.py").decode()
    source = source[source.index("providers: list"):].replace("providers: list[Provider]", "providers", 1)
    names = set(re.findall(r"\b([A-Z]\w+)\(", source)) - {"Decimal"}
    space = {name: (lambda **fields: Node(fields)) for name in names}
    space |= {"Decimal": decimal.Decimal, "datetime": datetime, "__builtins__": {}}
    exec(source, space)  # a literal: nothing but the constructors above is in reach
    return {provider["id"]: {model["id"]: model for model in provider["models"]}
            for provider in space["providers"]}


def per_million(row, key):
    value = row.get(key)
    return None if value is None else dollars(decimal.Decimal(repr(value)) * M)


def litellm_price(row):
    at = lambda suffix: {
        **{kind: per_million(row, key + suffix) for kind, key in KINDS.items()},
        "write_long": next((per_million(row, key + suffix) for key in LONG if key + suffix in row), None)}
    base = at("")
    above = []
    for tier in row.get("tiered_pricing", []):
        prices = {kind: per_million(tier, key) for kind, key in KINDS.items()} | {"write_long": None}
        if tier["range"][0] == 0:
            base = prices
        else:
            above.append({"tokens": int(tier["range"][0]), **prices})
    sizes = {int(size) for key in row for size in re.findall(r"^input_cost_per_token_above_(\d+)k_tokens$", key)}
    above += [{"tokens": size * 1000, **at(f"_above_{size}k_tokens")} for size in sorted(sizes)]
    return {**base, "above": above}


def in_force(prices):
    """Of several prices, the one in force on DATE: a later row goes before, and a price of the busy
    hours before that of the rest."""
    if not isinstance(prices, list):
        return prices
    starts = lambda row: str((row.get("constraint") or {}).get("start_date", ""))
    return [row for row in prices if starts(row) <= DATE][-1]["prices"]


def genai_price(model):
    prices = in_force(model["prices"])
    keys = {"input": "input_mtok", "output": "output_mtok", "read": "cache_read_mtok",
            "write": "cache_write_mtok", "write_long": "cache_write_1h_mtok"}
    base, above = {}, {}
    for kind, key in keys.items():
        value = prices.get(key)
        if isinstance(value, Node):
            for tier in value["tiers"]:
                above.setdefault(tier["start"], {})[kind] = dollars(tier["price"])
            value = value["base"]
        base[kind] = None if value is None else dollars(value)
    # xAI's tiers begin at a number and not above it.
    tiers = [{"tokens": size + (size % 10 == 9), **kinds} for size, kinds in sorted(above.items())]
    return {**base, "above": tiers}


def tidy_price(price):
    """Leaves out what costs as input does, and a cache that nobody pays for."""
    def tidy(one):
        one = {kind: value for kind, value in one.items() if value is not None}
        if not one.get("write", 1) or one.get("write") == one.get("input"):
            one.pop("write", None)
        if "write" not in one:
            one.pop("write_long", None)
        return one
    out = tidy({kind: value for kind, value in price.items() if kind != "above"})
    if "input" not in out or "output" not in out or out["input"] == out["output"] == 0:
        return None
    above = [tidy(tier) for tier in price.get("above") or []]
    above = [{"tokens": tier["tokens"]} | {kind: tier.get(kind, out.get(kind)) for kind in
             ("input", "output", "read", "write", "write_long") if kind in out} for tier in above]
    if above:
        out["above"] = above
    return out


def is_one_of(model, names):
    return model.removeprefix("claude-") in names.split()


def cache_of(model, vendor, price, row):
    if vendor == "anthropic":
        minimum = next(size for size, names in ANTHROPIC_MINIMUM.items() if is_one_of(model, names))
        rules = CACHES["anthropic"]
        return {"scheme": rules["scheme"], "minimum": minimum} | rules
    if not price or "read" not in price:
        return None
    if vendor == "openai" and "oss" not in model:
        return dict(CACHES["openai-new" if "write" in price else "openai-old"])
    if vendor == "google":
        minimum = 2048 if "2.5" in model else 4096
        return CACHES["google"] | {"minimum": minimum}
    if "write" in price:
        return {"scheme": "open"} | ({"minimum": int(row["prompt_cache_min_tokens"])}
                                     if row.get("prompt_cache_min_tokens") else {})
    return {"scheme": "automatic"}


def thinking_of(model, vendor, row):
    if vendor != "anthropic":
        if vendor == "meta" and model.startswith("llama"):
            return None
        return {"modes": ["effort"]} if row.get("supports_reasoning") else None
    if "claude-3-5" in model:
        return None
    adaptive = row.get("supports_adaptive_thinking") or bool(re.search(r"(fable|mythos)-5", model))
    modes = ["adaptive"] if adaptive else []
    if not adaptive or row.get("supports_legacy_thinking"):
        modes.append("manual")
    always = row.get("thinking_always_on") or bool(re.search(r"(fable|mythos)-5-2", model))
    if not always:
        modes.append("off")
    binding = next((kind for kind, names in BINDING.items() if is_one_of(model, names)), None)
    return {"modes": modes, "kept": "all" if is_one_of(model, KEEPS_ALL) else "last-turn"} | (
        {"binding": binding} if binding else {})


def refusals(model, vendor, row):
    if vendor != "anthropic":
        return []
    out = []
    if is_one_of(model, NO_FORCED_TOOL):
        out.append("forced-tool")
    if not is_one_of(model, MID_SYSTEM):
        out.append("mid-system")
    if row.get("supports_assistant_prefill") is False or is_one_of(model, "fable-5-2 mythos-5-2"):
        out.append("prefill")
    return out


def entry(model, vendor, tokenizer, row, elsewhere, genai, said):
    over = OVERRIDES.get(model, {})
    theirs = tidy_price(litellm_price(row)) if row else None
    row = row or elsewhere or {}
    others = tidy_price(genai_price(genai)) if genai else None
    price = tidy_price(over["price"]) if "price" in over else theirs or others
    sources = [name for name, there in (("PROVIDERS.md B.6", over), ("litellm", row), ("genai-prices", genai)) if there]
    notes = []
    for name, other in (("litellm", theirs), ("genai-prices", others)):
        if other and price and other != price:
            differs = {kind: other.get(kind) for kind in ("input", "output", "read") if other.get(kind) != price.get(kind)}
            if differs:
                text = ", ".join(f"{kind} {value}" for kind, value in differs.items())
                notes.append(f"{name} says {text}")
                said.append(f"{model}: {name} says {text}; taken {price['input']} / {price['output']}")
    if elsewhere:
        notes.append(f"windows and abilities as litellm has them for {ELSEWHERE[model]}")
    if row.get("off_peak_pricing"):
        notes.append("half the price off-peak")
    if vendor == "anthropic" and row.get("supports_mid_conversation_system") and not is_one_of(model, MID_SYSTEM):
        notes.append("litellm says that it takes system text in mid-conversation")
    output = row.get("max_output_tokens") or (128_000 if re.search(r"(fable|mythos)-5-2", model) else None)
    most = over.get("input") or row.get("max_input_tokens")
    whole = over.get("window") or max(filter(None, [(genai or {}).get("context_window"), most]), default=None)
    if vendor == "openai" and re.match(r"gpt-5(?!\.6)", model) and most and most >= whole and output == 128_000:
        # That is how the table has it for the other models of that window.
        most = whole - output
        notes.append("input is the window less the output")
    most = most or whole
    window = max(filter(None, [whole, most])) if most else None
    if vendor == "openai" and most and output and most + output > window and most != window:
        window = most + output
    named = genai and (vendor != "openai" or genai["id"] == model)
    out = {"name": genai.get("name") if named else None, "vendor": vendor, "aliases": ALIASES.get(model),
           "window": window, "input": int(most) if most else None, "output": int(output) if output else None,
           "tokenizer": "cl100k" if re.match(r"gpt-(4|4-turbo|3\.5-turbo)$", model) else
                        "gemini" if model.startswith("gemma") else "other" if model.startswith("muse") else tokenizer,
           "images": bool(row.get("supports_vision") or (genai and vendor == "anthropic")),
           "documents": bool(row.get("supports_pdf_input")) or vendor == "anthropic",
           "price": price, "cache": cache_of(model, vendor, price, row),
           "thinking": thinking_of(model, vendor, row), "refuses": refusals(model, vendor, row) or None,
           "retires": row.get("deprecation_date"),
           "source": ", ".join(sources), "page": row.get("source"),
           "date": "2026-11-21" if over else (LITELLM if theirs else GENAI)[2],
           "note": "; ".join(notes) or None}
    return {key: value for key, value in out.items() if value not in (None, [], False)}


def make():
    with tempfile.TemporaryDirectory() as folder:
        litellm, genai = read_litellm(folder), read_genai(folder)
    models, said = {}, []
    for vendor, facts in VENDORS.items():
        for word in facts["models"].split():
            model, _, other = word.partition("=")
            row = litellm.get(HOSTED.get(model) or (facts["litellm"] + model))
            row = row or litellm.get(model)
            theirs = genai.get(facts["genai"], {}).get(other or model)
            elsewhere = litellm.get(ELSEWHERE[model]) if model in ELSEWHERE else None
            if not row and not theirs or model in ELSEWHERE and not elsewhere:
                sys.exit(f"the sources don't have {model}")
            models[model] = entry(model, vendor, facts["tokenizer"], row, elsewhere, theirs, said)
    for model, key in HOSTED.items():
        if model not in models:
            vendor = next(vendor for start, vendor in HOSTED_VENDOR.items() if model.startswith(start))
            if key not in litellm:
                sys.exit(f"litellm has no {key}")
            models[model] = entry(model, vendor, VENDORS[vendor]["tokenizer"], litellm[key], None, None, said)
            models[model]["note"] = f"as hosted: {key}"
    sources = [
        {"name": "PROVIDERS.md", "what": "docs/PROVIDERS.md of this repository", "date": "2026-11-21"},
        {"name": "litellm", "what": f"PyPI litellm {LITELLM[1]}, model_prices_and_context_window_backup.json",
         "licence": "MIT", "date": LITELLM[2]},
        {"name": "genai-prices", "what": f"PyPI genai-prices {GENAI[1]}, data.py", "licence": "MIT", "date": GENAI[2]},
    ]
    families = []
    for facts, starts in [*((facts, words.split()) for facts, words in FAMILIES.items()), *BOUND_FAMILIES.items()]:
        vendor, tokenizer, *binding = facts.split()
        families.append({"starts": starts, "vendor": vendor, "tokenizer": tokenizer} | (
            {"binding": binding[0]} if binding else {}))
    vendors = {vendor: facts["name"] for vendor, facts in VENDORS.items()}
    return {"schema": 1, "made": DATE, "sources": sources, "vendors": vendors, "families": families,
            "models": models}, said


def written(registry):
    """One fact a line, so that a diff says what changed."""
    line = lambda value: json.dumps(value, ensure_ascii=False)
    models = ",\n".join(
        f"    {line(model)}: {{\n" + ",\n".join(f"      {line(key)}: {line(value)}" for key, value in facts.items())
        + "\n    }" for model, facts in registry["models"].items())
    sources = ",\n".join(f"    {line(source)}" for source in registry["sources"])
    families = ",\n".join(f"    {line(family)}" for family in registry["families"])
    return (f'{{\n  "schema": {registry["schema"]},\n  "made": {line(registry["made"])},\n'
            f'  "sources": [\n{sources}\n  ],\n  "vendors": {line(registry["vendors"])},\n'
            f'  "families": [\n{families}\n  ],\n'
            f'  "models": {{\n{models}\n  }}\n}}\n')


def main():
    registry, said = make()
    text = written(registry)
    json.loads(text)
    for one in said:
        print(one, file=sys.stderr)
    if "--check" in sys.argv:
        sys.exit(OUT.read_text() != text and f"{OUT} isn't what this makes")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text)
    print(f"{len(registry['models'])} models, {len(text)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
