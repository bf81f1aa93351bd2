import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type AttackCounts,
  ATTACKS,
  type AttackScenario,
  STEPS,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { findManagedProcess } from "../../integrations/host/mod.ts";
import { getTicket, listTicketEvents } from "../../store/incidents/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import type { attackSimulation } from "../../workflows/mod.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

/** The code by which each attack is detected, and what it must have done by then. */
const EXPECTED: Readonly<Record<AttackScenario, [code: string, count: keyof AttackCounts]>> = {
  ssh_brute_force: ["brute_force", "attempts"],
  port_scan: ["port_scan", "ports_scanned"],
  ransomware: ["status_500", "files_altered"],
  exfiltration: ["status_509", "bytes_out"],
  crash_loop: ["status_503", "crashes"],
};

describe("attackSimulation", () => {
  let loop: TestLoop;
  /** Name of a sandbox that is killed as soon as its incident is sealed. */
  let doomed: string | undefined;
  before(async () => {
    loop = await openLoop({
      watch(moment, activity) {
        if (!doomed || moment !== "after" || activity !== "closeAndSeal") return;
        const sandbox = findManagedProcess(loop.config.dataDir, doomed); // none at a second attempt
        if (sandbox) process.kill(sandbox.pid, "SIGKILL");
      },
    });
  });
  after(() => loop?.stop());

  const attack = (id: string, scenario: AttackScenario) =>
    loop.client.workflow.execute<typeof attackSimulation>(WORKFLOW.attackSimulation, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `attack-${id}`,
      args: [{ id, scenario, requested_by: "key:test" }],
    });

  for (const scenario of ATTACKS) {
    it(`is detected, contained and sealed: ${scenario}`, async () => {
      const result = await attack(randomBytes(4).toString("hex"), scenario);
      const events = result.ticket_id &&
        await listTicketEvents(loop.store.asPlatform(), result.ticket_id);
      assert.equal(result.outcome, "sealed", JSON.stringify([result, events]));
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      const [code, count] = EXPECTED[scenario];
      assert.equal(result.found, code);
      const counts = result.counts!;
      assert.ok(counts[count] > 0, JSON.stringify(counts));
      if (scenario === "ransomware") assert.ok(counts.files_restored > 0);
      const ticket = await getTicket(loop.store.asPlatform(), result.ticket_id!);
      assert.equal(ticket?.receipt_id, result.receipt_id);
      assert.ok((await loop.sealer.sealed(result.receipt_id!)).hash);
      assert.equal(
        await getService(loop.store.asPlatform(), result.service),
        undefined,
        "the service is removed",
      );
      const folders = join(loop.config.dataDir, "test-services");
      const places = await loop.store.asPlatform().query("SELECT FROM log_places");
      assert.deepEqual(places, [], "its log's position is removed");
      assert.deepEqual(
        existsSync(folders) ? readdirSync(folders) : [],
        [],
        "its folder is removed",
      );
    });
  }

  it("ends without counts where its sandbox has ended", async () => {
    const id = randomBytes(4).toString("hex");
    doomed = `attack-${id}`;
    const { outcome, counts } = await attack(id, "ransomware");
    assert.deepEqual({ outcome, counts }, { outcome: "sealed", counts: null });
    assert.equal(await getService(loop.store.asPlatform(), doomed), undefined, "it is removed");
  });
});
