import assert from "node:assert/strict";
import { timelineOf } from "../../../operations/incidents/tickets/mod.ts";

const at = (ms: number, kind: string, data: Readonly<Record<string, unknown>> = {}) => ({
  at: new Date(Date.UTC(2026, 6, 1) + ms).toISOString(),
  kind,
  phase: null,
  data,
});
const SEEN = at(0, "").at;

describe("timelineOf()", () => {
  it("tells how long each step of an incident took, from the first sight of its fault", () => {
    const events = [
      at(100, "detected", { observed_at: SEEN }),
      at(101, "opened"),
      at(400, "diagnosed"),
      at(450, "approval_needed"),
      at(460, "approval_requested"),
      at(60_000, "approval_approved"),
      at(60_100, "intended"),
      at(62_000, "remediated"),
      at(62_500, "verified"),
      at(62_510, "resolved"),
    ];
    assert.deepEqual(timelineOf(events), [
      { step: "detect", from_ms: 0, to_ms: 100 },
      { step: "ticket", from_ms: 100, to_ms: 101 },
      { step: "diagnose", from_ms: 101, to_ms: 400 },
      { step: "approve", from_ms: 400, to_ms: 60_000 },
      { step: "repair", from_ms: 60_000, to_ms: 62_000 },
      { step: "verify", from_ms: 62_000, to_ms: 62_500 },
      { step: "seal", from_ms: 62_500, to_ms: 62_510 },
    ]);
  });

  it("calls the time between two runs waiting, and never goes backwards", () => {
    const events = [
      at(10, "detected", { observed_at: SEEN }),
      at(20, "opened"),
      at(500, "escalated"),
      at(9_000, "detected"),
      at(8_999, "taken_over"),
      at(9_500, "run_ended"),
    ];
    assert.deepEqual(timelineOf(events).map(({ step, to_ms }) => [step, to_ms]), [
      ["detect", 10],
      ["ticket", 20],
      ["seal", 500],
      ["wait", 9_000],
      ["ticket", 9_000],
      ["seal", 9_500],
    ]);
  });

  it("is empty where nothing says when the fault was seen", () => {
    assert.deepEqual(timelineOf([]), []);
    assert.deepEqual(timelineOf([at(1, "opened"), at(2, "resolved")]), []);
  });
});
