/** Facts that prose claims: measures, dates, states and hosts. Those of an action are compared with the incident's. */
import { memoize } from "./_memoize.ts";
import { readExpressions } from "./_expressions.ts";

const expressions = readExpressions("facts", [
  "wished",
  "no_host",
]);

/** A claimed fact. Facts of the same subject with other values contradict each other. */
interface Fact {
  /** Subject: `percent of disk`, `duration until expiry`. */
  readonly subject: string;
  /** A number, or a text that is compared as it is. */
  readonly value: number | string;
  readonly quote: string;
}

/** Two texts that contradict each other. */
export interface Contradiction {
  readonly incident: string;
  readonly action: string;
}

const MAX_LENGTH = 6_000;
const MAX_FACTS = 40;
/** Numbers that differ by less are told in other words, not otherwise. */
const TOLERANCE = 0.02;

/** Words that say what a text is to bring about, so that the number or state after them is no claim. */
const WISHED = expressions.wished;
const UNITS = new Map(
  Object.entries({
    percent: "% 1 percent 1",
    duration:
      "ms 0.001 milliseconds 0.001 s 1 sec 1 seconds 1 min 60 minutes 60 h 3600 hours 3600 " +
      "days 86400 weeks 604800 months 2592000",
    bytes: "kb 1e3 mb 1e6 mib 1e6 gb 1e9 gib 1e9 tb 1e12 tib 1e12",
  }).flatMap(([kind, units]) =>
    [...units.matchAll(/(\S+) (\S+)/g)].map(([, unit, factor]) =>
      [unit!, [kind, Number(factor)] as const] as const
    )
  ),
);
const COUNTED =
  "errors? connections? pods? replicas? nodes? users? requests? messages? processes threads? disks? jobs? workers? instances? containers? customers? queries sessions? restarts? hosts? servers? retries crashes partitions? members? customers?"
    .split(" ").join("|");
const MEASURE = new RegExp(
  String
    .raw`(?<![\w.:/-])(\d{1,12}(?:[.,]\d{1,3})?)\s?(%|percent|ms|milliseconds?|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|[kmgt]i?b|(?:\w+ )?(?:${COUNTED}))(?![\w-])`,
  "gi",
);
/** Subjects of measures, by words of the same clause. */
const SUBJECTS: readonly (readonly [RegExp, string])[] = [
  [/\b(expir\w*|valid|certificate|renew\w*)\b/i, "until expiry"],
  [/\b(down|unreachable|offline|outage|unavailable|not (?:answer|respond)\w*)\b/i, "of the outage"],
  [/\b(lag\w*|behind|delay\w*)\b/i, "of lag"],
  [/\b(latency|response time|slow\w*|p9\d|answers? (?:in|after))\b/i, "of latency"],
  [/\buptime|running since|up for\b/i, "of uptime"],
  [
    /\b(disk|filesystem|file system|partition|volume|mount|\/(?:var|srv|data|home|tmp|boot)\b)/i,
    "of disk",
  ],
  [/\b(memory|ram|heap|rss)\b/i, "of memory"],
  [/\b(cpu|load)\b/i, "of cpu"],
  [/\bswap\b/i, "of swap"],
  [/\binodes?\b/i, "of inodes"],
  [/\bqueue\b/i, "of queue"],
  [/\berror rate|failure rate\b/i, "of errors"],
];
const DATE = /\b(20\d\d-[01]\d-[0-3]\d)\b/g;
const DATED: readonly (readonly [RegExp, string])[] = [
  [/\b(expir\w*|valid)\b/i, "of expiry"],
  [/\b(down|outage|failing|fails|failed|broken|since|started|began)\b/i, "of the outage"],
  [/\b(deploy\w*|release\w*|rolled out)\b/i, "of the release"],
];
/** States that exclude each other. */
const STATES: readonly (readonly [RegExp, RegExp])[] = [
  [
    /(?<!not |n't |before it |will )\b(?:has |have |is |was |already )*expired\b|\bno longer valid\b/i,
    /\bnot (?:yet )?expired\b|\b(?:still|is) valid\b|\bvalid (?:until|till|for)\b|\bwas renewed\b|\bhas been renewed\b/i,
  ],
  [
    /(?<!not |n't |no longer )\b(?:is|are|remains?|stays?|still|went|has been|it's) (?:\w+ )?(?:down|unreachable|offline|dead|not (?:responding|answering|running))\b|\b(?:does|do) not (?:answer|respond)\b/i,
    /\b(?:has|have) (?:fully |since |already )?recovered\b|\brecovered (?:by itself|on its own|since)|\b(?:is|are) (?:back )?(?:up|healthy|running|online)(?: again)?\b|\bback (?:up|online|to normal)\b|\banswers again\b/i,
  ],
  [
    /(?<!not |n't )\b(?:is|are|was|ran|being) (?:completely |nearly |almost )?full\b|\bno space left\b|\bout of (?:disk )?space\b/i,
    /\b(?:has|have) (?:plenty of|enough|ample) (?:room|space)\b|\b(?:is|are) (?:nearly |almost )?empty\b|\bnot full\b/i,
  ],
  [
    /\b(?:backup|job|deploy\w*|migration|restore|upgrade|run|sync)\w* (?:has |have )?failed\b/i,
    /\b(?:backup|job|deploy\w*|migration|restore|upgrade|run|sync)\w* (?:has |have |was )?(?:succeeded|successful|completed|finished)\b/i,
  ],
];
/** Said of something that nothing may be done to any more. */
const MAY_BE_GONE =
  /decommissioned|retired|scrapped|dismantled|taken out of service|switched off for good/i;
const GONE =
  /\b([\w][\w.-]{2,62})\s+(?:has been|have been|was|were|is|are|got)\s+(?:already |permanently )?(decommissioned|retired|scrapped|dismantled|taken out of service|switched off for good)\b/gi;
const HOST = /(?<![\w./:-])([a-z][a-z-]*[a-z]-?)(\d{1,4})(?![\w%]|[.:]\d)(?:\.[a-z][\w.-]*)?/gi;
/** Words with a number that are no hosts. */
const NO_HOST = expressions.no_host;

/** Claims of an action's words. */
interface Claims {
  readonly words: string;
  readonly measures: readonly Fact[];
  readonly dates: readonly Fact[];
  /** Numbers of {@linkcode STATES}, and which of the two it claims. */
  readonly states: readonly (readonly [n: number, side: 0 | 1, quote: string])[];
  readonly hosts: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Reads an action's claims. The same repairs are proposed again and again. */
const readClaims = memoize((words: string): Claims => ({
  words,
  measures: measuresIn(words),
  dates: datesIn(words),
  states: STATES.flatMap((sides, n) =>
    ([0, 1] as const).flatMap((side) => {
      const quote = claimsOf(words, sides[side]);
      const isMixed = quote !== undefined && claimsOf(words, sides[1 - side]!) !== undefined;
      return quote === undefined || isMixed ? [] : [[n, side, quote] as const];
    })
  ),
  hosts: hostsIn(words),
}), (words) => words);

/**
 * Returns what an action's words claim otherwise than its incident. Of the incident only what the action speaks of is read.
 *
 * @param action its description and target
 * @param acted names of what it changes
 */
export function contradictions(
  incident: string,
  action: string,
  acted: readonly string[],
): Contradiction[] {
  const said = incident.slice(0, MAX_LENGTH);
  const { words, measures, dates, states, hosts } = readClaims(
    [action.slice(0, MAX_LENGTH), ...acted].join(" \n"),
  );
  return [
    ...(measures.length > 0 ? differingFacts(measuresIn(said), measures) : []),
    ...(dates.length > 0 ? differingFacts(datesIn(said), dates) : []),
    ...states.flatMap((state) => opposedState(said, state)),
    ...(hosts.size > 0 ? otherHosts(hostsIn(said), hosts) : []),
    ...(MAY_BE_GONE.test(said) ? goneTargets(said, words) : []),
  ];
}

/** Splits a text into clauses, within which words belong together. */
function clausesOf(text: string): string[] {
  return text.split(/(?<=[.!?;\n])\s+|\n|,\s+|\s+(?:and|but|while|because|as|since it)\s+/i)
    .filter((clause) => clause.trim() !== "");
}

function measuresIn(text: string): Fact[] {
  return clausesOf(text).flatMap((clause, n, all) =>
    [...clause.matchAll(MEASURE)].flatMap((match): Fact[] => {
      const [whole, digits, unit] = match;
      if (WISHED.test(clause.slice(0, match.index))) return [];
      const word = unit!.toLowerCase().replace(/^\w+ (?=\w)/, "");
      const known = UNITS.get(word) ?? UNITS.get(`${word}s`);
      const subjectIn = (part = "") => SUBJECTS.find(([pattern]) => pattern.test(part))?.[1];
      const subject = known ? subjectIn(clause) ?? subjectIn(all[n - 1]) : word.replace(/s$/, "");
      if (subject === undefined) return [];
      const value = Number(digits!.replace(",", ".")) * (known?.[1] ?? 1);
      return [{
        subject: `${known?.[0] ?? "number"} ${subject}`,
        value,
        quote: quoteOf(clause, whole),
      }];
    })
  ).slice(0, MAX_FACTS);
}

function datesIn(text: string): Fact[] {
  return clausesOf(text).flatMap((clause) =>
    [...clause.matchAll(DATE)].flatMap((match): Fact[] => {
      const subject = DATED.find(([pattern]) => pattern.test(clause))?.[1];
      if (subject === undefined || WISHED.test(clause.slice(0, match.index))) return [];
      return [{ subject: `date ${subject}`, value: match[1]!, quote: quoteOf(clause, match[0]) }];
    })
  ).slice(0, MAX_FACTS);
}

/** Returns some words around a match. */
function quoteOf(clause: string, match: string): string {
  const at = clause.indexOf(match);
  const start = Math.max(clause.lastIndexOf(" ", Math.max(at - 30, 0)), 0);
  return clause.slice(start, at + match.length).trim();
}

function differingFacts(said: readonly Fact[], claimed: readonly Fact[]): Contradiction[] {
  return claimed.flatMap((one): Contradiction[] => {
    const same = said.filter(({ subject }) => subject === one.subject);
    if (same.length === 0 || same.some(({ value }) => agree(value, one.value))) return [];
    return [{ incident: same[0]!.quote, action: one.quote }];
  });
}

function agree(a: number | string, b: number | string): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

function opposedState(said: string, [n, side, quote]: Claims["states"][number]): Contradiction[] {
  const sides = STATES[n]!;
  const opposite = claimsOf(said, sides[1 - side]!);
  return opposite === undefined || claimsOf(said, sides[side]!) !== undefined
    ? []
    : [{ incident: opposite, action: quote }];
}

/** Returns the first claim of a state that is no wish. */
function claimsOf(text: string, state: RegExp): string | undefined {
  for (const clause of clausesOf(text)) {
    const match = state.exec(clause);
    if (match && !WISHED.test(clause.slice(0, match.index))) return quoteOf(clause, match[0]);
  }
  return undefined;
}

/** Returns hosts of the action whose siblings the incident names: `web-3` where it says `web-2`. */
function otherHosts(inIncident: Claims["hosts"], inAction: Claims["hosts"]): Contradiction[] {
  return [...inAction].flatMap(([stem, names]): Contradiction[] => {
    const known = inIncident.get(stem);
    if (!known || [...names].some((name) => known.has(name))) return [];
    return [{ incident: [...known][0]!, action: [...names][0]! }];
  });
}

function hostsIn(text: string): Map<string, Set<string>> {
  const hosts = new Map<string, Set<string>>();
  for (const [, stem, number] of text.matchAll(HOST)) {
    const plain = stem!.toLowerCase();
    if (plain.length < 2 || NO_HOST.test(plain) || NO_HOST.test(plain.replace(/-$/, ""))) continue;
    hosts.set(plain, (hosts.get(plain) ?? new Set()).add(`${plain}${number}`));
  }
  return hosts;
}

function goneTargets(said: string, claimed: string): Contradiction[] {
  return [...said.matchAll(GONE)].filter(([, name]) =>
    claimed.toLowerCase().split(/[^\p{L}\p{N}._-]+/u).includes(name!.toLowerCase())
  ).map(([whole, name]) => ({ incident: whole, action: name! }));
}
