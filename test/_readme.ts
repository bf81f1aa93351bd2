/** Runs the examples in the README and in pages beside it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";

/** A fenced block of a page. */
export interface Block {
  /** `sh` for commands, `js` for a file, empty for output. */
  readonly language: string;
  readonly text: string;
}

/** Returns the fenced blocks of a section, in order. @param page path in the project */
export function readBlocks(section: string, page = "README.md"): Block[] {
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
  "9009": "RECEIVER_PORT", // of the reader's own webhook
  "9010": "SHOP_PORT", // of the reader's own service
};

/** Replaces the default ports and data folder in a text with those of the settings. */
export function applySettings(text: string, settings: Readonly<Record<string, string>>): string {
  return text
    .replace(
      /(127\.0\.0\.1:|localhost:|listen\()(\d+)/g,
      (_, before, port) => `${before}${settings[PORTS[port]!]}`,
    )
    .replaceAll(".data/", `${settings.SEALOOP_DATA}/`);
}

/** Patterns of ids, times and counts, which differ from run to run. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d\b/g, "\\d\\d:\\d\\d:\\d\\d"],
  [/\b[0-9a-f]{8}(?:[0-9a-f]{4,8})?\b/g, "[0-9a-f]+"],
  [/\b\d+(?:\\\.\d+)? s\b/g, "\\d+\\.\\d s"],
  [/\b42\b/g, "\\d+"],
];

/** Turns expected output into a pattern: `…` matches anything, and any white space matches any other or none. */
export function toPattern(text: string): RegExp {
  const escaped = text.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const varying = VARYING.reduce((pattern, [from, to]) => pattern.replace(from, to), escaped);
  return new RegExp(varying.replace(/…/g, "[^]*?").replace(/\s+/g, "\\s*"));
}
