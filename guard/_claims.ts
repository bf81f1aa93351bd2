/**
 * Reads the numbers that a caller claims of an action. They come from models and from people, so they come in odd
 * types; what can't be read is told apart from what wasn't said.
 */

/** A claim: its value, that nothing was said, or that what was said can't be understood. */
export type Claim<T> = { readonly value: T } | "unsaid" | "unreadable";

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

/** @returns 0 to 1 */
export function confidenceOf(said: unknown): Claim<number> {
  const value = numberOf(said, CONFIDENCE_WORDS);
  if (value === "unsaid" || value === "unreadable") return value;
  return value >= 0 && value <= 1 ? { value } : "unreadable";
}

/** @returns number of services, ≥ 0 */
export function radiusOf(said: unknown): Claim<number> {
  if (Array.isArray(said)) return { value: said.length };
  const value = numberOf(said, RADIUS_WORDS);
  if (value === "unsaid" || value === "unreadable") return value;
  return value >= 0 ? { value } : "unreadable";
}

/** Whatever is not a clear no counts as a yes. */
export function secretsOf(said: unknown): Claim<boolean> {
  if (said === undefined || said === null) return "unsaid";
  if (typeof said === "string") return { value: !NO.has(said.trim().toLowerCase()) };
  if (Array.isArray(said)) return { value: said.length > 0 };
  return { value: said !== false && said !== 0 };
}

function numberOf(
  said: unknown,
  words: Readonly<Record<string, number>>,
): number | "unsaid" | "unreadable" {
  if (said === undefined || said === null || said === "") return "unsaid";
  if (typeof said === "number") return Number.isFinite(said) ? said : "unreadable";
  if (typeof said !== "string" || said.length > 40) return "unreadable";
  const text = said.trim().toLowerCase().replaceAll("_", " ");
  const word = Object.hasOwn(words, text) ? words[text] : undefined;
  if (word !== undefined) return word;
  const [, digits, percent] = /^(\d{1,6}(?:[.,]\d{1,6})?|[.]\d{1,6})\s*(%?)$/.exec(text) ?? [];
  if (digits === undefined) return "unreadable";
  return Number(digits.replace(",", ".")) / (percent ? 100 : 1);
}
