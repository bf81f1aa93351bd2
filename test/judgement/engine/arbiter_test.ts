import assert from "node:assert/strict";
import { arbitrate, type Arbitration } from "../../../judgement/engine/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { addTicketEvent, openTicket } from "../../../store/incidents/mod.ts";
import { listUnlearntTickets } from "../../../store/learning/mod.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { asSuperuser } from "../../_superuser.ts";

const NOTE = "Turned the ribbon of the label printer around and cleaned its print head";
const RUNBOOK = "Runbook restart-service 1.0.0, and found healthy in round 1";

describe("arbitrate()", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.engine, "engine", 2);
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  let tickets = 0;
  /** Scores a ticket that was opened some hours ago and resolved at once. */
  async function arbitrateTicket(
    { hours = 0, fault = null, outcome = "sealed", resolution = RUNBOOK, by, diagnosed = true }: {
      hours?: number;
      fault?: string | null;
      outcome?: "sealed" | "resolved";
      resolution?: string;
      by?: "person";
      diagnosed?: boolean;
    },
  ): Promise<Arbitration> {
    const id = `INC-${String(tickets++).padStart(12, "0")}`;
    await openTicket(asSuperuser(store), {
      id,
      title: "It fails",
      description: "",
      severity: "high",
      phase: "sealed",
      service: "shop",
      fingerprint: fault,
      workflowId: null,
      runId: null,
      requestedBy: "t",
    });
    if (diagnosed) {
      const data = {
        classification: { category: "application", confidence: 0.3 },
        citations: ["x"],
      };
      await addTicketEvent(asSuperuser(store), id, { key: "diagnosed-1", kind: "diagnosed", data });
    }
    await addTicketEvent(asSuperuser(store), id, {
      key: "resolved",
      kind: "resolved",
      data: by ? { by } : {},
    });
    await asSuperuser(store).query(
      `UPDATE tickets SET status = 'resolved', outcome = $2, resolution = $3, receipt_id = 'r',
         opened_at = now() - $4 * interval '1 hour',
         resolved_at = now() - $4 * interval '1 hour' + interval '1 second' WHERE id = $1`,
      [id, outcome, resolution, hours],
    );
    const ticket = (await listUnlearntTickets(store.asPlatform(), 200)).find((one) =>
      one.id === id
    )!;
    return arbitrate(ticket, "application");
  }
  const factorsOf = ({ factors }: Arbitration) => factors.map(({ factor }) => factor);

  it("queues an uncertain repair for people, and applies it once the runbook has repaired that fault before", async () => {
    const first = await arbitrateTicket({ fault: "crash", hours: 72 });
    assert.deepEqual([first.score, first.state], [85, "queued"]);
    const again = await arbitrateTicket({ fault: "crash", hours: 30 });
    assert.ok(factorsOf(again).includes("mended_before"));
    assert.equal(again.state, "applied");
    const soon = await arbitrateTicket({ fault: "crash", hours: 20 });
    assert.ok(!factorsOf(soon).includes("mended_before"), "the fault came back within a day");
    assert.equal(soon.state, "queued");
    const other = await arbitrateTicket({
      fault: "crash",
      resolution: RUNBOOK.replace("restart", "clear"),
    });
    assert.ok(!factorsOf(other).includes("mended_before"), "another runbook repaired it");
  });

  it("trusts the note of a closed ticket only if a person's key closed it", async () => {
    const closing = { outcome: "resolved", resolution: NOTE, diagnosed: false } as const;
    const person = await arbitrateTicket({ ...closing, by: "person" });
    assert.deepEqual(factorsOf(person), ["closed_by_a_person", "receipt", "note_says_much"]);
    assert.deepEqual([person.score, person.state], [50, "queued"]);
    const agent = await arbitrateTicket(closing);
    assert.deepEqual([agent.score, agent.state], [25, "dropped"]);
  });
});
