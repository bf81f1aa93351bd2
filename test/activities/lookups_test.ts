import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { reasoningActivities } from "../../activities/reasoning/mod.ts";
import { putService, type ServiceRecord } from "../../store/cmdb/mod.ts";
import { addTicketEvent, endEffect, intendEffect, openTicket } from "../../store/incidents/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { testDatabase } from "../_servers.ts";
import { serviceNamed } from "../store/_graph.ts";

/** Each sentence of a lookup is told of a record for which it is true, and not of one that makes it false. */
describe("what lookups say", () => {
  let store: Store;
  let drop: () => Promise<void>;
  before(async () => {
    const database = await testDatabase();
    store = openStore(database.urls.worker, "worker", 4);
    drop = async () => {
      await store.close();
      await database.drop();
    };
  });
  after(() => drop());

  const says = async (tool: string, of = "") => {
    const { lookUp } = reasoningActivities({ store } as never);
    return (await lookUp({ tool, arguments: { of } } as never)).says;
  };
  const told = async (tool: string, of = "") => (await says(tool, of)).join(" ");

  const put = (name: string, fields: Partial<ServiceRecord> = {}, needs: string[] = []) =>
    putService(
      store.asPlatform(),
      serviceNamed(name, needs, { type: "web", check: null, watched: false, ...fields }),
    );
  async function ticket(fields: { service?: string | null; title?: string } = {}) {
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await openTicket(store.asPlatform(), {
      id,
      title: "It fails",
      description: "",
      severity: "high",
      phase: "ticketed",
      service: null,
      fingerprint: randomBytes(8).toString("hex"),
      workflowId: `loop-${id}`,
      runId: "run",
      requestedBy: "test",
      ...fields,
    });
    return id;
  }
  const add = (id: string, kind: string, data: object = {}) =>
    addTicketEvent(store.asPlatform(), id, {
      key: randomBytes(6).toString("hex"),
      kind,
      data: data as never,
    });

  it("say that nothing is open, known or on record only where that is so", async () => {
    assert.deepEqual(await says("open_tickets"), ["No ticket is open."]);
    assert.deepEqual(await says("approvals"), ["No approval waits for people."]);
    assert.match(
      await told("platform"),
      /^Services, as last seen: none are known\. Tickets: 0 open/,
    );
    assert.match(await told("services"), /has 0 services \(as last seen: none\)/);
    assert.match(await told("repairs"), /^No repair is on record, besides those of drills\.$/);
    assert.match(await told("ledger"), /the scrub knows of no break\.$/);
    for (const tool of ["service", "topology", "ticket", "receipt", "tickets_of_service"]) {
      assert.deepEqual(await says(tool, "nobody"), [], tool);
    }
  });

  it("say of a service that it answers only where it just did", async () => {
    await put("up", { check: { command: ["true"] } });
    await put("down", { check: { command: ["false"] } });
    await put("unchecked");
    assert.match(await told("service", "up"), /^up \(web\) answers its health check just now \(/);
    assert.equal(
      await told("service", "down"),
      "down (web) fails its health check just now: exit 1.",
    );
    assert.equal(await told("service", "unchecked"), "unchecked (web) has no health check.");
    assert.match(await told("services"), /has \d+ services/);
    assert.doesNotMatch(await told("services"), /as last seen: none/);
    assert.doesNotMatch(await told("platform"), /none are known/);
  });

  it("say what needs a service only where something does", async () => {
    await put("base");
    await put("above", {}, ["base"]);
    assert.match(await told("topology", "base"), /^If base fails, this may be affected: above \(/);
    assert.doesNotMatch(await told("topology", "base"), /base needs/);
    assert.match(
      await told("topology", "above"),
      /^Nothing that is known needs above\. above needs base \(/,
    );
    assert.doesNotMatch(await told("topology", "above"), /last seen down/);
  });

  it("call a ticket one of people, and its cause known, only where it is", async () => {
    const id = await ticket({ service: "cart" });
    assert.deepEqual(await says("ticket", id), [
      `${id} (high, open, ticketed): It fails.`,
      `What happened to ${id}: nothing yet.`,
    ]);
    await add(id, "diagnosed", { symptom: "status_500", cause: null });
    assert.match(
      await told("ticket", id),
      new RegExp(`The cause of ${id} is not known; its symptom is status 500\\.`),
    );
    await add(id, "diagnosed", { symptom: "status_500", cause: "disk_full" });
    await add(id, "diagnosed", { symptom: "timeout", cause: "deadlock" });
    assert.match(
      await told("ticket", id),
      new RegExp(`The diagnosis of ${id} names the cause disk full; its symptom is status 500\\.`),
    );
    assert.doesNotMatch(await told("ticket", id), /with people|is not known|deadlock/);
    assert.match(await told("tickets_of_service", "cart"), /^Tickets on cart: 1\. /);
    assert.match(await told("open_tickets"), /^Open tickets: 1\. /);
  });

  it("say that a repair was carried out or helped only where that is on record", async () => {
    const id = await ticket({ service: "till" });
    const repair = async (state: "done" | "not_done" | "unknown" | undefined, code = "exit_0") => {
      const effect = randomBytes(12).toString("hex");
      await intendEffect(
        store.asPlatform(),
        {
          id: effect,
          ticket_id: id,
          service: "till",
          action_id: effect,
          step: "run",
          undoes: null,
          action: { runbook: "restart-service" },
          action_sha256: effect,
          detail: {},
        },
        "run",
        { keyId: null, names: [] },
      );
      if (state) await endEffect(store.asPlatform(), effect, state, { code, ok: state === "done" });
      return (await says("repairs", "till"))[1]!;
    };
    assert.match(await repair(undefined), /: under way\.$/);
    assert.match(await repair("not_done"), /: not carried out, or not all of it\.$/);
    assert.match(await repair("unknown"), /: nobody can tell what it did\.$/);
    assert.match(await repair("done"), /: carried out, not checked whether it helped\.$/);
    assert.match(await repair("done", "joined"), /: noted or waited, and changed nothing/);
    assert.match(await told("repairs", "till"), /^Repairs of till on record: 5 \(/);
    assert.equal(await told("repairs", "cart"), "No repair of cart is on record.");
  });
});
