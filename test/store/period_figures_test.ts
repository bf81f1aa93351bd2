import assert from "node:assert/strict";
import { type Db, openStore, type Store } from "../../store/mod.ts";
import { putApproval } from "../../store/approvals/mod.ts";
import { getPeriodFigures } from "../../store/articles/mod.ts";
import {
  addTicketEvent,
  getFaultHistory,
  openTicket,
  resolveTicket,
} from "../../store/incidents/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";

import { anyApproval } from "./_approvals.ts";

describe("getPeriodFigures()", () => {
  let database: TestDatabase;
  let store: Store;
  let db: Db;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker", 2);
    db = store.asPlatform();
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const from = new Date(Date.now() - 3_600_000);
  const to = new Date(Date.now() + 3_600_000);

  async function open(
    n: number,
    events: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[],
    outcome?: string,
  ) {
    const id = `INC-00000000000${n}`;
    await openTicket(db, {
      id,
      title: "It fails",
      description: "",
      severity: "high",
      phase: "ticketed",
      service: "shop",
      fingerprint: "fault",
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
    for (const [key, kind, data] of events) await addTicketEvent(db, id, { key, kind, data });
    const end = { outcome: outcome!, resolution: "Over", receiptId: `${n}` };
    if (outcome) await resolveTicket(db, id, end);
    return id;
  }

  it("count as repaired what the check passed after, and as a run what changed something", async () => {
    const acted = (state: string) =>
      ["run/remediated-1", state === "done" ? "remediated" : "remediation_failed", {
        runbook: "r",
        state,
      }] as const;
    const passed = ["run/verified-1", "verified", {}] as const;
    const failed = (code: string) => ["run/verified-1", "verification_failed", { code }] as const;
    await open(1, [acted("done"), passed], "sealed");
    await open(2, [acted("not_done"), passed], "sealed");
    await open(3, [passed], "sealed");
    await open(4, [acted("done"), failed("timeout")], "resolved");
    await open(5, [acted("partly_done"), failed("no_check")], "resolved");
    const last = await open(6, [acted("unknown")]);
    await putApproval(db, { ...anyApproval("APR-000000000001"), ticketId: last });
    const { runbooks, incidents, ...figures } = await getPeriodFigures(db, from, to);
    const { opened, resolved, healed, over, escalated, consented } = figures;
    assert.deepEqual([opened, resolved, healed, over, escalated, consented], [6, 5, 1, 2, 0, 0]);
    const { approved, denied, expired, pending } = figures;
    assert.deepEqual([approved, denied, expired, pending], [0, 0, 0, 1]);
    assert.deepEqual(runbooks, [
      { runbook: "r", runs: 3, helped: 1, failed: 1, idle: 1, unknown: 1 },
    ]);
    assert.deepEqual(
      incidents.map(({ ending }) => ending),
      ["healed", "over", "over", "closed", "closed", "open"],
    );
    const { count, last_opened_at } = await getFaultHistory(db, last);
    assert.equal(count, 5);
    assert.equal(last_opened_at, incidents[4]!.opened_at.toISOString());
  });
});
