/** Scenarios of items of the pipeline whose histories are recorded. */
import type { WorkflowHandle } from "@temporalio/client";
import { publishWorkflowId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { addPipelineItem, type NewPipelineItem } from "../../store/articles/mod.ts";
import { eventually } from "../_time.ts";
import type { TestLoop } from "./_loop.ts";
import { addAudioClip, addMediaFile, finishAudioClip } from "../../store/media/mod.ts";

/** Functions by which scenarios act on runs. */
interface Ways {
  ended(run: WorkflowHandle): Promise<WorkflowHandle>;
  speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<unknown>;
}

/** Returns the scenarios by the names of their files. */
export function publishScenarios(
  loop: TestLoop,
  { ended, speak }: Ways,
): Record<string, () => Promise<WorkflowHandle>> {
  async function start(
    n: string,
    item: Pick<NewPipelineItem, "kind" | "text" | "source" | "platform">,
  ): Promise<WorkflowHandle> {
    const id = `ITEM-0000000000${n}`;
    await addPipelineItem(loop.store.db, {
      id,
      title: "Recorded",
      stage: "review",
      receipt_id: `00000000000000${n}`,
      created_by: "recorder",
      created_by_key: null,
      ...item,
    });
    return await loop.client.workflow.start(WORKFLOW.publish, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: publishWorkflowId(id),
      args: [{ item_id: id }],
    });
  }
  const post = (n: string) =>
    start(n, { kind: "post", text: `Post ${n}`, source: null, platform: "mastodon" });
  /** Returns the approval that a run waits for, once it has begun. */
  async function approvalOf(run: WorkflowHandle): Promise<WorkflowHandle> {
    const approval = loop.client.workflow.getHandle(
      run.workflowId.replace("publish-", "approval-APR-"),
    );
    return await eventually(() => approval.describe().then(() => approval, () => undefined));
  }
  async function decided(run: WorkflowHandle, move: VoteMove): Promise<WorkflowHandle> {
    await speak(await approvalOf(run), move, "ann");
    return await ended(run);
  }

  return {
    "publish.files": async () => {
      const { db } = loop.store;
      const id = "AUD-0000000000c1";
      const file = await openMediaFiles(loop.config).keepBytes("sound");
      await addMediaFile(db, { ...file, mediaType: "audio/mpeg" });
      const speech = { id, kind: "speech", title: "", text: "", voice: "heart" } as const;
      await addAudioClip(db, { ...speech, requestedBy: "recorder" });
      const made = { seconds: 1, sampleRate: 44_100, cues: [], receiptId: "00000000000000c1" };
      await finishAudioClip(db, id, { ...made, sha256: file.sha256 });
      const source = { kind: "speech", id } as const;
      return await decided(
        await start("c1", { kind: "speech", text: null, source, platform: null }),
        "approved",
      );
    },
    "publish.posted": async () => await decided(await post("c2"), "approved"),
    "publish.denied": async () => await decided(await post("c3"), "denied"),
    "publish.cancelled": async () => {
      const run = await post("c4");
      await approvalOf(run);
      await run.cancel();
      return await ended(run);
    },
  };
}
