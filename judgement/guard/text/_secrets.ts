/** Keys, tokens and passwords that a text carries. */
import type { PrivateSpan } from "./_personal.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("secrets", [
  "named",
  "option",
  "placeholder",
]);

/** Kinds of secrets by their names in verdicts, which never show the secret itself. */
const PATTERNS: readonly (readonly [string, RegExp])[] = [
  [
    "a private key",
    /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d/,
  ],
  ["an AWS key", /\b(?:AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b/],
  [
    "an AWS secret",
    /aws_?secret_?(?:access_?)?key["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9/+=]{30,}/i,
  ],
  ["a GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/],
  ["a GitLab token", /\bgl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{16,}/],
  ["a Slack token", /\bxox[abeprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com\/services\/T[A-Z0-9]{6,}/],
  [
    "an API key",
    /\b(?:sk|rk|pk)[-_](?:live|test|ant|proj|or)[-_][A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{24,}/,
  ],
  ["a Google key", /\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[0-9A-Za-z_-]{20,}|"private_key_id"/],
  [
    "a service's token",
    /\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,}|shp(?:at|ss)_[a-fA-F0-9]{24,}|hv[bs]\.[A-Za-z0-9_-]{20,}|slp_(?:free|partner|enterprise|admin)_[A-Za-z0-9_-]{8,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|SK[0-9a-f]{32})/,
  ],
  ["a signed token", /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}/],
  [
    "an authorization header",
    /\bauthorization["']?\s{0,3}:\s{0,3}["']?(?:bearer|basic|token)\s{1,3}[A-Za-z0-9._~+/-]{12,}/i,
  ],
  [
    "a password in an address",
    /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,60}:(?!\*|x{3}|<|\$|%\(|password@|pass@|pwd@)[^\s@/]{3,80}@/i,
  ],
  ["a connection's key", /\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}/],
];
const NAMED = expressions.named;
const OPTION = expressions.option;
const PLACEHOLDER = expressions.placeholder;

/** The rest of a private key, to its end or that of the text. */
const KEY_BODY = /[\s\S]*?-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*/y;
const ALL_PATTERNS = PATTERNS.map(([name, { source, flags }]) =>
  [name, new RegExp(source, `${flags}dg`)] as const
);
const ALL_OPTIONS = new RegExp(OPTION.source, `${OPTION.flags}dg`);

/** Returns the names of the kinds of secrets that a text carries. */
export function findSecrets(text: string): string[] {
  return [...new Set(locateSecrets(text).map(({ kind }) => kind))];
}

/** Returns where a text carries secrets: of a password its value, of a private key all of it. */
export function locateSecrets(text: string): PrivateSpan[] {
  const spans: PrivateSpan[] = [];
  for (const [kind, pattern] of ALL_PATTERNS) {
    let last = 0;
    for (const match of text.matchAll(pattern)) {
      const [start, end] = match.indices![0]!;
      if (start < last) continue; // within a private key
      last = kind === "a private key" ? endOfKey(text, end) : end;
      spans.push({ kind, start, end: last });
    }
  }
  for (const match of text.matchAll(NAMED)) {
    if (isSecret(match[2]!)) spans.push(spanOf("a password or token", match.indices![2]!));
  }
  for (const match of text.matchAll(ALL_OPTIONS)) {
    if (PLACEHOLDER.test(match[1]!)) continue;
    spans.push(spanOf("a password in an option", match.indices![1]!));
  }
  return spans;
}

const spanOf = (kind: string, [start, end]: readonly [number, number]) => ({ kind, start, end });

function endOfKey(text: string, headEnd: number): number {
  KEY_BODY.lastIndex = headEnd;
  return headEnd + (KEY_BODY.exec(text)?.[0].length ?? 0);
}

/** Tells a secret from a word or a placeholder: it has letters with digits or marks, or is long. */
function isSecret(value: string): boolean {
  if (PLACEHOLDER.test(value) || /^[a-z]+[.:;,!?)]?$/i.test(value) && value.length < 20) {
    return false;
  }
  if (/^(\d{1,3}\.){3}\d|^\d+(ms|s|m|h|d|%)?[.,;)]?$|^\d{4}-\d\d-\d\d|^https?:|^\//.test(value)) {
    return false;
  }
  return /\d/.test(value) && /[a-z]/i.test(value) || /[!@#$%^&*+=]/.test(value) ||
    value.length >= 20;
}
