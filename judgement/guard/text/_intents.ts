/** Finds what a description in plain words means to do: destroy, turn off protection, hand out data. In seven languages. */
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("intents", [
  "outside",
  "malice",
  "against",
  "rights",
  "rights_foreign",
  "opens_foreign",
  "opens",
  "traces",
  "halts",
  "remote",
  "destroy",
  "valuable",
  "broad",
  "minor",
  "disarm",
  "defence",
  "send",
  "confidential",
]);

/** A harmful intent. */
export type Intent =
  | "destroys"
  | "defence"
  | "sends"
  | "access"
  | "traces"
  | "outage"
  | "remote_code";

/** A harmful intent in a description. */
export interface IntentMatch {
  readonly intent: Intent;
  readonly weight: "deny" | "ask";
  readonly reason: string;
}

const MAX_TEXT_LENGTH = 8_000;
const MAX_SENTENCES = 80;
const MAX_NEGATED_LENGTH = 160;
/** Matches of one list of words in a sentence. */
const MAX_MATCHES = 12;

const DESTROY = expressions.destroy;
const VALUABLE = expressions.valuable;
const BROAD = expressions.broad;

/** Things whose removal is ordinary. */
const MINOR = expressions.minor;
const DISARM = expressions.disarm;
const DEFENCE = expressions.defence;
const SEND = expressions.send;
const CONFIDENTIAL = expressions.confidential;
const OUTSIDE = expressions.outside;
const MALICE = expressions.malice;
const AGAINST = expressions.against;
const RIGHTS = expressions.rights;

/** "Turn the firewall off": an object between the parts of the verb. */
const TURNED_OFF =
  /(?<![\p{L}])(?:turn|switch|shut|schalte?n?|mach\p{L}*)(?![\p{L}])([^.;\n]{3,60}?)(?<![\p{L}])(?:off|aus|ab)(?![\p{L}])/giu;
const RIGHTS_FOREIGN = expressions.rights_foreign;
const OPENS_FOREIGN = expressions.opens_foreign;
const OPENS = expressions.opens;
const TRACES = expressions.traces;
const HALTS = expressions.halts;
const REMOTE = expressions.remote;

/** Intents that one expression tells. */
const SIMPLE_INTENTS: readonly (IntentMatch & { readonly tests: readonly RegExp[] })[] = [
  {
    intent: "access",
    weight: "deny",
    reason: "By its description it gives somebody wide rights",
    tests: [RIGHTS, RIGHTS_FOREIGN],
  },
  {
    intent: "defence",
    weight: "deny",
    reason: "By its description it opens what is closed",
    tests: [OPENS, OPENS_FOREIGN],
  },
  {
    intent: "traces",
    weight: "deny",
    reason: "By its description it removes what shows who did what",
    tests: [TRACES],
  },
  {
    intent: "outage",
    weight: "ask",
    reason: "By its description it stops many hosts or services at once",
    tests: [HALTS],
  },
  {
    intent: "remote_code",
    weight: "deny",
    reason: "By its description it runs what it downloads",
    tests: [REMOTE],
  },
];

/** Finds harmful intents in a description, by verb and object within one sentence. */
export function findIntents(text: string): IntentMatch[] {
  return text.slice(0, MAX_TEXT_LENGTH).split(/(?<=[.!?;])\s+|\n+|。/).slice(0, MAX_SENTENCES)
    .filter((sentence) => !isNegated(sentence))
    .flatMap((sentence) => [
      ...destruction(sentence),
      ...disarming(sentence),
      ...disclosure(sentence),
      ...malice(sentence),
      ...SIMPLE_INTENTS.filter(({ tests }) => tests.some((test) => test.test(sentence)))
        .map(({ tests: _, ...match }) => match),
    ]);
}

function destruction(sentence: string): IntentMatch[] {
  const phrase = findPair(sentence, DESTROY, VALUABLE, 8);
  if (!phrase) return [];
  const isBroad = has(sentence, BROAD);
  if (!has(phrase, MINOR)) {
    return [{
      intent: "destroys",
      weight: isBroad ? "deny" : "ask",
      reason: "By its description it removes data, disks, backups or hosts",
    }];
  }
  return isBroad && /backups?|sauvegarde|sicherung|yedek|copias/i.test(phrase)
    ? [{ intent: "destroys", weight: "ask", reason: "By its description it removes backups" }]
    : [];
}

function disarming(sentence: string): IntentMatch[] {
  const isTurnedOff = [...sentence.matchAll(TURNED_OFF)].some(([, what]) => has(what!, DEFENCE));
  if (!isTurnedOff && !findPair(sentence, DISARM, DEFENCE, 6)) return [];
  return [{
    intent: "defence",
    weight: "deny",
    reason: "By its description it turns off what protects, records or backs up",
  }];
}

function disclosure(sentence: string): IntentMatch[] {
  if (!findPair(sentence, SEND, CONFIDENTIAL, 10)) return [];
  return [{
    intent: "sends",
    weight: OUTSIDE.test(sentence) ? "deny" : "ask",
    reason: "By its description it hands out secrets or people's data",
  }];
}

function malice(sentence: string): IntentMatch[] {
  const tool = MALICE.exec(sentence);
  if (!tool || AGAINST.test(sentence.slice(0, tool.index))) return [];
  return [{
    intent: "access",
    weight: "deny",
    reason: "By its description it brings in what attackers use",
  }];
}

function isNegated(sentence: string): boolean {
  return /^\W*(?:do not|don't|never|ohne|no |ne pas|nicht)\b/i.test(sentence) &&
    sentence.length < MAX_NEGATED_LENGTH;
}

function has(text: string, list: RegExp): boolean {
  list.lastIndex = 0;
  const found = list.test(text);
  list.lastIndex = 0; // matchAll begins there, too
  return found;
}

/** After an object: "server logs" are logs, not a server. */
const COMPOUND = /^ (?:log|cache|session|temp|tmp)(?:s|files?)?(?![\p{L}\p{N}_-])/iu;

/** Returns the part of a sentence from a verb to an object, or the other way round, with at most some words between. */
function findPair(
  sentence: string,
  verbs: RegExp,
  objects: RegExp,
  maxWordsBetween: number,
): string | undefined {
  const positions = (list: RegExp) =>
    [...sentence.matchAll(list)].slice(0, MAX_MATCHES)
      .map((match) => [match.index, match.index + match[0].length] as const);
  const objectPositions = positions(objects);
  if (objectPositions.length === 0) return undefined;
  for (const [start, end] of positions(verbs)) {
    for (const [from, to] of objectPositions) {
      if (from < end && to > start) continue;
      const between = from >= end ? sentence.slice(end, from) : sentence.slice(to, start);
      const words = between.split(/[^\p{L}\p{N}'’_/-]+/u).filter(Boolean).length;
      if (words > maxWordsBetween) continue;
      const last = Math.max(end, to);
      const compound = COMPOUND.exec(sentence.slice(last))?.[0] ?? "";
      return sentence.slice(Math.min(start, from), last) + compound;
    }
  }
  return undefined;
}
