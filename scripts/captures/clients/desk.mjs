// The tools that the loops of the SDKs offer to the model, and what they give back: always the same.

import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

const project = "/home/user/project";

export const shapes = {
  read_file: {
    description: "Reads a file of the repository. Gives its text with line numbers.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Path from the root of the repository" },
        first: { type: "integer", description: "First line, from 1", minimum: 1 },
      },
      required: ["path"],
      additionalProperties: false,
    },
  },
  run: {
    description: "Runs a command in the root of the repository. Gives its output and exit code.",
    parameters: {
      type: "object",
      properties: { command: { type: "string", description: "As one would type it into a shell" } },
      required: ["command"],
      additionalProperties: false,
    },
  },
  show_picture: {
    description: "Shows a picture of the repository.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
  },
};

/** What a tool gives back, as text. */
export function result(name, { path, first = 1, command } = {}) {
  try {
    switch (name) {
      case "read_file": {
        const lines = readFileSync(`${project}/${path}`, "utf8").split("\n").slice(first - 1);
        return lines.map((line, n) => `${String(n + first).padStart(5)}\t${line}`).join("\n");
      }
      case "run": {
        const output = execFileSync("bash", ["-c", `${command} 2>&1; echo "exit code $?"`], { cwd: project });
        return output.toString().replace(/in \d\.\d+s/g, "in 0.002s");
      }
      default:
        return `there is no tool ${name}`;
    }
  } catch (error) {
    return `Error: ${error.message}`;
  }
}

/** A picture as base64. */
export const picture = (path = "docs/shelves.png") => readFileSync(`${project}/${path}`).toString("base64");

export const task =
  "The tests of this repository fail. Find out why, mend it, and say what you changed. Äußere Ordnung zählt: keep the style.";
export const rules = [
  "You are a careful programmer. You work in one repository through the tools that you are given.",
  readFileSync(`${project}/AGENTS.md`, "utf8"),
].join("\n\n");
