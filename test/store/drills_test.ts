import assert from "node:assert/strict";
import { openStore, type Store } from "../../store/mod.ts";
import { addTicketEvent, openTicket, resolveTicket } from "../../store/incidents/mod.ts";
import { getLearningMetrics, listUnlearntTickets } from "../../store/learning/mod.ts";
import { getStoredFacts } from "../../store/platform/mod.ts";
import { insertRows } from "../_rows.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";

describe("tickets of drills", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker", 2);
    for (const [n, service] of ["test-0a1b2c3d", "attack-0a1b2c3d", "attack-map", null].entries()) {
      const id = `INC-00000000000${n}`;
      await openTicket(store.asPlatform(), {
        id,
        title: "It fails",
        description: "",
        severity: "high",
        phase: "ticketed",
        service,
        fingerprint: null,
        workflowId: null,
        runId: null,
        requestedBy: "test",
      });
      await addTicketEvent(store.asPlatform(), id, {
        key: "diagnosed-1",
        kind: "diagnosed",
        data: { citations: [] },
      });
      await resolveTicket(store.asPlatform(), id, {
        outcome: "sealed",
        resolution: "Restarted",
        receiptId: `${n}`,
      });
      await insertRows(asSuperuser(store), "effects", [{
        id: `effect-${n}`,
        ticket_id: id,
        service: service ?? "shop",
        state: "done",
        action: {},
        action_sha256: "0".repeat(64),
      }]);
    }
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  it("teach nothing, and tell nothing of how learning goes", async () => {
    const { without } = await getLearningMetrics(store.asPlatform());
    assert.deepEqual(without, { tickets: 2, mended: 2 });
    const tickets = await listUnlearntTickets(store.asPlatform(), 10);
    assert.deepEqual(tickets.map(({ service }) => service), ["attack-map", null]);
  });

  it("are no evidence of how real incidents are handled", async () => {
    const { tickets, repairs } = await getStoredFacts(store.asPlatform());
    assert.deepEqual([tickets.resolved, tickets.with_receipt, repairs.done], [2, 2, 2]);
  });
});
