/**
 * Parses what a caller claims of an action. Models and people give odd types; an unreadable claim is told apart from a
 * missing one.
 */

/** A claim: its value, or that it is missing or unreadable. */
export type Claim<T> = { readonly value: T } | "missing" | "unreadable";

const CONFIDENCE_WORDS: Readonly<Record<string, number>> = {
  none: 0,
  "very low": 0.1,
  low: 0.3,
  medium: 0.6,
  moderate: 0.6,
  high: 0.85,
  "very high": 0.95,
  certain: 0.99,
};
const RADIUS_WORDS: Readonly<Record<string, number>> = {
  none: 0,
  single: 1,
  low: 1,
  small: 1,
  medium: 3,
  moderate: 3,
  high: 10,
  large: 10,
  critical: 100,
  all: 100,
};
const NO = new Set(["", "no", "false", "0", "none", "n", "null", "nein", "non", "hayır", "n/a"]);

/** Parses a confidence. @returns 0 to 1 */
export function parseConfidence(claim: unknown): Claim<number> {
  const value = parseNumber(claim, CONFIDENCE_WORDS);
  if (value === "missing" || value === "unreadable") return value;
  return value >= 0 && value <= 1 ? { value } : "unreadable";
}

/** Parses a blast radius. @returns number of services, ≥ 0 */
export function parseRadius(claim: unknown): Claim<number> {
  if (Array.isArray(claim)) return { value: claim.length };
  const value = parseNumber(claim, RADIUS_WORDS);
  if (value === "missing" || value === "unreadable") return value;
  return value >= 0 ? { value } : "unreadable";
}

/** Parses whether secrets are touched. Anything but a clear no counts as yes. */
export function parseTouchesSecrets(claim: unknown): Claim<boolean> {
  if (claim === undefined || claim === null) return "missing";
  if (typeof claim === "string") return { value: !NO.has(claim.trim().toLowerCase()) };
  if (Array.isArray(claim)) return { value: claim.length > 0 };
  return { value: claim !== false && claim !== 0 };
}

function parseNumber(
  claim: unknown,
  words: Readonly<Record<string, number>>,
): number | "missing" | "unreadable" {
  if (claim === undefined || claim === null || claim === "") return "missing";
  if (typeof claim === "number") return Number.isFinite(claim) ? claim : "unreadable";
  if (typeof claim !== "string" || claim.length > 40) return "unreadable";
  const text = claim.trim().toLowerCase().replaceAll("_", " ");
  const word = Object.hasOwn(words, text) ? words[text] : undefined;
  if (word !== undefined) return word;
  const [, digits, percent] = /^(\d{1,6}(?:[.,]\d{1,6})?|[.]\d{1,6})\s*(%?)$/.exec(text) ?? [];
  if (digits === undefined) return "unreadable";
  return Number(digits.replace(",", ".")) / (percent ? 100 : 1);
}
