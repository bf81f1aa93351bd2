import assert from "node:assert/strict";
import { postmortemOf } from "../../operations/tickets/_postmortem.ts";
import { exampleTicket } from "../../operations/_ticket_shapes.ts";

describe("the draft of a postmortem", () => {
  const draftOf = (events: Parameters<typeof postmortemOf>[0]["events"]) =>
    postmortemOf({
      ...{ ticket: exampleTicket, events, repairs: [], receipt: null, decisions: [] },
      ledgerUrl: "http://ledger.example",
    });

  it("tells of each move exactly when it was", () => {
    const begin = Date.parse("2026-07-01T12:00:00.000Z");
    const draft = draftOf(
      [0, 236, 30_204, 526_901, 526_908, 4_126_901].map((ms) => ({
        ...{ at: new Date(begin + ms).toISOString(), kind: "looked", data: {} },
      })),
    );
    assert.deepEqual([...draft.matchAll(/\| \+(\S+) \|/g)].map(([, after]) => after), [
      ...["0:00.000", "0:00.236", "0:30.204", "8:46.901", "8:46.908", "1:08:46.901"],
    ]);
  });

  it("says what was judged beside what was measured, where they differ", () => {
    const judged = (category: string) =>
      draftOf([{
        ...{ at: "2026-07-01T12:00:00.000Z", kind: "diagnosed" },
        data: { cause: "refused", round: 1, classification: { category, confidence: 0.2 } },
      }]);
    assert.match(judged("application"), /classified as application with a confidence of 0\.20\./);
    assert.match(
      judged("dns"),
      /filed under application, by what measured it\. By its words it was taken for dns with a confidence of 0\.20\./,
    );
  });
});
