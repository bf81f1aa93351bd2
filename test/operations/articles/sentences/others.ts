/** Sentences of articles about recordings and about the knowledge base, and of pages, each with what says so and what does not. */
import type { Pair } from "../../../_sentences.ts";
import {
  openFactBook,
  openScrubber,
  renderArticle,
  writeKnowledgeArticle,
  writeTranscriptArticle,
} from "../../../../operations/articles/writing/mod.ts";

const SCRUBBER = openScrubber({ own: null, services: [], hosts: [], people: [], others: [] });

type Figures = Parameters<typeof writeKnowledgeArticle>[1];
/** Figures of the category of an article, and the text of the article. */
export type KnowledgeRecord = Partial<Figures> & {
  readonly text?: string;
  readonly title?: string;
};

type Written = ReturnType<typeof writeKnowledgeArticle>;

const textOf = ({ title, description, sections, receipts }: Written) =>
  [
    title,
    description,
    ...sections.flatMap(({ heading, blocks }) => [
      heading ?? "",
      ...blocks.flatMap(({ sentences }) => sentences.map((one) => one.text)),
    ]),
    ...receipts.map(({ what }) => what),
  ].join("\n");

const ALL = [
  "Symptoms:\n- It is slow.",
  "Causes:\n- Logs grow.",
  "Checks:\n- `df`",
  "Fixes:\n- Rotate them.",
  "Escalate when: It stays full.",
];
const without = (heading: string) => ALL.filter((one) => !one.startsWith(heading)).join("\n");

/** Returns the article about a passage of the knowledge base. */
export function writeKnowledge(
  { text = ALL.join("\n"), title = "A disk is full", ...figures }: KnowledgeRecord,
): string {
  const passage = { id: "a", kind: "article", category: "storage", title, text } as const;
  const all = { days: 30, opened: 0, healed: 0, median_ms: null, ...figures };
  return textOf(writeKnowledgeArticle(passage, all, openFactBook()));
}

const LONG = "A disk is full, ".repeat(8);

/** Pairs about the knowledge base. */
export const KNOWLEDGE: readonly Pair<KnowledgeRecord>[] = [
  ["How to recognise it", {}, { text: "" }],
  ["What causes it", {}, { text: without("Causes") }],
  ["How to find out", {}, { text: without("Checks") }],
  ["How to mend it", {}, { text: without("Fixes") }],
  ["When to call for help", {}, { text: without("Escalate") }],
  ["People and logs report it in words like these:", {}, { text: without("Symptoms") }],
  ["These commands and questions tell the causes apart:", {}, { text: without("Checks") }],
  [
    "Which of these helps depends on the cause that was found:",
    {},
    { text: without("Fixes") },
  ],
  [
    "In the last … days this platform had … of this category……",
    { opened: 1 },
    { opened: 0 },
  ],
  [
    ", which was over within …",
    { opened: 1, median_ms: 5 },
    { opened: 2, median_ms: 5 },
  ],
  [
    ", half of those that ended over within …",
    { opened: 2, median_ms: 5 },
    { opened: 2, median_ms: null },
  ],
  [", and repaired …", { opened: 2, healed: 1 }, { opened: 2 }],
  ["all of them", { opened: 2, healed: 2 }, { opened: 2, healed: 1 }],
  [
    ": how to recognise it, what causes it, how to find out, and how to mend it safely.",
    {},
    { title: LONG },
  ],
  [": signs, causes, checks that only read, and fixes.", { title: LONG.slice(0, 100) }, {}],
  [": signs, causes, checks and fixes.", { title: LONG }, {}],
];

/** A recording: its sentences, and its receipt. */
export interface RecordingRecord {
  readonly said: readonly string[];
  readonly receiptId?: string;
}

/** Returns the article about a recording. */
export function writeRecording({ said, receiptId = undefined }: RecordingRecord): string {
  const segments = said.map((text, n) => ({ text, start: n * 10, end: n * 10 + 9 }));
  const recording = { segments, seconds: 600, receiptId: receiptId ?? null };
  return textOf(writeTranscriptArticle(recording as never, SCRUBBER, openFactBook()));
}

const TALK = Array.from(
  { length: 4 },
  () => "The backup of the database takes three hours at night.",
);
const WORDLESS = ["So it is.", "So be it."];
const LONG_TALK = Array.from({ length: 30 }, (_, n) => `The backup number ${n} takes hours.`);

/** Pairs about recordings. */
export const RECORDINGS: readonly Pair<RecordingRecord>[] = [
  ["What was said about …", { said: TALK }, { said: WORDLESS }],
  ["What was said in a recording of …", { said: WORDLESS }, { said: TALK }],
  [", which speak most of …", { said: TALK }, { said: WORDLESS }],
  ["about …", { said: TALK }, { said: WORDLESS }],
  ["the main sentences first, and then all", { said: LONG_TALK }, { said: WORDLESS }],
  ["In short", { said: LONG_TALK }, { said: WORDLESS }],
  ["All that was said", { said: TALK }, { said: LONG_TALK }],
  ["From … to …", { said: LONG_TALK }, { said: TALK }],
  ["the transcript", { said: TALK, receiptId: "r" }, { said: TALK }],
];

/** A page: who wrote it, and whether it has a picture of an incident. */
export interface PageRecord {
  readonly writtenBy?: string;
  readonly isIncident?: boolean;
}

/** Returns a page without its tags. */
export function writePage({ writtenBy = "rules", isIncident }: PageRecord): string {
  const timeline = [
    { step: "detect", from_ms: 0, to_ms: 100 },
    { step: "seal", from_ms: 100, to_ms: 300 },
  ] as const;
  const article = {
    title: "A disk is full",
    description: "",
    sections: [{
      heading: null,
      blocks: [{ kind: "paragraph", sentences: [{ text: "It is full.", facts: [] }] }],
    }],
    receipts: [],
    ...isIncident ? { incident: { timeline, receipt_id: "00c0ffee00c0ffee" } } : {},
  } as unknown as Written;
  const page = renderArticle(article, {
    siteUrl: "https://site.example",
    siteName: "site",
    ledgerUrl: "https://ledger.example",
    slug: "a",
    receiptId: "0000000000000001",
    authorship: { written_by: writtenBy } as never,
    writtenAt: "2026-11-23T17:00:00.000Z",
  });
  return page.replace(/<[^>]*>/g, "\n");
}

/** Pairs about pages. */
export const PAGES: readonly Pair<PageRecord>[] = [
  ["Written by rules from the records of the platform.", {}, { writtenBy: "model-1" }],
  [
    "The story was phrased by …; each sentence was checked against the records.",
    { writtenBy: "model-1" },
    {},
  ],
  ["What took how long, … in all", { isIncident: true }, {}],
  ["Sealed in receipt", { isIncident: true }, {}],
];
