/** Words that sentences are made of. */

/** Returns a number in words up to twelve, as sentences have it. */
export function countWords(n: number, one: string, many = `${one}s`): string {
  return `${NUMBERS[n] ?? n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

const NUMBERS = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/** Writes a duration as people say it: `0.4 s`, `2 min 5 s`, `3 h 10 min`, `2 days 4 h`. @param ms ≥ 0 */
export function printDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const [unit, small, name, smallName] = seconds < 3_600
    ? [60, 1, "min", "s"] as const
    : seconds < 172_800
    ? [3_600, 60, "h", "min"] as const
    : [86_400, 3_600, "days", "h"] as const;
  const rest = Math.floor(seconds % unit / small);
  return `${Math.floor(seconds / unit)} ${name}${rest > 0 ? ` ${rest} ${smallName}` : ""}`;
}

/** Makes a code readable: `not_healed` → `not healed`. */
export const sayCode = (code: string): string => code.replaceAll("_", " ");

/** Joins with commas and an `and`. */
export function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** Begins a sentence with a capital, and ends it with a point. */
export function sentence(text: string): string {
  const whole = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?”]$/.test(whole) ? whole : `${whole}.`;
}

/** Returns the milliseconds between two times of receipts; undefined: they are none, or go backwards. */
export function msBetween(from: string, to: string): number | undefined {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}
