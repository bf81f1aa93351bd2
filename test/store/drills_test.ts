import assert from "node:assert/strict";
import {
  addTicketEvent,
  endTicket,
  insertTicket,
  learningMetrics,
  openStore,
  type Store,
  storedFacts,
  unlearntTickets,
} from "../../store/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";

describe("tickets of drills", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.app, "app", 2);
    for (const [n, service] of ["test-0a1b2c3d", "attack-0a1b2c3d", "attack-map", null].entries()) {
      const id = `INC-00000000000${n}`;
      await insertTicket(store.knex, {
        ...{ id, title: "It fails", description: "", severity: "high", phase: "ticketed", service },
        ...{ fingerprint: null, workflowId: null, runId: null, requestedBy: "test" },
      });
      await addTicketEvent(store.knex, id, {
        ...{ key: "diagnosed-1", kind: "diagnosed", data: { citations: [] } },
      });
      await endTicket(store.knex, id, { resolved: true, outcome: "sealed", receiptId: `${n}` });
      await store.knex("effects").insert({
        ...{ id: `effect-${n}`, ticket_id: id, service: service ?? "shop", state: "done" },
        ...{ action: {}, action_sha256: "0".repeat(64) },
      });
    }
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  it("teach nothing, and tell nothing of how learning goes", async () => {
    const { without } = await learningMetrics(store.knex);
    assert.deepEqual(without, { tickets: 2, mended: 2 });
    const tickets = await unlearntTickets(store.knex, 10);
    assert.deepEqual(tickets.map(({ service }) => service), ["attack-map", null]);
  });

  it("are no evidence of how real incidents are handled", async () => {
    const { tickets, repairs } = await storedFacts(store.knex);
    assert.deepEqual([tickets.resolved, tickets.with_receipt, repairs.done], [2, 2, 2]);
  });
});
