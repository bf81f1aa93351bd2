import assert from "node:assert/strict";
import {
  openFactBook,
  openScrubber,
  readPeriod,
  writePeriodArticle,
} from "../../../operations/articles/writing/mod.ts";

type Figures = Parameters<typeof writePeriodArticle>[1];

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

function write(figures: Partial<Figures>): string {
  const period = readPeriod("2026-11-23")!;
  const titles = new Map([["restart", "Restart it"]]);
  const all = { ...NOTHING, ...figures };
  return writePeriodArticle(period, all, titles, SCRUBBER, openFactBook()).sections
    .flatMap(({ blocks }) => blocks.flatMap(({ sentences }) => sentences.map(({ text }) => text)))
    .join("\n");
}

describe("articles about a period", () => {
  it("tell each question to people, also one that nobody has answered", () => {
    assert.match(write({}), /No person was asked for consent about an incident\./);
    assert.match(
      write({ pending: 2 }),
      /People were asked twice: they had not yet answered twice\./,
    );
    assert.match(
      write({ approved: 1, denied: 1, expired: 1 }),
      /asked 3 times: they agreed once, refused once and did not answer in time once\./,
    );
  });

  it("say that a runbook ran, helped or did not only where that is on record", () => {
    const none = { runbook: "restart", runs: 0, helped: 0, failed: 0, idle: 0, unknown: 0 };
    const tell = (ends: object) => write({ runbooks: [{ ...none, ...ends }] });
    assert.match(tell({ idle: 2 }), /“Restart it” was begun twice without changing anything\./);
    assert.match(tell({ unknown: 1 }), /ended once so that nobody can tell what it did\./);
    assert.match(tell({ runs: 2, helped: 2 }), /ran twice \(helped each time\)\./);
    assert.match(
      tell({ runs: 3, helped: 1, failed: 1 }),
      /\(helped once, did not help once and was not proven once\)/,
    );
    assert.doesNotMatch(tell({ runs: 1 }), /help/);
  });

  it("claim no repair for what ended otherwise", () => {
    assert.doesNotMatch(write({}), /repaired|all of them/);
    const text = write({ opened: 6, resolved: 4, healed: 2, consented: 1, over: 1, escalated: 1 });
    assert.match(
      text,
      /It repaired 2, 1 of them with the consent of a person, and the check passed/,
    );
    assert.match(text, /1 was over without a repair that helped\./);
    assert.match(text, /1 was closed with a note\./);
    assert.match(text, /2 are still open, 1 of them left to people\./);
    assert.match(write({ opened: 2, resolved: 2, healed: 2 }), /It repaired all of them, and/);
    const incident = { title: "It fails", code: null, drill: false, receipt_id: null };
    const at = new Date("2026-11-23T10:00:00Z");
    for (
      const [ending, told] of [
        ["healed", /healed in 0\.1 seconds/],
        ["over", /over without a repair/],
        ["closed", /closed after/],
      ] as const
    ) {
      const incidents = [{ ...incident, opened_at: at, resolved_at: at, ending }];
      assert.match(write({ opened: 1, incidents }), told);
    }
  });
});
