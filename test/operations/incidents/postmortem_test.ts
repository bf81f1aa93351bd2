import assert from "node:assert/strict";
import {
  formatPostmortem,
  type PostmortemFacts,
} from "../../../operations/incidents/tickets/mod.ts";
import type { Ticket } from "../../../store/incidents/mod.ts";

const TICKET: Ticket = {
  ticket_id: "INC-4f1d22a90b7c",
  title: "billing fails its http check (refused)",
  description: "",
  severity: "high",
  category: "application",
  status: "resolved",
  phase: "sealed",
  escalated: false,
  service: "billing",
  workflow_id: null,
  run_id: null,
  outcome: "sealed",
  resolution: "Restarted",
  receipt_id: null,
  approval_id: null,
  opened_at: "2026-07-01T12:00:00.000Z",
  resolved_at: "2026-07-01T12:00:01.000Z",
};

describe("formatPostmortem()", () => {
  const format = (events: PostmortemFacts["events"], fields: Partial<Ticket> = {}) =>
    formatPostmortem({
      ticket: { ...TICKET, ...fields },
      events,
      repairs: [],
      moves: [],
      receipt: null,
      ledgerUrl: "http://ledger.example",
    });

  it("gives the time of each event exactly", () => {
    const begin = Date.parse("2026-07-01T12:00:00.000Z");
    const events = [0, 236, 30_204, 526_901, 526_908, 4_126_901].map((ms) => ({
      at: new Date(begin + ms).toISOString(),
      kind: "probed",
      data: {},
    }));
    const offsets = [...format(events).matchAll(/\| \+(\S+) \|/g)].map(([, offset]) => offset);
    assert.deepEqual(offsets, [
      "0:00.000",
      "0:00.236",
      "0:30.204",
      "8:46.901",
      "8:46.908",
      "1:08:46.901",
    ]);
  });

  it("says what was measured first, and what words alone would say after it", () => {
    const diagnosed = (data: Readonly<Record<string, unknown>>) =>
      format([{
        at: "2026-07-01T12:00:00.000Z",
        kind: "diagnosed",
        data: { cause: "refused", round: 1, ...data },
      }]);
    const measured = diagnosed({
      basis: "measured",
      says: "Nothing listens on 127.0.0.1:9000.",
      because: "The program does not run.",
      classification: { category: "application", confidence: 0.8 },
      reading: { category: "dns", confidence: 0.2 },
    });
    assert.match(
      measured,
      /Nothing listens on 127\.0\.0\.1:9000\. Judged by what was measured: application with a confidence of 0\.80\. The program does not run\. Its words alone: dns with a confidence of 0\.20\./,
    );
    assert.match(
      diagnosed({ basis: "words", classification: { category: "dns", confidence: 0.9 } }),
      /Judged by its words: dns with a confidence of 0\.90\./,
    );
  });

  it("keeps text of several lines within its table cell and its quote", () => {
    const text = format([], { resolution: "First\nsecond", description: "One\r\n# Two\n- three" });
    assert.ok(text.includes("| Resolution | First second |"));
    assert.ok(text.includes("> One\n> \\# Two\n> - three\n"));
  });
});
