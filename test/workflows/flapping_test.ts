import assert from "node:assert/strict";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { FLAPPING, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { putProbeHistories } from "../../store/incidents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { testFolder } from "../_run.ts";
import { type BrokenService, startBrokenService } from "./_broken_service.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { runbookStep, writeRunbooks } from "./_runbooks.ts";
import { readTicketRecord } from "./_ticket_record.ts";

describe("a service that goes up and down", () => {
  let loop: TestLoop;
  let broken: BrokenService;

  before(async () => {
    loop = await openLoop({ settings: { SEALOOP_RUNBOOKS: await writeFlappingRunbook() } });
    const place = { store: loop.store, dataDir: loop.config.dataDir };
    broken = await startBrokenService(place, { name: "flapping" });
    await run("refused"); // it is up again
    const marks = {
      service: "flapping",
      looks: "udududududududududuu",
      flapping: true,
      elapsedMs: null,
    };
    await putProbeHistories(loop.store.db, [marks]);
  });
  after(async () => {
    await broken?.remove();
    await loop?.stop();
  });

  async function writeFlappingRunbook(): Promise<string> {
    const folder = await testFolder();
    await writeRunbooks(folder, {
      "calm-it": {
        match: { services: ["flapping"], types: ["calm"], findings: [{ check: "http" }] },
        repairs_flapping: true,
        steps: [runbookStep("say", { notify: { message: "It was calmed down." } })],
      },
    });
    return folder;
  }

  async function run(code: string) {
    const finding = await createServiceFinding(loop.store, broken.service, code);
    const result = await loop.client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    return { ...result, ...await readTicketRecord(loop.store, result.ticket_id!) };
  }

  it("is diagnosed and left to people while it is up", async () => {
    const starts = await broken.starts();
    const { outcome, receipts, effects, ticket } = await run(FLAPPING);
    const { details } = receipts.at(-1)!;
    assert.deepEqual([outcome, details.reason, details.symptom], ["escalated", FLAPPING, FLAPPING]);
    assert.deepEqual(effects, []);
    assert.equal(ticket.category, "application");
    assert.equal(await broken.starts(), starts, "nothing was restarted");
  });

  it("is repaired by a runbook that says that it repairs such services", async () => {
    await putService(loop.store.db, { ...broken.service, type: "calm" });
    const { outcome, effects } = await run(FLAPPING);
    assert.equal(outcome, "sealed");
    assert.deepEqual(effects.map(({ state }) => state), ["done"]);
  });
});
