"""Packages for npm: one for each platform, which has the program, and `epitome-cli`, which starts the one that fits."""

import json

from archive import packed
from product import LICENSE, README, ROOT, SUMMARY

NAME = "epitome-cli"
# It ends as the program does, by an exit code or by a signal, and hands signals on.
START = """\
#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");

const wanted = `epitome-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${wanted}/epitome`);
} catch {
  console.error(`epitome: there is no program for ${process.platform} on ${process.arch}, or npm left out ${wanted}: install it without --omit=optional`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
// A terminal interrupts both.
const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of signals) process.on(signal, () => (signal === "SIGINT" && isAtTerminal) || child.kill(signal));
child.on("error", (error) => {
  console.error(`epitome: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const one of signals) process.removeAllListeners(one);
  process.kill(process.pid, signal);
});
"""


def package(name, product, more):
    told = {"name": name, "version": product.version, "description": SUMMARY, "license": LICENSE}
    return (json.dumps(told | more, indent=2) + "\n").encode()


def written(name, product, files, programs, out):
    papers = {paper: (ROOT / paper).read_bytes() for paper in ("LICENSE-MIT", "LICENSE-APACHE")}
    files = {f"package/{path}": data for path, data in (files | papers).items()}
    path = out / f"{name}-{product.version}.tgz"
    path.write_bytes(packed(files, {f"package/{one}" for one in programs}, product.moment))
    return path


def carrier(product, platform, program, notices, out):
    """The package that has the program of a platform."""
    name = f"{NAME}-linux-{platform.npm}"
    told = package(name, product, {"os": ["linux"], "cpu": [platform.npm], "files": ["epitome", "NOTICES.txt"]})
    return written(name, product, {"package.json": told, "epitome": program.read_bytes(), "NOTICES.txt": notices.encode()}, {"epitome"}, out)


def starter(product, platforms, out):
    """The package that users install."""
    carriers = {f"{NAME}-linux-{one.npm}": product.version for one in platforms}
    more = {"bin": {"epitome": "epitome.js"}, "files": ["epitome.js"], "engines": {"node": ">=18"}, "optionalDependencies": carriers}
    files = {"package.json": package(NAME, product, more), "epitome.js": START.encode(), "README.md": README.read_bytes()}
    return written(NAME, product, files, {"epitome.js"}, out)
