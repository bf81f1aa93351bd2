import assert from "node:assert/strict";
import { formatPostmortem, type PostmortemFacts } from "../../../integrations/tickets/mod.ts";
import type { Ticket } from "../../../store/mod.ts";

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

  it("gives the classification beside the measured category where the two differ", () => {
    const diagnosedAs = (category: string) =>
      format([{
        at: "2026-07-01T12:00:00.000Z",
        kind: "diagnosed",
        data: { cause: "refused", round: 1, classification: { category, confidence: 0.2 } },
      }]);
    assert.match(
      diagnosedAs("application"),
      /It was classified as application with a confidence of 0\.20\./,
    );
    assert.match(
      diagnosedAs("dns"),
      /Its category, application, follows from the measurement\. By its text it was classified as dns with a confidence of 0\.20\./,
    );
  });

  it("keeps text of several lines within its table cell and its quote", () => {
    const text = format([], { resolution: "First\nsecond", description: "One\r\n# Two\n- three" });
    assert.ok(text.includes("| Resolution | First second |"));
    assert.ok(text.includes("> One\n> \\# Two\n> - three\n"));
  });
});
