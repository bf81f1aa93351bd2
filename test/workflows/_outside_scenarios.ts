/** Scenarios of acts in the operator's own systems whose histories are recorded. */
import type { WorkflowHandle } from "@temporalio/client";
import { actWorkflowId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import type { OutsideTestSystems, Taking } from "../operations/integrations/_outside_systems.ts";
import { storeAs } from "../_servers.ts";
import type { TestLoop } from "./_loop.ts";

/** Returns the scenarios by the names of their files. */
export function outsideScenarios(
  loop: TestLoop,
  systems: OutsideTestSystems,
  ended: (run: WorkflowHandle) => Promise<WorkflowHandle>,
): Record<string, () => Promise<WorkflowHandle>> {
  async function act(id: string, taking: Taking, workflow = "tqX81"): Promise<WorkflowHandle> {
    systems.taking = taking;
    const order = { act_id: `ACT-0000000000${id}`, decision_id: `GOV-0000000000${id}` };
    const { db } = await storeAs(loop.store, "gateway");
    const wanted = { act: { system: "n8n", workflow, body: {} }, key_id: null };
    await noteCallEffects(db, order.decision_id, { act_id: order.act_id }, wanted);
    return await ended(
      await loop.client.workflow.start(WORKFLOW.outsideAct, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: actWorkflowId(order.act_id),
        args: [order],
      }),
    );
  }
  return {
    "outsideAct.done": () => act("01", "lost"),
    "outsideAct.not_done": () => act("02", "done", "gone"),
    "outsideAct.unknown": () => act("03", "swallowed"),
  };
}
