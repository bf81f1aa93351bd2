/** Signals of severity in a text: hand-written phrases in five languages, numbers, and tone. */
import type { Severity } from "../../../contract/domain/mod.ts";
import type { Clause } from "./_clauses.ts";
import { createPhraseFinder } from "./_phrases.ts";
import type { WordLists } from "./_word_lists.ts";

/** Signals of a text by name, with the strength of each. */
export type Signals = ReadonlyMap<string, number>;

const FRACTION = /(?<!\d)(\d{1,7})\s?(?:of(?: the)?|\/|out of|von|sur|de)\s?(\d{1,7})/g;
const PERCENT = /(?<!\d)(\d{1,4}(?:[.,]\d{1,4})?)\s?%/g;
/** After a fraction: it counts what works. */
const READY = /^\s?\S*\s?(?:are |is )?(?:up|ready|available|online|running|reachable|healthy)/;
/** Words after a number that multiply it. */
const MULTIPLES: readonly (readonly [words: string, factor: number])[] = [
  ["k|thousand|tausend|mille|mil|bin", 1e3],
  ["m|million|millions|mio|millionen|millones|milyon", 1e6],
  ["bn|billion|billions|milliard|milliards|milliarden|milyar", 1e9],
];
/** A word that may stand between a number and what it counts: "40 back-office users", "3 web servers". */
const WORD_BETWEEN = { people: String.raw`[\p{L}-]{1,20}`, sites: String.raw`\p{L}{1,20}` };

/** Beginning of the names of lists that tell the lowest severity. Nothing is learnt from these. */
const LOWEST = "lowest_";
/** So many parts of a service that are down are all of it. */
const MANY_PARTS = 3;
/** Signals that say that a fault is smaller than its other words. */
const SMALLER = ["test", "own", "few", "workaround", "question", "half", "slow", "request"];

/** Makes a function that returns the severity that a fault has at least; undefined: its words do not say. */
export function createLowestSeverityReader(
  { signals }: Pick<WordLists, "signals">,
): (clauses: readonly Clause[], found: Signals) => Severity | undefined {
  const find = (name: string) =>
    createPhraseFinder((signals[LOWEST + name] ?? []).map((one) => [one, one] as const));
  const [parts, strangers, shown] = ["parts", "strangers", "shown"].map(find);
  return (clauses, found) => {
    if (SMALLER.some((signal) => found.has(signal))) return undefined;
    const broken = clauses.filter(({ isFine }) => !isFine).map(({ words }) => words);
    const areStrangersShown = broken.some((words) => shown!.findDistinct(words).length > 0) &&
      (found.has("strangers") || broken.some((words) => strangers!.findDistinct(words).length > 0));
    const named = new Set(broken.flatMap((words) => parts!.findDistinct(words)));
    const areManyDown = named.size >= MANY_PARTS && (found.has("down") || found.has("outage"));
    return areStrangersShown || areManyDown ? "critical" : undefined;
  };
}

/** Makes a function that returns the signals of a text. */
export function createSignalReader(
  { signals, counted }: Pick<WordLists, "signals" | "counted">,
): (text: string, clauses: readonly Clause[]) => Signals {
  const finder = createPhraseFinder(
    Object.entries(signals).filter(([name]) => !name.startsWith(LOWEST)).flatMap((
      [signal, phrases],
    ) => phrases.map((phrase) => [phrase, signal] as const)),
  );
  const counts = (["people", "sites"] as const).map((kind) => ({
    kind,
    pattern: new RegExp(
      String.raw`(?<![\d.,])(\d[\d.,]{0,9})\s?(?:(${
        MULTIPLES.map(([words]) => words).join("|")
      })\s)?(?:of )?(?:${WORD_BETWEEN[kind]}\s)?(?:${counted[kind].join("|")})`,
      "gu",
    ),
  }));

  function* countSignals(plain: string): Generator<string> {
    for (const { kind, pattern } of counts) {
      for (const [, n, multiple] of plain.matchAll(pattern)) {
        yield `${kind} ${magnitudeOf(n!, multiple)}`;
      }
    }
  }

  return (text, clauses) => {
    const sums = new Map<string, number>();
    const add = (name: string) => sums.set(name, (sums.get(name) ?? 0) + 1);
    for (const { words, isFine } of clauses) {
      for (const signal of finder.findDistinct(words)) add(isFine ? `fine ${signal}` : signal);
    }
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i");
    for (const name of [...shareSignals(plain), ...countSignals(plain), ...toneSignals(text)]) {
      add(name);
    }
    if (sums.has("core") && sums.has("down")) add("core and down");
    if (sums.has("everybody") && sums.has("down")) add("everybody and down");
    if (sums.has("outage") && !sums.has("side")) add("outage of the main service");
    if (sums.has("half") && sums.has("slow")) add("half and slow");
    if (sums.has("few") && sums.has("workaround")) add("few and workaround");
    for (const [name, n] of sums) sums.set(name, Math.log2(1 + n));
    return sums;
  };
}

function* shareSignals(plain: string): Generator<string> {
  for (const match of plain.matchAll(FRACTION)) {
    const [whole, some, all] = [match[0], Number(match[1]), Number(match[2])];
    if (all < 2 || some > all) continue;
    const ready = READY.test(plain.slice(match.index + whole.length).replace(/^\s\w+/, ""));
    yield `share ${stepOf(ready ? 1 - some / all : some / all)}`;
  }
  for (const [, value] of plain.matchAll(PERCENT)) {
    yield `percent ${stepOf(Number(value!.replace(",", ".")) / 100)}`;
  }
}

function stepOf(share: number): string {
  if (share === 0) return "none";
  if (share <= 0.2) return "few";
  if (share < 0.7) return "half";
  return share < 0.96 ? "most" : "all";
}

/** Returns 3 for 1 to 3, then 10, 30, 100 and so on. */
function magnitudeOf(digits: string, multiple: string | undefined): string {
  const factor = MULTIPLES.find(([words]) => words.split("|").includes(multiple ?? ""))?.[1] ?? 1;
  const value = factor * Number(digits.replace(/[.,](?=\d{3}\b)/g, "").replace(/[.,].*/, ""));
  return String([3, 10, 30, 100, 300, 1_000].find((limit) => value <= limit) ?? "many");
}

function* toneSignals(text: string): Generator<string> {
  if (/!/.test(text)) yield "exclaims";
  if (/!!/.test(text)) yield "exclaims twice";
  if (/\?\s*$/m.test(text)) yield "asks";
  if (/\b\p{Lu}{5,}\b/u.test(text)) yield "shouts";
  yield text.length < 90 ? "short" : text.length < 300 ? "middling" : "long";
}
