import {
  CancellationScope,
  executeChild,
  setCurrentDetails,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import {
  type ActOrder,
  type ActResult,
  actWorkflowId,
  ATTRIBUTE,
  type PublishOrder,
  type PublishResult,
} from "../contract/domain/mod.ts";
import { askPeople, outliving } from "./_ask_people.ts";
import { resultOrReason } from "./_drafts.ts";
import { LONG, perform, PROOF, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";
import { outsideAct } from "./outside_act.ts";

/**
 * Has people decide about one item of the pipeline, and publishes it. Its id is `publish-<id>`.
 *
 * Files are published in one transaction of our own database. A post is an act outside: its intent is sealed, there is one
 * attempt, and what the network shows proves it. The run can be cancelled as long as people have not decided.
 */
export async function publish({ item_id }: PublishOrder): Promise<PublishResult> {
  const order = { item_id, run: currentRun() };
  try {
    await ask(item_id);
    return end(await CancellationScope.nonCancellable(() => publishApproved(item_id)));
  } catch {
    return end(
      await CancellationScope.nonCancellable(() =>
        perform(SEAL, `Stops ${item_id}`).stopItem(order)
      ),
    );
  }
}

async function ask(item_id: string): Promise<void> {
  const asked = await perform(SEAL, `Asks about ${item_id}`).askAboutItem({ item_id });
  setCurrentDetails(`**review** · waits for people: ${asked.approval_id}`);
  await askPeople({ ...asked, subject: item_id }, `Publish ${item_id}?`);
}

async function publishApproved(item_id: string): Promise<PublishResult> {
  const order = { item_id, run: currentRun() };
  const { ended, act } = await perform(SEAL, `Takes over what became of ${item_id}`)
    .decideItem(order);
  if (ended) return ended;
  setCurrentDetails("**approved** · publishes");
  if (!act) return await perform(LONG, `Publishes the files of ${item_id}`).publishFiles(order);
  const result = await postOnce(act);
  const { execution_id: post_id } = result;
  if (result.state === "done" && post_id) {
    await resultOrReason(
      () => perform(PROOF, `Reads the address of ${item_id}`).noteAddress({ item_id, post_id }),
      "it can't be read",
    );
  }
  return await perform(SEAL, `Seals the end of ${item_id}`).takeOverPost(order, result);
}

/** The act outlives this run, and seals its own end. */
async function postOnce(act: ActOrder): Promise<ActResult> {
  return await executeChild(outsideAct, {
    ...outliving(actWorkflowId(act.act_id)),
    args: [act],
    staticSummary: `Does ${act.act_id}`,
  });
}

function end(result: PublishResult): PublishResult {
  const { stage, code, receipt_id } = result;
  setCurrentDetails(`**${stage}** · ${code}`);
  upsertSearchAttributes([
    { key: ATTRIBUTE.outcome, value: stage },
    { key: ATTRIBUTE.receipt, value: receipt_id },
  ]);
  return result;
}
