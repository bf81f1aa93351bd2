/** Sentences of articles about a period, each with figures that say so, and others that say otherwise. */
import type { Pair } from "../../../_sentences.ts";
import {
  openFactBook,
  openScrubber,
  readPeriod,
  writePeriodArticle,
} from "../../../../operations/articles/writing/mod.ts";

type Figures = Parameters<typeof writePeriodArticle>[1];
type Incident = Figures["incidents"][number];
type Ends = Omit<Figures["runbooks"][number], "runbook">;
/** Figures that are not 0, and the period where it is no day. */
export type PeriodRecord = Partial<Figures> & { readonly period?: string };

const SCRUBBER = openScrubber({ own: null, services: [], hosts: [], people: [], others: [] });
const NOTHING: Figures = {
  opened: 0,
  drills: 0,
  resolved: 0,
  healed: 0,
  consented: 0,
  over: 0,
  escalated: 0,
  median_ms: null,
  slowest_ms: null,
  categories: [],
  runbooks: [],
  approved: 0,
  denied: 0,
  expired: 0,
  pending: 0,
  outdated: 0,
  incidents: [],
};
const NO_RUN: Ends = { runs: 0, helped: 0, failed: 0, idle: 0, unknown: 0 };

/** Returns the title, the description and the text of the article about a period. */
export function writePeriod({ period = "2026-11-23", ...figures }: PeriodRecord): string {
  const titles = new Map([["restart", "Restart it"]]);
  const all = { ...NOTHING, ...figures };
  const span = readPeriod(period)!;
  const article = writePeriodArticle(span, all, titles, SCRUBBER, openFactBook());
  const { title, description, sections, receipts } = article;
  return [
    title,
    description,
    ...sections.flatMap(({ heading, blocks }) => [
      heading ?? "",
      ...blocks.flatMap(({ sentences }) => sentences.map(({ text }) => text)),
    ]),
    ...receipts.map(({ what }) => what),
  ].join("\n");
}

const at = new Date("2026-11-23T10:00:00Z");
const one = (ending: Incident["ending"], more: Partial<Incident> = {}): PeriodRecord => ({
  opened: 1,
  incidents: [{
    title: "It fails",
    code: null,
    drill: false,
    receipt_id: null,
    opened_at: at,
    resolved_at: ending === "open" ? null : at,
    ending,
    ...more,
  } as Incident],
});
const ran = (ends: Partial<Ends>, runbook = "restart"): PeriodRecord => ({
  runbooks: [{ runbook, ...NO_RUN, ...ends }],
});

/** Pairs about a period. */
export const PERIOD: readonly Pair<PeriodRecord>[] = [
  [
    "All of them were drills, in which it broke or attacked a service of its own.",
    { opened: 2, drills: 2 },
    { opened: 2, drills: 1 },
  ],
  [
    "… of them …, in which it broke or attacked a service of its own.",
    { opened: 2, drills: 1 },
    { opened: 2 },
  ],
  ["was a drill", { opened: 2, drills: 1 }, { opened: 3, drills: 2 }],
  ["were drills", { opened: 3, drills: 2 }, { opened: 2, drills: 1 }],
  [
    "Half of the … that ended were over within …",
    { resolved: 2, median_ms: 5 },
    { resolved: 1, median_ms: 5 },
  ],
  ["The longest one took …", { resolved: 2, slowest_ms: 5 }, { resolved: 1, slowest_ms: 5 }],
  [
    "This was written before that time was over.",
    { period: "2026-01-01/2026-12-31" },
    { period: "2025-11-23" },
  ],
  [
    "It repaired ……, and the check passed after each of these repairs.",
    { opened: 1, resolved: 1, healed: 1 },
    { opened: 1, resolved: 1, over: 1 },
  ],
  [
    "all of them",
    { opened: 1, resolved: 1, healed: 1 },
    { opened: 2, resolved: 1, healed: 1 },
  ],
  [
    ", … of them with the consent of a person",
    { opened: 1, resolved: 1, healed: 1, consented: 1 },
    { opened: 1, resolved: 1, healed: 1 },
  ],
  [
    "… … over without a repair that helped.",
    { opened: 1, resolved: 1, over: 1 },
    { opened: 1, resolved: 1, healed: 1 },
  ],
  [
    "… … closed with a note.",
    { opened: 1, resolved: 1 },
    { opened: 1, resolved: 1, over: 1 },
  ],
  ["… … still open, … of them left to people.", { opened: 1 }, { opened: 1, resolved: 1 }],
  ["helped each time", ran({ runs: 2, helped: 2 }), ran({ runs: 2, helped: 1 })],
  ["helped …", ran({ runs: 2, helped: 1 }), ran({ runs: 2 })],
  ["did not help …", ran({ runs: 1, failed: 1 }), ran({ runs: 1 })],
  ["was not proven …", ran({ runs: 1 }), ran({ runs: 1, failed: 1 })],
  ["ran … (…)", ran({ runs: 1 }), ran({ idle: 1 })],
  ["was begun … without changing anything", ran({ idle: 1 }), ran({ runs: 1 })],
  ["ended … so that nobody can tell what it did", ran({ unknown: 1 }), ran({ idle: 1 })],
  ["A runbook of the platform’s own", ran({ runs: 1 }, "own"), ran({ runs: 1 })],
  ["healed in …", one("healed"), one("over")],
  ["over without a repair after …", one("over"), one("healed")],
  ["closed after …", one("closed"), one("over")],
  ["still open", one("open"), { ...one("closed"), resolved: 1 }],
  ["(a drill)", one("open", { drill: true }), one("open")],
  ["the incident of …", one("healed", { receipt_id: "r" }), one("healed")],
  ["These are the first … of them:", { ...one("open"), opened: 2 }, one("open")],
  ["without a category", { categories: [{ category: null, count: 1 }] }, {
    categories: [{ category: "dns", count: 1 }],
  }],
  ["What happened, one by one", one("open"), {}],
  ["What mended it", ran({ runs: 1 }), {}],
  ["No person was asked for consent about an incident.", {}, { outdated: 1 }],
  ["People were asked …: they …", { pending: 1 }, {}],
  ["agreed …", { approved: 1 }, { denied: 1 }],
  ["refused …", { denied: 1 }, { expired: 1 }],
  ["did not answer in time …", { expired: 1 }, { pending: 1 }],
  ["had not yet answered …", { pending: 1 }, { expired: 1 }],
  [
    "had the question withdrawn …, as what it was about had changed",
    { outdated: 1 },
    { expired: 1 },
  ],
  ["… to …", { period: "2026-11-22/2026-11-23" }, {}],
  ["From …", { period: "2026-11-22/2026-11-23" }, {}],
  ["In …", { period: "2026-11" }, {}],
  ["On …", {}, { period: "2026-11" }],
];
