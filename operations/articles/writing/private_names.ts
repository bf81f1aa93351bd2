/** Takes out what is private: names of services, hosts, people and organizations, addresses, paths and secrets. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { locatePersonal, locateSecrets } from "../../../judgement/guard/mod.ts";

/** Names that must not become public, by what they name. */
export interface PrivateNames {
  /** The service that the article is about. */
  readonly own: string | null;
  readonly services: readonly string[];
  readonly hosts: readonly string[];
  /** Anybody can write a name into a form: unless it is confirmed, one that is only a word does not count. */
  readonly people: readonly { readonly name: string; readonly confirmed: boolean }[];
  /** Of organizations and holders of keys, and addresses. */
  readonly others: readonly string[];
}

/** Takes private names out of texts. */
export interface Scrubber {
  scrub(text: string): string;
  /** Returns what is private in a text, for people. */
  find(text: string): string[];
}

/** Shorter names are words, and would be found everywhere. */
const MIN_NAME = 3;
/** Words of the shipped texts, from which articles are written, and of the calendar. */
const COMMON_WORDS = new Set(
  readFileSync(join(ROOT, "operations", "articles", "writing", "common_words.txt"), "utf8").split(
    /\s+/,
  ),
);

/** Common words that are names as well. Months are not among them, as articles have dates. */
const NAMES_AND_WORDS = new Set(
  "bill black field grace green hand lang long mark max price white will".split(" "),
);

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>)]+/gi, "its address"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, "its address"],
  [/(?<![\w.])\[?(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:]*[0-9a-f]\]?(?::\d{1,5})?/gi, "its address"],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*/g, "a person"],
  [
    /\b(?:localhost|(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|local|internal|lan|example|test|cloud|de|eu|uk|fr))(?::\d{1,5})?\b/gi,
    "a host",
  ],
  [
    /\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:db|api|web|app|svc|service|cache|queue|broker|prod|staging|worker|backend|frontend|gateway|proxy)(?:-?\d+)?\b/g,
    "a service",
  ],
  [
    /\b(?:[a-z]+-)*(?:db|mail|mx|web|app|srv|node|host|vm|ns|dc|sql|cache|proxy|lb)-?\d{1,4}\b/gi,
    "a host",
  ],
  [/\b(?:INC|APR|DEV|CMD|CON|DEAL|EML|TASK|EVT)-[0-9a-f]{12}\b/g, "another record"],
  [
    /(?:\p{Lu}[\p{L}\p{N}&.-]*\s+(?:&\s+)?){1,4}(?:GmbH(?: & Co\. KG)?|AG|Ltd|LLC|Inc|PLC|Corp|S\.A|B\.V)\b\.?/gu,
    "an organization",
  ],
  [/(?<![\w.])\/(?:[\w.@-]+\/)*[\w.@-]+/g, "a path"],
];

/** Opens a scrubber. */
export function openScrubber({ own, services, hosts, people, others }: PrivateNames): Scrubber {
  const names: NameEntry[] = [
    ...(own ? [[own, "the service"] as const] : []),
    ...services.filter((name) => name !== own).map((name) =>
      [name, own ? "another service" : "a service"] as const
    ),
    ...hosts.map((name) => [name, "the host"] as const),
    ...people.flatMap(({ name, confirmed }) => {
      const written = confirmed || !isOnlyWords(name) ? writtenAs(name) : "inside";
      const counts = written !== "inside" || NAMES_AND_WORDS.has(name.trim().toLowerCase());
      return counts ? [[name.trim(), "somebody", written] as const] : [];
    }),
    ...others.map((name) => [name, "somebody", isCommon(name) ? "inside" : "anyhow"] as const),
  ].filter(([name]) => name.length >= MIN_NAME)
    .sort(([a], [b]) => b.length - a.length)
    .map(([name, word, written = "anyhow"]) => ({
      name,
      word,
      written,
      folded: name.toLowerCase(),
    }));

  /** Returns the names that may be in a text. There can be many thousands, so this has to be quick. */
  function candidates(text: string): NameEntry[] {
    const folded = text.toLowerCase();
    return names.filter((entry) => folded.includes(entry.folded));
  }

  function scrub(text: string): string {
    let scrubbed = maskSpans(text);
    for (const entry of candidates(scrubbed)) {
      scrubbed = scrubbed.replace(nameExpression(entry), entry.word);
    }
    for (const [expression, word] of SHAPES) scrubbed = scrubbed.replace(expression, word);
    return tidy(scrubbed);
  }

  function find(text: string): string[] {
    return [
      ...candidates(text).filter((entry) => nameExpression(entry).test(text))
        .map(({ name }) => name),
      ...SHAPES.flatMap(([expression]) => text.match(expression) ?? []),
      ...spansOf(text).map(({ start, end }) => text.slice(start, end)),
    ];
  }

  return { scrub, find };
}

/** Returns where a text has secrets, or data about a person. */
function spansOf(text: string) {
  return [...locateSecrets(text), ...locatePersonal(text)].sort((a, b) => b.start - a.start);
}

function maskSpans(text: string): string {
  let masked = text;
  let end = text.length + 1;
  for (const span of spansOf(text)) {
    if (span.end > end) continue;
    masked = `${masked.slice(0, span.start)}[removed]${masked.slice(span.end)}`;
    end = span.start;
  }
  return masked;
}

interface NameEntry {
  readonly name: string;
  readonly folded: string;
  /** Text that takes its place. */
  readonly word: string;
  readonly written: Writing;
}

/**
 * Where a name counts. `exact`: with these capitals, as other people use the same words. `inside`: with a capital and within
 * a sentence, where a word would have none.
 */
type Writing = "anyhow" | "exact" | "inside";

const writtenAs = (name: string): Writing => isCommon(name) ? "exact" : "anyhow";

/** Returns true if each word of a name is one that articles use anyway. */
function isCommon(name: string): boolean {
  const words = name.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.every((word) => word.length < MIN_NAME || COMMON_WORDS.has(word));
}

/** Returns true if a text does not look like a person's name, but like a word, or words of a sentence. */
function isOnlyWords(name: string): boolean {
  const words = name.trim().split(/\s+/);
  if (words.length === 1) return /^\P{L}*\p{Ll}/u.test(name) || isCommon(name);
  return isCommon(name) && !words.every((word) => /^\p{Lu}\p{Ll}[\p{L}'’-]*$/u.test(word));
}

/** Matches a name as a whole: not as a part of another word or name. */
function nameExpression({ name, written }: NameEntry): RegExp {
  const isInside = written === "inside";
  const shown = isInside
    ? name.toLowerCase().replace(/(^|\s)\p{L}/gu, (begin) => begin.toUpperCase())
    : name;
  const literal = shown.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const before = isInside ? "(?<=[\\p{Ll}\\p{N},;] )" : "(?<![\\p{L}\\p{N}_.-])";
  return new RegExp(
    `${before}${literal}(?::\\d{1,5})?(?![\\p{L}\\p{N}_]|[-.][\\p{L}\\p{N}_])`,
    written === "anyhow" ? "giu" : "gu",
  );
}

/** Mends articles and capitals that a replaced name leaves wrong. */
function tidy(text: string): string {
  return text
    .replace(
      /\b(the|a|an|its|this)\s+(?=(?:the|another|its|an?)\s+(?:service|host|address|path|person|organization)\b)/gi,
      "",
    )
    .replace(/\b(on|at|of|from|to|by)\s+its address\b/gi, "$1 its address")
    .replace(/^(the|another|its|a|somebody)\b/, (word) => word[0]!.toUpperCase() + word.slice(1))
    .replace(
      /([.!?]\s+)(the|another|its|a|somebody)\b/g,
      (_, end, word) => end + word[0].toUpperCase() + word.slice(1),
    );
}
