import assert from "node:assert/strict";
import { type Db, openStore, type Store } from "../../store/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import {
  addTicketEvent,
  addTicketEvents,
  getTicket,
  intendEffect,
  listTicketEvents,
  listTickets,
  lockOpenTicket,
  type NewTicket,
  openTicket,
  resolveTicket,
  takeOverTicket,
} from "../../store/incidents/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { listDeliveries, putWebhook } from "../../store/webhooks/mod.ts";

describe("tickets", () => {
  let database: TestDatabase;
  let store: Store;
  let db: Db;
  let count = 0;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker", 4);
    db = store.asPlatform();
    await putWebhook(db, {
      url: "https://example.com/hook",
      events: ["ticket.opened", "ticket.resolved"],
      secret: Buffer.from("encrypted"),
      createdBy: "key",
    });
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const newTicket = (fields: Partial<NewTicket> = {}): NewTicket => ({
    id: `INC-${String(++count).padStart(12, "0")}`,
    title: "The shop is down",
    description: "private",
    severity: "low",
    phase: "ticketed",
    service: "shop",
    fingerprint: `fault-${count}`,
    workflowId: "loop",
    runId: "run",
    requestedBy: "schedule",
    ...fields,
  });
  const opened = async (fields: Partial<NewTicket> = {}) => {
    const ticket = newTicket(fields);
    assert.ok(await openTicket(db, ticket));
    return ticket;
  };
  const deliveriesOf = async (ticketId: string) =>
    (await listDeliveries(db, { limit: 100 })).filter((one) => one.ticketId === ticketId);

  describe("openTicket()", () => {
    it("opens one ticket a fault, until that is resolved", async () => {
      const first = await opened();
      const second = newTicket({ fingerprint: first.fingerprint });
      assert.equal(await openTicket(db, second), false);
      await resolveTicket(db, first.id, { outcome: "sealed", resolution: "", receiptId: "r" });
      assert.equal(await openTicket(db, second), true);
    });

    it("opens the same ticket once for two attempts at once", async () => {
      const ticket = newTicket();
      const attempts = await Promise.all([1, 2, 3, 4].map(() =>
        db.transaction(async (trx) => {
          if (!await openTicket(trx, ticket)) return false;
          await addTicketEvent(trx, ticket.id, { key: "opened", kind: "opened" });
          return true;
        })
      ));
      assert.deepEqual(attempts.filter((isOpened) => isOpened), [true]);
      assert.equal((await listTicketEvents(db, ticket.id)).length, 1);
    });
  });

  describe("addTicketEvents()", () => {
    it("adds each event once, and moves the phase with it", async () => {
      const { id } = await opened();
      const events = [
        { key: "1", kind: "diagnosed", phase: "diagnosed" as const },
        { key: "2", kind: "remediated", phase: "remediated" as const },
      ];
      assert.equal(await addTicketEvents(db, id, events), 2);
      assert.equal(await addTicketEvents(db, id, events), 0);
      assert.equal((await getTicket(db, id))!.phase, "remediated");
      assert.deepEqual((await listTicketEvents(db, id)).map(({ kind }) => kind), [
        "diagnosed",
        "remediated",
      ]);
    });

    it("leaves a sealed ticket sealed until its fault is detected again", async () => {
      const { id } = await opened({ phase: "sealed" });
      await addTicketEvent(db, id, { key: "late", kind: "verified", phase: "verified" });
      assert.equal((await getTicket(db, id))!.phase, "sealed");
      await addTicketEvents(db, id, [
        { key: "again", kind: "detected", phase: "detected" },
        { key: "taken", kind: "taken_over", phase: "ticketed" },
      ]);
      assert.equal((await getTicket(db, id))!.phase, "ticketed");
    });

    it("stores a diagnosis of an open ticket, and ignores a severity that it does not know", async () => {
      const { id } = await opened();
      const diagnose = (key: string, category: string, severity: string) =>
        addTicketEvent(db, id, { key, kind: "diagnosed", found: { category, severity } });
      const read = async () => {
        const { category, severity } = (await getTicket(db, id))!;
        return [category, severity];
      };
      await diagnose("1", "storage", "critical");
      assert.deepEqual(await read(), ["storage", "critical"]);
      await diagnose("2", "network", "catastrophic");
      assert.deepEqual(await read(), ["network", "critical"]);
      await resolveTicket(db, id, { outcome: "sealed", resolution: "", receiptId: "r" });
      await diagnose("3", "database", "low");
      assert.deepEqual(await read(), ["network", "critical"]);
    });

    it("queues deliveries with the ticket as it is after the event, without its private text", async () => {
      const { id } = await opened();
      await addTicketEvents(db, id, [
        { key: "1", kind: "detected", phase: "detected" },
        { key: "2", kind: "opened", phase: "ticketed" },
        { key: "3", kind: "diagnosed", phase: "diagnosed" }, // the webhook doesn't want updates
      ]);
      assert.deepEqual((await deliveriesOf(id)).map(({ type }) => type), ["ticket.opened"]);
      const row = await db.first("SELECT body FROM webhook_deliveries WHERE ticket_id = $1", [id]);
      const { type, timestamp, data } = JSON.parse(row!.body);
      assert.deepEqual([type, data.ticket_id, data.event, data.phase], [
        "ticket.opened",
        id,
        "opened",
        "ticketed",
      ]);
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      assert.ok(!row!.body.includes("private"));
    });

    it("leaves no event and no delivery of a transaction that fails", async () => {
      const { id } = await opened();
      await assert.rejects(db.transaction(async (trx) => {
        await addTicketEvent(trx, id, { key: "1", kind: "opened", phase: "diagnosed" });
        throw new Error("the receipt is refused");
      }));
      assert.deepEqual(await listTicketEvents(db, id), []);
      assert.deepEqual(await deliveriesOf(id), []);
      assert.equal((await getTicket(db, id))!.phase, "ticketed");
    });
  });

  it("are listed by filter, the most severe first where asked for", async () => {
    const service = "listed";
    const ids = [];
    for (const severity of ["low", "critical", "medium"] as const) {
      ids.push((await opened({ service, severity })).id);
    }
    const list = async (filter: Partial<Parameters<typeof listTickets>[1]>) =>
      (await listTickets(db, { service, limit: 10, ...filter })).map((ticket) => ticket.ticket_id);
    assert.deepEqual(await list({}), [ids[2], ids[1], ids[0]]);
    assert.deepEqual(await list({ bySeverity: true }), [ids[1], ids[2], ids[0]]);
    assert.deepEqual(await list({ severity: "medium" }), [ids[2]]);
    assert.deepEqual(await list({ limit: 1 }), [ids[2]]);
    assert.deepEqual(await list({ status: "resolved" }), []);
    assert.deepEqual(await list({ since: new Date(Date.now() + 60_000) }), []);
  });

  describe("intendEffect()", () => {
    const effect = (ticketId: string) => ({
      id: `effect-of-${ticketId}`,
      ticket_id: ticketId,
      service: "shop",
      action_id: "action",
      step: "restart",
      undoes: null,
      action: {},
      action_sha256: "0".repeat(64),
      detail: {},
    });
    const intend = (ticketId: string, runId = "run", keyId: string | null = null) =>
      db.transaction((trx) =>
        intendEffect(trx, effect(ticketId), runId, { keyId, names: ["itsm_loop"] })
      );

    it("records an intent once, only for the run that works on the open ticket", async () => {
      const { id } = await opened();
      assert.equal(await intend(id, "another run"), false);
      const attempts = await Promise.all([intend(id), intend(id), intend(id)]);
      assert.deepEqual(attempts.filter((isFirst) => isFirst), [true]);
      const closed = await opened();
      await resolveTicket(db, closed.id, { outcome: "sealed", resolution: "", receiptId: "r" });
      assert.equal(await intend(closed.id), false);
    });

    it("waits for the transaction that takes the ticket over, and then refuses", async () => {
      const { id, fingerprint } = await opened();
      let locked!: () => void;
      const isLocked = new Promise<void>((resolve) => locked = resolve);
      let goOn!: () => void;
      const mayGoOn = new Promise<void>((resolve) => goOn = resolve);
      const takingOver = db.transaction(async (trx) => {
        await lockOpenTicket(trx, fingerprint!);
        locked();
        await mayGoOn;
        await takeOverTicket(trx, id, "loop", "next run");
      });
      await isLocked;
      const intending = intend(id);
      goOn();
      await takingOver;
      assert.equal(await intending, false);
    });

    it("refuses while a stop is set for everything, the tool or the key", async () => {
      const { id } = await opened();
      for (
        const stop of [
          { kind: "all", name: "" },
          { kind: "tool", name: "itsm_loop" },
          { kind: "key", name: "k1" },
        ] as const
      ) {
        await addStop(db, { ...stop, reason: "An audit" });
        assert.equal(await intend(id, "run", "k1"), false, stop.kind);
        await removeStop(db, stop);
      }
      assert.equal(await intend(id, "run", "k1"), true);
    });
  });
});
