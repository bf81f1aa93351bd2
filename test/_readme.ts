/** The README, and pages beside it, as something that can be run. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";

/** A fenced block. */
export interface Block {
  /** `sh` for commands, `js` for a file; empty for what is printed. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a section, in their order. @param page path in the project */
export function blocksOf(section: string, page = "README.md"): Block[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const [, rest = ""] = text.split(`\n## ${section}\n`);
  const [own = ""] = rest.split("\n## ");
  return [...own.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}

const PORTS: Readonly<Record<string, string>> = {
  "8080": "SEALOOP_GATEWAY_PORT",
  "8081": "SEALOOP_MCP_PORT",
  "8082": "SEALOOP_LEDGER_PORT",
  "7233": "SEALOOP_TEMPORAL_PORT",
  "8233": "SEALOOP_TEMPORAL_UI_PORT",
  "5433": "SEALOOP_POSTGRES_PORT",
};

/** What is printed of the platform with its usual settings, as it is with others. */
export function withSettings(text: string, settings: Readonly<Record<string, string>>): string {
  return text
    .replace(/127\.0\.0\.1:(\d+)/g, (_, port) => `127.0.0.1:${settings[PORTS[port]!]}`)
    .replaceAll(".data/", `${settings.SEALOOP_DATA}/`);
}

/** Ids, times and counts, which are others at each run. */
const VARIES: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:[0-9a-f]{4,8})?\b/g, "[0-9a-f]+"],
  [/\b\d+(?:\\\.\d+)? s\b/g, "\\d+\\.\\d s"],
  [/\b42\b/g, "\\d+"],
];

/** What is printed as a pattern: `…` stands for anything, and lines are broken and padded as the page needs it. */
export function asPattern(text: string): RegExp {
  const escaped = text.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const varying = VARIES.reduce((pattern, [found, by]) => pattern.replace(found, by), escaped);
  return new RegExp(varying.replace(/…/g, "[^]*?").replace(/\s+/g, "\\s*"));
}
