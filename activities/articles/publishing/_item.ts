import { hasApproved } from "../../../calls/approvals/mod.ts";
import { mayStillAct, receiptIdOf } from "../../../calls/mod.ts";
import { Problem } from "../../../contract/mod.ts";
import {
  itemApprovalId,
  PLATFORM_TENANT,
  PUBLISHING_NAMES,
  type PublishOrder,
  type PublishResult,
  type RunId,
} from "../../../contract/domain/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { getApproval } from "../../../store/approvals/mod.ts";
import { findStop } from "../../../store/calls/mod.ts";
import {
  getMadeMedia,
  isMediaSource,
  lockPipelineItem,
  lockPostText,
  movePipelineItem,
  type PipelineItem,
  type PipelineMove,
  type Publishing,
} from "../../../store/articles/mod.ts";
import type { ActivityParts } from "../../parts.ts";

/** An order about one item, by the run that carries it out. */
export interface ItemRunOrder extends PublishOrder {
  readonly run: RunId;
}

/** End of an item: how far it comes, and what became of its publishing. */
export interface ItemEnd extends Pick<PipelineMove, "stage"> {
  readonly publishing: Publishing;
  /** SHA-256 of the published text of a post, by which the ledger is asked for its receipt. */
  readonly textSha256?: string;
}

/** Returns an item and locks it until the transaction ends. @throws {Problem} `NotFound` */
export async function lockRequiredItem(trx: Db, id: string): Promise<PipelineItem> {
  const item = await lockPipelineItem(trx, id);
  if (item) return item;
  throw new Problem("NotFound", `There is no item ${id}`);
}

/** Returns the action that people decide about: these files by their hashes, or this text. */
export async function actionOf(
  { outside, store }: Pick<ActivityParts, "outside" | "store">,
  db: Db,
  item: PipelineItem,
): Promise<Readonly<Record<string, unknown>>> {
  const { item_id, kind, title, source, text, platform } = item;
  if (!isMediaSource(source)) {
    const isOurs = placeOf({ outside, store }, item) === undefined;
    const server = isOurs ? outside.mastodon!.server : null;
    return { publish: kind, item_id, title, platform, server, text };
  }
  const made = await getMadeMedia(db, source);
  return {
    publish: kind,
    item_id,
    title,
    source_id: source.id,
    files: made?.files ?? null,
    made_receipt: made?.receiptId ?? null,
  };
}

/** Returns why people publish a post themselves; undefined: the platform does. */
function placeOf(
  { outside, store }: Pick<ActivityParts, "outside" | "store">,
  { platform }: Pick<PipelineItem, "platform">,
): string | undefined {
  if (platform !== "mastodon") return "other_network";
  if (store.tenant !== PLATFORM_TENANT) return "operator_only";
  return outside.mastodon ? undefined : "not_configured";
}

/** Returns how an item ends without being published, by what people have decided; undefined: it is published now. */
export async function findEnd(
  parts: Pick<ActivityParts, "outside" | "store">,
  trx: Db,
  item: PipelineItem,
): Promise<ItemEnd | undefined> {
  const approval = await getApproval(trx, itemApprovalId(item.item_id));
  if (approval?.status !== "approved") return rejected(approval?.status ?? "gone");
  if (!hasApproved(approval, await actionOf(parts, trx, item))) return rejected("changed");
  if (!await mayStillAct(trx, item.created_by_key)) return rejected("key_invalid");
  const stop = await findStop(trx, { keyId: item.created_by_key, names: PUBLISHING_NAMES });
  if (stop) return { stage: "approved", publishing: byPlatform("stopped") };
  if (isMediaSource(item.source)) return undefined;
  const code = placeOf(parts, item);
  if (code !== undefined) {
    return { stage: "approved", publishing: { by: "people", state: null, code, url: null } };
  }
  // A post whose answer is lost is found by its text, so that another one would prove it.
  const isRepeated = await lockPostText(trx, item.item_id);
  return isRepeated ? { stage: "approved", publishing: byPlatform("same_text") } : undefined;
}

const rejected = (code: string): ItemEnd => ({
  stage: "rejected",
  publishing: byPlatform(code),
});

/** Returns what became of publishing by the platform. */
export function byPlatform(code: string, state: Publishing["state"] = "not_done"): Publishing {
  return { by: "platform", state, code, url: null };
}

/** Returns whether nothing is left to be done for an item. */
export function hasEnded({ stage, publishing }: PipelineItem): boolean {
  return stage !== "review" && publishing?.state !== "intended";
}

/** @throws {Problem} `Conflict`: publishing has not begun, as people have not approved the item */
export function assertBegun({ item_id, stage, publishing }: PipelineItem): void {
  if (stage === "approved" && publishing?.state === "intended") return;
  throw new Problem("Conflict", `Cannot publish ${item_id}: it is ${stage}`);
}

/** Returns the result of an item that has ended. */
export function resultOf({ item_id, stage, publishing, receipt_id }: PipelineItem): PublishResult {
  return { item_id, stage, code: publishing?.code ?? stage, receipt_id };
}

/** Ends an item, and requests the receipt of that. The item is locked, and has not ended. */
export async function endItem(
  trx: Db,
  { item_id, kind, approval_id, created_by_key }: PipelineItem,
  { stage, publishing, textSha256 }: ItemEnd,
  run: RunId,
): Promise<PublishResult> {
  const receipt_id = receiptIdOf(run, "END");
  const { code, state, by } = publishing;
  await movePipelineItem(trx, item_id, ["review", "approved"], {
    stage,
    publishing,
    receiptId: receipt_id,
  });
  await requestSeal(trx, {
    id: receipt_id,
    category: "pipeline_item",
    actor: created_by_key === null ? "pipeline" : `key:${created_by_key}`,
    subject: item_id,
    action: "pipeline.publish",
    outcome: stage,
    details: {
      kind,
      by,
      ...state ? { state } : {},
      code,
      ...approval_id ? { approval_id } : {},
      ...textSha256 ? { file_sha256: textSha256 } : {},
      ...run,
    },
  });
  return { item_id, stage, code, receipt_id };
}
