import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ScheduleOverlapPolicy } from "@temporalio/client";
import pg from "pg";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { openSealer } from "../../ledger/mod.ts";
import type { scrubLedger } from "../../workflows/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { eventually } from "../_time.ts";
import { serveNoEngine } from "./_loop.ts";
import { type LoopBench, openLoopBench } from "./_loop_bench.ts";

/** Receipts of the chain, with the genesis: more than one part of a pass. */
const COUNT = 5_100;
/** An advisory lock of this test. */
const LOCK = 4_711;

describe("scrubLedger", () => {
  let bench: LoopBench;
  before(async () => {
    bench = await openLoopBench({ schedules: ["scrub"], serve: serveNoEngine });
  });
  after(() => bench?.close());

  const start = (workflowId: string) =>
    bench.client.workflow.start<typeof scrubLedger>(WORKFLOW.scrubLedger, {
      taskQueue: TASK_QUEUE.ledger,
      workflowId,
    });

  async function fill(): Promise<void> {
    const sealer = await openSealer(bench.store);
    const fields = { category: "test", actor: "tester", subject: "x", action: "a", outcome: "ok" };
    const asked = await Promise.all(
      Array.from({ length: COUNT - 1 }, () => sealer.request(fields)),
    );
    await Promise.all(asked.map(({ id }) => sealer.sealed(id, { timeoutMs: 120_000 })));
    await sealer.close();
  }

  /** Blocks passes that get beyond a position, until they are released. */
  async function holdBeyond(position: number) {
    const client = new pg.Client({ connectionString: bench.superuserUrl });
    await client.connect();
    await client.query(`SELECT pg_advisory_lock(${LOCK});
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.position > ${position} THEN PERFORM pg_advisory_xact_lock(${LOCK}); END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER hold BEFORE UPDATE ON ledger_scrub FOR EACH ROW EXECUTE FUNCTION hold()`);
    const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND objid = ${LOCK} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return {
      reached: () => eventually(async () => (await client.query(waiting)).rows[0]),
      async release() {
        await client.query(`SELECT pg_terminate_backend(pid, 10000) FROM (${waiting}) AS w`);
        await client.query("DROP TRIGGER hold ON ledger_scrub; DROP FUNCTION hold");
        await client.end();
      },
    };
  }

  it("continues where its worker was killed with -9", async () => {
    const first = await bench.worker("itsm-0");
    first.begin();
    await fill();
    const successor = await bench.worker("itsm-0");
    const held = await holdBeyond(5_000);
    const run = await start("scrub");
    await held.reached();
    first.kill();
    assert.equal(await first.ended, "SIGKILL");
    await held.release();
    const { position, finished_at } = (await bench.store.asPlatform().first(
      "SELECT position, finished_at FROM ledger_scrub",
    ))!;
    assert.ok(Number(position) > 0 && Number(position) <= 5_000, `${position}`);
    assert.equal(finished_at, null);
    successor.begin();
    const { pass, verified, breaks } = await run.result();
    assert.deepEqual({ pass, verified, breaks }, { pass: 1, verified: COUNT, breaks: 0 });
    const { events } = await run.fetchHistory();
    const begun = events!.flatMap((event) =>
      event.activityTaskScheduledEventAttributes?.activityType?.name ?? []
    );
    assert.deepEqual(begun, ["beginScrub", "scrubPart", "scrubPart", "endScrub"]);
  });

  it("finds by the last pass that the end of the chain was cut off, whatever the database says", async () => {
    const schedule = bench.client.schedule.getHandle("sealoop-scrub");
    const passes = async () => (await schedule.describe()).info.recentActions;
    async function scrub(): Promise<{ breaks: number; verified: number }> {
      const count = (await passes()).length;
      // A pass of the schedule may be running, and this one would be skipped.
      await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
      const { action } = await eventually(async () => (await passes())[count]);
      return await bench.client.workflow.getHandle(action.workflow.workflowId).result();
    }
    assert.deepEqual((({ breaks }) => ({ breaks }))(await scrub()), { breaks: 0 });
    const client = new pg.Client({ connectionString: bench.superuserUrl });
    await client.connect();
    await client.query(`SET session_replication_role = replica;
      DELETE FROM receipts WHERE position >= 100;
      DELETE FROM log_tiles; DELETE FROM log_checkpoint; DELETE FROM ledger_scrub;
      UPDATE ledger_head SET size = 100, hash = (SELECT hash FROM receipts WHERE position = 99)`);
    await client.end();
    await rm(join(bench.dataDir, "checkpoint"));
    assert.deepEqual(
      (({ breaks, verified }) => ({ breaks, verified }))(await scrub()),
      { breaks: 1, verified: 100 },
    );
    const found = (await bench.store.asPlatform().first("SELECT * FROM ledger_breaks"))!;
    assert.deepEqual([Number(found.position), found.failed_check], [100, "missing"]);
    assert.match(found.reason, new RegExp(`the last pass knew ${COUNT} receipts`));
    const { messages } = await listMessages(bench.store.asPlatform(), { kind: "ledger.break" }, 10);
    assert.deepEqual(messages.map(({ subject, severity }) => [subject, severity]), [
      ["The ledger is broken at position 100", "critical"],
    ]);
    assert.match(messages[0]!.text, /^position 100 \(missing\): Missing, with all after it/);
  });
});
