import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { detectAll, type DetectionContext, recheck } from "../../../judgement/detection/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { reportPlace } from "../../../store/platform/mod.ts";
import { insertRows } from "../../_rows.ts";
import { testTemporal } from "../../_servers.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { asSuperuser } from "../../_superuser.ts";

const QUIET =
  "backlog: 1000000, backlog_seconds: 100000, failed_workflows: 1000000, connections_percent: 100";

describe("platform", () => {
  let context: TestContext;
  let connection: Connection;
  let client: Client;
  before(async () => {
    const place = await testTemporal();
    connection = await Connection.connect({ address: place.address });
    client = new Client({ connection, namespace: place.namespace });
    context = await createTestContext("");
  });
  after(async () => {
    await connection.close();
    await context.close();
  });

  const open = async (block: string): Promise<DetectionContext> => ({
    ...await context.with(`platform: { ${block} }`),
    temporal: () => Promise.resolve(client),
  });
  const sweep = async (block = QUIET) => {
    const { findings, incidents, runs } = await detectAll(await open(block), { save: true });
    const error = runs.find(({ detector }) => detector === "platform")!.error;
    const of = (code: string) =>
      findings.find((one) => one.code === code && one.detail.queue !== "sequencer");
    return { findings, incidents, of, error };
  };

  it("finds a queue without a worker", async () => {
    const { findings, error } = await sweep();
    assert.equal(error, null);
    const queues = findings.map(({ code, detail }) => `${code} ${detail.queue} ${detail.kind}`);
    assert.deepEqual(queues, ["no_worker sequencer workflow", "no_worker sequencer activity"]);
    assert.equal(findings[0]!.service, "sequencer");
  });

  /** Sweeps until a condition holds. The server counts only every few seconds. */
  async function until(
    block: string,
    is: (seen: Awaited<ReturnType<typeof sweep>>) => boolean,
  ): Promise<Awaited<ReturnType<typeof sweep>>> {
    let seen = await sweep(block);
    for (let i = 0; i < 400 && !is(seen); i++) {
      await sleep(250);
      seen = await sweep(block);
    }
    return seen;
  }
  const startNobody = async (count: number, workflowRunTimeout: "1s" | "1h") => {
    for (let i = 0; i < count; i++) {
      const workflowId = `waits-${workflowRunTimeout}-${i}`;
      await client.workflow.start("nobody", { taskQueue: "itsm", workflowId, workflowRunTimeout });
    }
  };

  it("finds a backlog", async () => {
    await startNobody(5, "1h");
    const { of } = await until(QUIET, ({ of }) => Number(of("no_worker")?.detail.tasks) === 5);
    const { service, detail } = of("no_worker")!;
    assert.deepEqual([service, detail.queue, detail.kind], ["worker", "itsm", "workflow"]);
  });

  it("finds failed workflows", async () => {
    await startNobody(3, "1s");
    const block = QUIET.replace("failed_workflows: 1000000", "failed_workflows: 3");
    const found = (await until(block, ({ of }) => of("workflows_failed") !== undefined))
      .of("workflows_failed")!;
    assert.deepEqual([found.detail.workflows, found.detail.types], [3, ["nobody"]]);
    assert.equal((await recheck(await open(block), found, "before"))?.present, true);
    assert.deepEqual(await recheck(await open(QUIET), found, "after"), {
      present: false,
      code: "ok",
    });
  });

  it("finds a break of the ledger, as a critical incident, until it is healed", async () => {
    const db = context.store.asPlatform();
    await db.execute(
      `INSERT INTO ledger_breaks (position, failed_check, reason, last_seen_pass)
       VALUES (7, 'hash', 'x', 1)`,
    );
    const { of, incidents } = await sweep();
    const found = of("ledger_broken")!;
    const { severity, service, detail } = found;
    assert.deepEqual([severity, service, detail.first], ["critical", "public-ledger", 7]);
    assert.equal(incidents[0]!.code, "ledger_broken");
    await db.execute("UPDATE ledger_breaks SET healed_at = now()");
    assert.equal((await sweep()).of("ledger_broken"), undefined);
    const row = await db.first("SELECT cleared_at FROM findings WHERE code = 'ledger_broken'");
    assert.notEqual(row!.cleared_at, null);
  });

  it("finds receipts that wait too long to be sealed", async () => {
    const put = (secondsAgo: number) =>
      insertRows(asSuperuser(context.store), "seal_outbox", [{
        id: `waits-${secondsAgo}`,
        category: "test",
        payload: JSON.stringify({
          timestamp: new Date(Date.now() - secondsAgo * 1_000).toISOString(),
        }),
      }]);
    await put(10);
    assert.equal((await sweep()).of("outbox_old"), undefined);
    const database = openStore(context.sequencerUrl, "sequencer", 1); // the only role that may delete from it
    await asSuperuser(database).execute("DELETE FROM seal_outbox");
    await put(300);
    await put(5);
    const found = (await sweep()).of("outbox_old")!;
    assert.equal(found.detail.waiting, 2);
    assert.ok(Number(found.detail.oldest_seconds) >= 300);
    await asSuperuser(database).execute("DELETE FROM seal_outbox");
    await database.close();
    assert.equal((await recheck(await open(QUIET), found, "after"))?.present, false);
  });

  it("finds that the database's connections run out", async () => {
    const found = (await sweep(QUIET.replace("percent: 100", "percent: 1"))).of(
      "connections_exhausted",
    )!;
    assert.equal(found.service, "postgresql");
    assert.ok(Number(found.detail.connections) >= 1);
  });

  it("finds each place without a worker, until one is back, or it has no service and is forgotten", async () => {
    const superuser = asSuperuser(context.store);
    const silence = (name: string, time: string) =>
      superuser.execute(
        `INSERT INTO places (name, heard_at) VALUES ($1, now() - $2::interval)
         ON CONFLICT (name) DO UPDATE SET heard_at = excluded.heard_at`,
        [name, time],
      );
    for (const name of ["n1", "n2"]) await silence(name, "61 seconds");
    await silence("n3", "59 seconds");
    const { findings, incidents } = await sweep();
    const away = findings.filter(({ code }) => code === "place_away");
    assert.deepEqual(away.map(({ service, detail }) => [service, detail.place]), [
      ["worker", "n1"],
      ["worker", "n2"],
    ]);
    assert.equal(incidents.filter(({ code }) => code === "place_away").length, 2);
    const [n1, n2] = away;
    await reportPlace(context.store.asPlatform(), "n1");
    assert.deepEqual(await recheck(await open(QUIET), n1!, "before"), {
      present: false,
      code: "ok",
    });
    assert.equal((await recheck(await open(QUIET), n2!, "before"))?.present, true);
    await silence("n2", "2 days");
    assert.equal((await sweep()).of("place_away"), undefined);
    const [billing] = await superuser.query<{ readonly name: string }>(
      `INSERT INTO services (name, type, host, origin, at_place) VALUES ('billing', 'web', 'x', 'file', 'n2') RETURNING name`,
    );
    assert.equal((await sweep()).of("place_away")?.detail.place, "n2");
    await superuser.execute("DELETE FROM services WHERE name = $1", [billing!.name]);
    assert.equal((await sweep()).of("place_away"), undefined);
  });

  it("reports the aspects that it could not look at, and the others all the same", async () => {
    const { runs } = await detectAll(await context.with(`platform: { ${QUIET} }`), {
      save: false,
    });
    const { error, probed } = runs.find(({ detector }) => detector === "platform")!;
    assert.deepEqual([error, probed], ["backlog_not_seen failed_workflows_not_seen", 6]);
  });
});
