import type { ArticleSentence, ArticleText, Segment } from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import { clip, clipTitle, count, joinWords } from "./_words.ts";
import type { Scrubber } from "./private_names.ts";

/** A recording, as it was written down. */
export interface Recording {
  readonly segments: readonly Segment[];
  readonly seconds: number;
  readonly receiptId: string | null;
}

/** A sentence of a recording. */
interface Said {
  readonly text: string;
  /** Seconds from the start. */
  readonly start: number;
  readonly words: readonly string[];
}

const MAX_TITLE = 60;
const MAX_TOPICS = 3;
/** Most sentences of the summary, and of a paragraph. */
const MAX_SUMMARY = 3;
const MAX_PARAGRAPH = 5;
/** Sentences after which a new section begins. */
const SECTION_SENTENCES = 12;
/** A pause after which a new paragraph begins. */
const PAUSE_SECONDS = 1.5;
const MIN_TOPIC_LETTERS = 4;
/** Sounds of somebody who thinks, with what sets them off. */
const FILLERS =
  /(?<![\p{L}\p{N}'’-])(?:um+|uh+|erm?|hmm+)(?![\p{L}\p{N}'’-])[,.…]?\s*(?:so,\s+)?/giu;
/** Matches sentences that say little without those before them. */
const UNCLEAR = /\?$|^(?:he|she|it|they|this|that|these|those|and|but)\b/i;
/** Words that no text is about. */
const COMMON = new Set(
  ("about after again also another because been before being both come could does doing done down each even every from " +
    "getting goes going good have having here into just know like little look made make many more most much must need " +
    "never nobody nothing okay only other over really right said same says should since some something still such take " +
    "than that their them then there these they thing things think this those through time today under until very " +
    "want wants well went were what when where which while will with without would yeah your")
    .split(" "),
);

/**
 * Writes the article about a recording by rules: what it is about, its most telling sentences, and then all of it. What
 * was said is quoted, and nothing that was said is done.
 */
export function writeTranscriptArticle(
  { segments, seconds, receiptId }: Recording,
  scrubber: Scrubber,
  book: FactBook,
): ArticleText {
  const said = splitSaid(segments, scrubber);
  const frequencies = countWords(said);
  const topics = [...frequencies].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, MAX_TOPICS).map(([word]) => word);
  const about = topics.length > 0 ? joinWords(topics) : undefined;
  const length = formatLength(seconds);
  const tell = (text: string) => sentence(text, book.add("transcript", text));
  const quote = ({ text }: Said): ArticleSentence => tell(text);
  const summary = findSummary(said, frequencies);
  const groups = groupSaid(said);
  return {
    title: clipTitle(
      about ? `What was said about ${about}` : `What was said in a recording of ${length}`,
      MAX_TITLE,
    ),
    description: clip(
      `A recording of ${length}${about ? ` about ${about}` : ""}: ${
        summary.length > 0 ? "the main sentences first, and then all" : "all"
      } that was said, as it was written down by machine.`,
      155,
    ),
    sections: [
      section(
        null,
        paragraph([
          tell(`This page has what was said in a recording of ${length}.`),
          tell(
            `It was written down by machine: ${count(said.length, "sentence")}${
              about ? `, which speak most of ${about}` : ""
            }. Sounds like “um” are left out.`,
          ),
        ]),
      ),
      section("In short", { kind: "list", sentences: summary.map(quote) }),
      ...groups.map((group, n) =>
        section(
          groups.length === 1 ? "All that was said" : headingOf(group, groups[n + 1], seconds),
          ...splitParagraphs(group).map((part) => paragraph(part.map(quote))),
        )
      ),
    ].filter(({ blocks }) => blocks.length > 0),
    receipts: receiptId === null ? [] : [{ id: receiptId, what: "the transcript" }],
  };
}

/** Splits segments into sentences, without private names. A segment may have several, or the end of one. */
function splitSaid(segments: readonly Segment[], scrubber: Scrubber): Said[] {
  const said: Said[] = [];
  let open: { text: string; start: number } | undefined;
  for (const { text, start } of segments) {
    for (const part of text.trim().split(/(?<=[.!?])\s+/)) {
      open = open ? { ...open, text: `${open.text} ${part}` } : { text: part, start };
      if (!/[.!?]$/.test(part)) continue;
      said.push(toSaid(open));
      open = undefined;
    }
  }
  if (open) said.push(toSaid(open));
  return said.filter(({ words }) => words.length > 0);

  function toSaid({ text, start }: { text: string; start: number }): Said {
    const clean = sentence(scrubber.scrub(text).replace(FILLERS, "")).text;
    return { text: clean, start, words: clean.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [] };
  }
}

/** Counts the words that a text may be about. Those of one sentence alone say little. */
function countWords(said: readonly Said[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { words } of said) {
    for (const word of new Set(words)) {
      const isTopic = word.length >= MIN_TOPIC_LETTERS && /^\p{L}+$/u.test(word) &&
        !COMMON.has(word);
      if (isTopic) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return new Map([...counts].filter(([, n]) => n > 1));
}

/** Returns the sentences that have most of what the whole is about, in the order in which they were said. */
function findSummary(said: readonly Said[], frequencies: ReadonlyMap<string, number>): Said[] {
  const score = ({ words }: Said) =>
    [...new Set(words)].reduce((sum, word) => sum + (frequencies.get(word) ?? 0), 0) /
    Math.sqrt(words.length);
  const telling = said.filter(({ text }) => !UNCLEAR.test(text));
  const best = telling.sort((a, b) => score(b) - score(a)).slice(0, MAX_SUMMARY);
  return said.length > 2 * MAX_SUMMARY ? said.filter((one) => best.includes(one)) : [];
}

/** Returns what was said in parts of about the same length. */
function groupSaid(said: readonly Said[]): Said[][] {
  const parts = Math.max(1, Math.round(said.length / SECTION_SENTENCES));
  const size = Math.ceil(said.length / parts);
  return Array.from({ length: parts }, (_, n) => said.slice(n * size, (n + 1) * size))
    .filter((group) => group.length > 0);
}

/** Returns the paragraphs of a part: they end at a pause, or after some sentences. */
function splitParagraphs(group: readonly Said[]): Said[][] {
  const paragraphs: Said[][] = [];
  for (const [n, one] of group.entries()) {
    const before = group[n - 1];
    const last = paragraphs.at(-1);
    const spoken = (before?.words.length ?? 0) / WORDS_A_SECOND;
    const isPause = before !== undefined && one.start - before.start - spoken > PAUSE_SECONDS;
    if (!last || last.length >= MAX_PARAGRAPH || isPause && last.length > 1) paragraphs.push([one]);
    else last.push(one);
  }
  return paragraphs;
}

/** Words that people say in a second. */
const WORDS_A_SECOND = 2.5;

function headingOf(
  [first]: readonly Said[],
  next: readonly Said[] | undefined,
  seconds: number,
): string {
  return `From ${formatTime(first!.start)} to ${formatTime(next?.[0]?.start ?? seconds)}`;
}

/** Returns a time in a recording: `1:05`. */
function formatTime(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function formatLength(seconds: number): string {
  return seconds < 100
    ? count(Math.round(seconds), "second")
    : count(Math.round(seconds / 60), "minute");
}
