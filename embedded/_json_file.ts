import { readFileSync } from "node:fs";

/** Reads a JSON file; undefined: it is missing or damaged. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
