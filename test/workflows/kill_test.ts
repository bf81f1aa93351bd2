import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { findingOf, restart, stopManaged } from "../../integrations/mod.ts";
import { exportReceipts, ledgerKeys, verifyChain } from "../../ledger/mod.ts";
import { putService } from "../../store/mod.ts";
import { ITSM_LOOP, type LoopResult, TASK_QUEUE } from "../../workflows/mod.ts";
import { freePort } from "../_servers.ts";
import { type LoopBench, loopBench } from "./_loop_bench.ts";

/** The activity of each step. */
const STEPS = {
  DETECT: "detect",
  TICKET: "openTicket",
  DIAGNOSE: "diagnose",
  REMEDIATE: "remediate",
  VERIFY: "verify",
  "CLOSE+SEAL": "closeAndSeal",
} as const;

/** After its work a step is killed where that work can't simply be done again. */
const WHEN: Readonly<Record<keyof typeof STEPS, readonly ("before" | "after")[]>> = {
  DETECT: ["before"],
  TICKET: ["before"],
  DIAGNOSE: ["before"],
  REMEDIATE: ["before", "after"],
  VERIFY: ["before"],
  "CLOSE+SEAL": ["before", "after"],
};

describe("a worker that is killed with -9", function () {
  this.timeout(90_000);
  let bench: LoopBench;
  let next = 0;
  before(async () => {
    bench = await loopBench();
  });
  after(async () => {
    await bench.close();
    for (let n = 0; n < next; n++) await stopManaged(bench.dataDir, `victim-${n}`);
  });

  for (const [step, activity] of Object.entries(STEPS)) {
    for (const when of WHEN[step as keyof typeof STEPS]) {
      it(`${when === "before" ? "at the start" : "after the work, before its report,"} of ${step}: sealed, restarted once`, async () => {
        const { finding, starts } = await brokenService();
        const doomed = await bench.work({ when, activity });
        const ended = once(doomed, "exit");
        const handle = await bench.client.workflow.start(ITSM_LOOP, {
          taskQueue: TASK_QUEUE.itsm,
          workflowId: `loop-${finding.fingerprint}`,
          args: [finding],
        });
        const [, signal] = await ended;
        assert.equal(signal, "SIGKILL");
        const heir = await bench.work();
        const result = await handle.result() as LoopResult;
        assert.equal(result.outcome, "sealed");
        assert.equal(starts(), 1);
        await assertWhole(result.receipt_id!);
        heir.kill("SIGKILL");
        await once(heir, "exit");
      });
    }
  }

  /** A service that is down, and whose runbook starts it. */
  async function brokenService() {
    const name = `victim-${next++}`;
    const folder = join(bench.dataDir, name);
    mkdirSync(folder, { recursive: true });
    const port = await freePort();
    const service = {
      name,
      type: "service",
      host: "127.0.0.1",
      owner: null,
      origin: "file" as const,
      check: { http: `http://127.0.0.1:${port}/health` },
      restart: {
        process: {
          command: [
            process.execPath,
            join(ROOT, "integrations", "test_service.js"),
            String(port),
            folder,
          ],
        },
      },
      watched: true,
      dependsOn: [],
    };
    await putService(bench.store.knex, service);
    const starts = () => readFileSync(join(folder, "starts.log"), "utf8").trim().split("\n").length;
    return { finding: findingOf(service, "refused"), starts };
  }

  async function assertWhole(receiptId: string): Promise<void> {
    const receipts = await exportReceipts(bench.store, { from: 0, to: 10_000 });
    assert.ok(receipts.some(({ id }) => id === receiptId));
    const { breaks } = await verifyChain(
      receipts.map(({ text }) => text),
      await ledgerKeys(bench.store),
    );
    assert.deepEqual(breaks, []);
  }
});

describe("restart()", () => {
  it("is found to have happened by whoever asks with the same effect id", async () => {
    const { testFolder } = await import("../_servers.ts");
    const { whatHappened } = await import("../../integrations/mod.ts");
    const order = {
      dataDir: await testFolder(),
      effectId: "ab".repeat(12),
      service: "touch",
      restart: { command: ["true"] },
    };
    assert.deepEqual(await whatHappened(order), { state: "not_done", code: "not_started" });
    assert.deepEqual(await restart(order), { state: "done", code: "exit_0" });
    assert.deepEqual(await whatHappened(order), { state: "done", code: "exit_0" });
  });
});
