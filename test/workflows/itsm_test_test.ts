import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { WorkflowFailedError } from "@temporalio/client";
import { SCENARIOS, STEPS, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { stopManagedProcess } from "../../integrations/host/mod.ts";
import { getTicket, listTicketEvents } from "../../store/incidents/mod.ts";
import { listTestServiceNames } from "../../store/cmdb/mod.ts";
import type { itsmTest } from "../../workflows/mod.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";

describe("itsmTest", () => {
  let loop: TestLoop;
  let watch: Watch = () => {};
  before(async () => {
    loop = await openLoop({ watch: (...seen) => watch(...seen) });
  });
  after(() => loop?.stop());

  for (const scenario of SCENARIOS) {
    it(`heals and seals a service that was broken by ${scenario}`, async () => {
      const id = randomBytes(4).toString("hex");
      const result = await loop.client.workflow.execute<typeof itsmTest>(WORKFLOW.itsmTest, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `test-${id}`,
        args: [{ id, scenario, requested_by: "key:test" }],
      });
      assert.equal(
        result.outcome,
        "sealed",
        JSON.stringify([
          result,
          result.ticket_id && await listTicketEvents(loop.store.asPlatform(), result.ticket_id),
        ]),
      );
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      const ticket = await getTicket(loop.store.asPlatform(), result.ticket_id!);
      assert.equal(ticket?.status, "resolved");
      assert.equal(ticket?.receipt_id, result.receipt_id);
      assert.ok((await loop.sealer.sealed(result.receipt_id!)).hash);
    });
  }

  it("fails, and leaves nothing behind, if its service ends before it could be broken", async () => {
    const id = randomBytes(4).toString("hex");
    let attempts = 0;
    watch = async (moment, activity) => {
      if (moment !== "before" || activity !== "breakTestService") return;
      attempts++;
      await stopManagedProcess(loop.config.dataDir, `test-${id}`); // as if the platform was killed
    };
    const running = loop.client.workflow.execute<typeof itsmTest>(WORKFLOW.itsmTest, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `test-${id}`,
      args: [{ id, scenario: "wrong_answers", requested_by: "key:test" }],
    });
    await assert.rejects(running, (error: unknown) => {
      assert.ok(error instanceof WorkflowFailedError);
      assert.equal(
        (error.cause?.cause as Error | undefined)?.message,
        `The test service test-${id} ended before it could be broken`,
      );
      return true;
    });
    assert.equal(attempts, 1, "it is not retried");
    assert.ok(!(await listTestServiceNames(loop.store.asPlatform())).includes(`test-${id}`));
  });
});
