import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../config.ts";
import { findSymptom, type Symptom } from "../../../operations/articles/writing/mod.ts";
import { testSentences } from "../../_sentences.ts";
import { detected, writeArticle } from "./sentences/_facts.ts";
import { ADVISED, CAUSE, STORY } from "./sentences/fault.ts";
import { MOMENTS_OF_TICKETS } from "./sentences/moments.ts";
import {
  KNOWLEDGE,
  PAGES,
  RECORDINGS,
  writeKnowledge,
  writePage,
  writeRecording,
} from "./sentences/others.ts";
import { PERIOD, writePeriod } from "./sentences/period.ts";
import { END, PERMISSION, REPAIR } from "./sentences/repair.ts";

const FOLDER = "operations/articles/writing/";

describe("the sentences of articles about tickets", () => {
  testSentences({
    sources: ["advice", "facts", "record", "repair", "story"].map((part) =>
      `${FOLDER}_ticket_${part}.ts`
    ).concat(`${FOLDER}ticket_article.ts`),
    pairs: [
      ...STORY,
      ...CAUSE,
      ...ADVISED,
      ...REPAIR,
      ...PERMISSION,
      ...END,
      ...MOMENTS_OF_TICKETS,
    ],
    labels: [
      "knowledge …",
      "runbook …",
      "more finding",
      "… percent",
      "… min",
      "On … …",
      "On … …; severity …",
      ": …, and …",
    ],
    always: {
      "that the text of the incident tries to steer nobody": "the rail input_safety checks that",
      "that the repair stays within its bounds": "the rail execution_bounds checks that",
      "that it contradicts nothing that the platform knows": "the rail output_fact_check does",
      "that what it cites is what was cited": "the rail retrieval_integrity checks that",
    },
    tell: writeArticle,
  });
});

describe("the sentences about symptoms", () => {
  const symptoms: readonly Symptom[] = parse(
    readFileSync(join(ROOT, FOLDER, "symptoms.yaml"), "utf8"),
  );

  it("are said of the codes that they are about, and of no others", () => {
    for (const { codes, title, seen } of symptoms) {
      for (const other of symptoms) {
        const code = other.codes[0]!.replaceAll("*", "x");
        const text = writeArticle({ events: [detected(code)] });
        const isAbout = findSymptom(code)!.seen === seen;
        assert.equal(text.includes(` ${seen}.`), isAbout, `${code}: ${seen}`);
        assert.equal(text.startsWith(title) && isAbout, isAbout, `${code}: ${title}`);
      }
      assert.ok(codes.some((code) => findSymptom(code.replaceAll("*", "x"))!.seen === seen), title);
    }
  });
});

describe("the sentences of articles about a period", () => {
  testSentences({
    sources: [`${FOLDER}period_article.ts`],
    pairs: PERIOD,
    labels: [
      "When people decided",
      "What broke",
      "What broke and what healed it, …: …, … healed by runbooks, with figures and proof.",
      "… the platform had …",
      "…: …, … healed by runbooks",
    ],
    always: {},
    tell: writePeriod,
  });
});

describe("the sentences of articles about the knowledge base", () => {
  testSentences({
    sources: [`${FOLDER}knowledge_article.ts`],
    pairs: KNOWLEDGE,
    labels: [
      "knowledge …",
      "usual cause",
      "It is a fault of the category …",
      "This page is about a fault of the category “…”: …",
      "It has … to know the fault by, …, … to find out which of them it is, and … to mend it",
    ],
    always: {},
    tell: writeKnowledge,
  });
});

describe("the sentences of articles about recordings", () => {
  testSentences({
    sources: [`${FOLDER}transcript_article.ts`],
    pairs: RECORDINGS,
    labels: [],
    always: {
      "A recording of ……: … that was said, as it was written down by machine.":
        "each article about a recording has all of it, from a transcript",
      "This page has what was said in a recording of …": "as above",
      "It was written down by machine: ……. Sounds like “um” are left out.": "as above",
    },
    tell: writeRecording,
  });
});

describe("the sentences of pages", () => {
  testSentences({
    sources: [`${FOLDER}page.ts`, `${FOLDER}post.ts`],
    pairs: PAGES,
    labels: [
      "default-src 'none'; style-src 'sha256-…'; img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "Check it",
      "this page",
      "… … to read",
      "Picture: … (receipt …).",
      "A card with the title: ……",
    ],
    always: {
      "What is told here is sealed in a public, signed ledger. The receipt of this page has its SHA-256, so that a copy of the file can be checked by dropping it on the ledger’s page.":
        "no page is published without its receipt",
    },
    tell: writePage,
  });
});
