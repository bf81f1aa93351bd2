import assert from "node:assert/strict";
import { Client, Connection } from "@temporalio/client";
import pg from "pg";
import type { Platform } from "../../calls/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { fingerprintFault, HOLDER_LOCK, openStore, type Store } from "../../store/mod.ts";
import { listTickets } from "../../store/incidents/mod.ts";
import { setGovernance } from "../_governance.ts";
import {
  storeAs,
  type TestDatabase,
  testDatabase,
  type TestTemporal,
  testTemporal,
} from "../_servers.ts";
import { eventually } from "../_time.ts";
import { keyIn, startToolProcess, type ToolProcess } from "./_process.ts";
import { type Json, jsonOf, post } from "./_tool_server.ts";
import { asSuperuser } from "../_superuser.ts";

const TOOL = "itsm_run_loop";
/** Restricts to this database: tests' databases are copies of one, with the same object ids. */
const HERE = "database = (SELECT oid FROM pg_database WHERE datname = current_database())";

describe("a call whose tool server is killed", () => {
  let database: TestDatabase;
  let place: TestTemporal;
  let connection: Connection;
  let store: Store;
  let process: ToolProcess;
  let key: string;
  let count = 0;

  before(async () => {
    [database, place] = await Promise.all([testDatabase(), testTemporal()]);
    store = openStore(database.urls.tools, "tools");
    connection = await Connection.connect({ address: place.address });
    key = (await keyIn(database)).key;
    await setGovernance(store, { rules: [rule("allow")] });
  });
  beforeEach(() => start());
  afterEach(() => process.kill());
  after(async () => {
    await store?.close();
    await connection?.close();
    await database?.drop();
  });

  // The reports name no service, so the started loop is the call's only effect.
  const rule = (then: string) => ({
    name: "loops",
    when: { tools: [TOOL] },
    then,
    guardrails: false,
  });
  const start = async () => {
    const env = { TEMPORAL_ADDRESS: place.address, TEMPORAL_NAMESPACE: place.namespace };
    process = await startToolProcess(database, env);
  };
  const report = () => `The mail is slow for the ${++count}. time`;
  const call = async (incident: string): Promise<Json> => {
    const args = { incident, wait_seconds: 50 };
    const params = { name: TOOL, arguments: args };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = { accept: "application/json, text/event-stream" };
    return (await jsonOf(await post(process.url, "/mcp", key, body, headers))).result;
  };
  /** Kills the server as soon as a condition holds. */
  async function killedWhen(incident: string, reached: () => Promise<unknown>): Promise<void> {
    const answered = call(incident).then(() => assert.fail("it was answered"), () => {});
    await eventually(async () => await reached() || undefined);
    await process.kill();
    await answered;
  }
  /** Locks a table during some work. */
  async function holding(
    table: string,
    work: (owner: pg.Client) => Promise<void>,
  ): Promise<void> {
    const owner = new pg.Client({ connectionString: database.superuserUrl });
    await owner.connect();
    await owner.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    try {
      await work(owner);
    } finally {
      await owner.query("ROLLBACK");
      await owner.end();
    }
  }
  const waitsFor = async (table: string) => {
    const rows = await store.asPlatform().query(
      `SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass AND ${HERE}`,
      [table],
    );
    return rows.length > 0;
  };
  /** Counts how often the loop of a report was begun. */
  async function begun(incident: string): Promise<number> {
    const fingerprint = await fingerprintFault(store, "report", incident);
    const client = new Client({ connection, namespace: place.namespace });
    const handle = client.workflow.getHandle(`loop-${fingerprint}`);
    return await handle.describe().then(() => 1, () => 0);
  }
  const newest = async () =>
    await store.asPlatform().first("SELECT * FROM governance_decisions ORDER BY at DESC") as Json;
  const requested = async (id: string): Promise<Json> => {
    const rows = await store.asPlatform().query("SELECT payload FROM seal_outbox WHERE id = $1", [
      id,
    ]);
    return rows.map(({ payload }) => JSON.parse(payload));
  };
  /** Runs the housekeeping as if some minutes had passed. @returns the number of settled calls */
  async function settled(): Promise<number> {
    await eventually(async () => {
      const rows = await store.asPlatform().query(
        "SELECT FROM pg_stat_activity WHERE wait_event = $1 AND datname = current_database()",
        [
          "relation",
        ],
      );
      return rows.length === 0 || undefined;
    });
    // The connection that proved the server alive ends a moment later.
    await eventually(async () => {
      const rows = await store.asPlatform().query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND ${HERE}`,
        [HOLDER_LOCK],
      );
      return rows.length === 0 || undefined;
    });
    await asSuperuser(store).execute(
      "UPDATE governance_decisions SET at = now() - interval '5 minutes'",
    );
    const operations = new Map(); // no operation can recover
    const worker = await storeAs(store, "worker");
    return await settleLostCalls({ store: worker, operations } as unknown as Platform);
  }
  const people = async () =>
    (await listTickets(store.asPlatform(), { escalated: true, status: "open", limit: 100 })).length;

  it("before the decision is stored has no effect, and leaves nothing to settle", async () => {
    const incident = report();
    await holding("governance_decisions", async (owner) => {
      await killedWhen(incident, () => waitsFor("governance_decisions"));
      await owner.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks
         WHERE NOT granted AND relation = 'governance_decisions'::regclass AND ${HERE}`,
      );
    });
    assert.equal(await newest(), undefined);
    assert.equal(await settled(), 0);
    assert.deepEqual([await begun(incident), await people()], [0, 0]);
  });

  it("between decision and effect is sealed as unknown, and left to people", async () => {
    const incident = report();
    await holding("services", () => killedWhen(incident, () => waitsFor("services")));
    const decision = await newest();
    assert.equal((await requested(decision.receipt_id))[0].outcome, "allow");
    assert.deepEqual(await requested(decision.call_receipt_id), []);
    await start();
    assert.equal(await settled(), 1);
    const [{ outcome, details }] = await requested(decision.call_receipt_id);
    assert.deepEqual([outcome, details.decision_id], ["unknown", decision.id]);
    assert.deepEqual([await begun(incident), await people()], [0, 1]);
  });

  it("between effect and receipt is sealed as unknown, and not repeated", async () => {
    const incident = report();
    await killedWhen(incident, () => begun(incident));
    const decision = await newest();
    assert.deepEqual(await requested(decision.call_receipt_id), []);
    await start();
    assert.equal(await settled(), 1);
    assert.equal(await settled(), 0, "each call ends once");
    assert.equal((await requested(decision.call_receipt_id)).length, 1);
    assert.equal((await requested(decision.call_receipt_id))[0].outcome, "unknown");
    assert.deepEqual([await begun(incident), await people()], [1, 2]);
  });

  it("while it waits for people stays one approval, which the same call joins", async () => {
    await setGovernance(store, { rules: [rule("needs_approval")] });
    const incident = report();
    const { governance } = (await call(incident)).structuredContent;
    await process.kill();
    await start();
    assert.equal(await settled(), 0, "every outcome is known");
    const again = (await call(incident)).structuredContent.governance;
    assert.deepEqual([again.approval_id, again.status], [governance.approval_id, "pending"]);
    assert.equal((await store.asPlatform().query("SELECT FROM approvals")).length, 1);
    assert.equal(await begun(incident), 0);
  });
});
