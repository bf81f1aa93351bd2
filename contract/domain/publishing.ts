/** Publishing of what is in the pipeline: films, speech and posts. */

/** Stages of an item of the pipeline, in order; a rejected item goes no further. */
export const PIPELINE_STAGES = [
  "idea",
  "draft",
  "review",
  "approved",
  "published",
  "rejected",
] as const;

/** Stage of an item. */
export type PipelineStage = typeof PIPELINE_STAGES[number];

/** States of what became of an item's publishing. `intended`: it has begun. */
export const PUBLISHING_STATES = ["intended", "done", "not_done", "unknown"] as const;

/** Names of the operations that have something published. A stop on one of them applies. */
export const PUBLISHING_NAMES = [
  "pipeline.capture",
  "pipeline_capture",
  "pipeline.approve",
  "pipeline_approve",
] as const;

/** An order to have people decide about one item, and to publish it. */
export interface PublishOrder {
  readonly item_id: string;
}

/** Result of the workflow that publishes an item. */
export interface PublishResult extends PublishOrder {
  readonly stage: PipelineStage;
  /** `done`, or why it is not published by the platform: `denied`, `file_gone`, `not_configured`, … */
  readonly code: string;
  readonly receipt_id: string;
}

/** Returns the id of the workflow that publishes an item. */
export function publishWorkflowId(itemId: string): string {
  return itemId.replace(/^ITEM-/, "publish-");
}

/** Returns the id of the approval that an item waits for. */
export function itemApprovalId(itemId: string): string {
  return itemId.replace(/^ITEM-/, "APR-");
}
