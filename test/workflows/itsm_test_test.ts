import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { ITSM_TEST, SCENARIOS, STEPS, TASK_QUEUE } from "../../workflows/mod.ts";
import type { itsmTest } from "../../workflows/mod.ts";
import { getTicket, ticketTimeline } from "../../store/mod.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

describe("itsmTest", () => {
  let loop: TestLoop;
  before(async () => {
    loop = await openLoop();
  });
  after(() => loop?.stop());

  for (const scenario of SCENARIOS) {
    it(`heals and seals a service that was broken by ${scenario}`, async () => {
      const id = randomBytes(4).toString("hex");
      const result = await loop.client.workflow.execute<typeof itsmTest>(ITSM_TEST, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `test-${id}`,
        args: [{ id, scenario, requested_by: "key:test" }],
      });
      assert.equal(
        result.outcome,
        "sealed",
        JSON.stringify([
          result,
          result.ticket_id && await ticketTimeline(loop.store.knex, result.ticket_id),
        ]),
      );
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      const ticket = await getTicket(loop.store.knex, result.ticket_id!);
      assert.equal(ticket?.status, "resolved");
      assert.equal(ticket?.receipt_id, result.receipt_id);
      assert.ok((await loop.sealer.sealed(result.receipt_id!)).hash);
    });
  }
});
