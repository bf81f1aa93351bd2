/** Returns a text that ends at a word before a number of characters. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max + 1);
  return cut.slice(0, Math.max(cut.lastIndexOf(" "), 1)).replace(/[\s,;:–-]+$/, "");
}

/** Returns a title that ends at a whole phrase before a number of characters. */
export function clipTitle(text: string, max: number): string {
  let title = clip(text, max);
  if (title === text) return title;
  while (DANGLING.test(title)) title = title.replace(DANGLING, "");
  return title;
}

/** Words that no title ends with. */
const DANGLING =
  /[\s,;:–-]+(?:a|an|and|at|because|by|for|from|in|is|of|on|or|since|that|the|to|when|with)$/i;

/** Returns a duration for people: `0.4 seconds`, `12 minutes`, `3.5 hours`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${(Math.max(ms, 100) / 1_000).toFixed(1)} seconds`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} ${ms < 1_500 ? "second" : "seconds"}`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(1).replace(/\.0$/, "")} hours`;
  return `${Math.round(ms / 86_400_000)} days`;
}

/** Returns a day for people, in UTC: `23 November 2026`. */
export function formatDay(at: string): string {
  const options = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat("en-GB", options).format(new Date(at));
}

/** Returns a number and a noun: `1 incident`, `2 incidents`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** Returns texts joined for a sentence: `a, b and c`. */
export function joinWords(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** Returns a text with a capital at its beginning. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns how often: `once`, `twice`, `3 times`. */
export function formatTimes(n: number): string {
  return n === 1 ? "once" : n === 2 ? "twice" : `${n} times`;
}
