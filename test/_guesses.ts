/** Guessing at private texts: whoever reads only public receipts, and has a dictionary of everything that is private. */
import { getHashes, hash } from "node:crypto";
import { canonicalize } from "../ledger/rules/mod.ts";

/** A private text that public texts give away. */
export interface Leak {
  readonly secret: string;
  /** `plain`, or the text that was hashed. */
  readonly by: string;
  /** The part of the public texts that gives it away. */
  readonly token: string;
}

const HASHES = ["md5", "sha1", "sha256", "sha512", "sha3-256"].filter((name) =>
  getHashes().includes(name)
);
/** Words that programs put before a text that they hash, and names of the fields that hold it. */
const PREFIXES = [
  "tenant",
  "key",
  "principal",
  "url",
  "service",
  "host",
  "report",
  "action",
  "request",
  "message",
  "learning",
  "unknown",
  "webhooks",
  "fault",
];
const FIELDS = [
  ...PREFIXES,
  "action_sha256",
  "arguments",
  "command",
  "content",
  "description",
  "incident",
  "name",
  "policy",
  "reason",
  "request_id",
  "text",
  "title",
];
const SEPARATORS = ["\n", " ", ":", "/", "-", "\0", ""];
/** Digits of a hash by which a guess is confirmed. */
const MIN_DIGITS = 12;

/** Lists every text and every JSON value in a value, as text. */
export function listTexts(value: unknown): string[] {
  if (typeof value === "string") {
    const inner = parseJson(value);
    const isMore = typeof inner === "string" || typeof inner === "object" && inner !== null;
    return isMore ? [value, ...listTexts(inner)] : [value];
  }
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.values(value).flatMap(listTexts);
  return [JSON.stringify(value), tryCanonical(value), ...parts];
}

/** Finds private texts in public ones: plain, encoded, or by hashes of them. @param seeds are also hashed in pairs */
export function findLeaks(
  publicTexts: readonly string[],
  secrets: readonly string[],
  seeds: readonly string[],
): Leak[] {
  const all = publicTexts.join("\n");
  const tokens = tokensOf(all);
  const leaks: Leak[] = [];
  for (const secret of seeds) {
    for (const [by, text] of encodingsOf(secret)) {
      if (all.includes(text)) leaks.push({ secret, by, token: text });
    }
  }
  const guess = (secret: string, text: string) => {
    for (const name of HASHES) {
      const hex = hash(name, text);
      for (const length of tokens.lengths) {
        const token = hex.slice(0, length);
        if (tokens.hex.has(token)) leaks.push({ secret, by: `${name} of ${text}`, token });
      }
      const start = Buffer.from(hex.slice(0, 24), "hex").toString("base64");
      if (tokens.base64.has(start)) {
        leaks.push({ secret, by: `${name} of ${text}`, token: start });
      }
    }
  };
  for (const secret of new Set([...secrets, ...seeds])) {
    if (secret.length > 2 && !all.includes(secret)) {
      formsOf(secret).forEach((f) => guess(secret, f));
    }
  }
  for (const a of seeds) {
    for (const b of [...seeds, ...PREFIXES]) {
      for (const separator of SEPARATORS) {
        guess(a, `${a}${separator}${b}`);
        guess(a, `${b}${separator}${a}`);
      }
      guess(a, JSON.stringify([a, b]));
    }
  }
  return leaks;
}

/** Returns what hashes may look like in a text: runs of hex digits, and of base64's characters. */
function tokensOf(text: string) {
  // A UUID that is made of a hash shows 12 digits before the version.
  const uuids = [
    ...text.matchAll(/([0-9a-f]{8})-([0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g),
  ]
    .map(([, a, b]) => a! + b!);
  const hex = new Set([...uuids, ...text.match(/[0-9a-f]{12,}/g) ?? []]);
  return {
    hex,
    lengths: [...new Set([...hex].map(({ length }) => length))].filter((n) => n >= MIN_DIGITS),
    base64: new Set((text.match(/[A-Za-z0-9+/_-]{16,}/g) ?? []).map((one) => one.slice(0, 16))),
  };
}

function encodingsOf(secret: string): [string, string][] {
  const bytes = Buffer.from(secret);
  return [
    ["plain", secret],
    ["lower case", secret.toLowerCase()],
    ["upper case", secret.toUpperCase()],
    ["JSON", JSON.stringify(secret).slice(1, -1)],
    ["URI", encodeURIComponent(secret)],
    ["hex", bytes.toString("hex")],
    ["base64", bytes.toString("base64").replace(/=+$/, "")],
    ["base64url", bytes.toString("base64url")],
    ["backwards", [...secret].reverse().join("")],
  ];
}

/** Returns the texts that may have been hashed for a secret. */
function formsOf(secret: string): string[] {
  return [
    secret,
    `${secret}\n`,
    secret.toLowerCase(),
    JSON.stringify(secret),
    JSON.stringify([secret]),
    ...PREFIXES.flatMap((prefix) => SEPARATORS.map((separator) => prefix + separator + secret)),
    ...FIELDS.map((field) => JSON.stringify({ [field]: secret })),
    hash("sha256", secret), // hashed twice
  ];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tryCanonical(value: unknown): string {
  try {
    return canonicalize(value);
  } catch {
    return JSON.stringify(value);
  }
}
