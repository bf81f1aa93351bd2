import { putQuestion, type StoredQuestion } from "../../../calls/approvals/mod.ts";
import { approvedActOrder, noteApprovedAct } from "../../../operations/integrations/acts/mod.ts";
import { Problem } from "../../../contract/mod.ts";
import {
  type ActOrder,
  itemApprovalId,
  type PublishOrder,
  type PublishResult,
} from "../../../contract/domain/mod.ts";
import { groundsOf } from "../../../contract/records/mod.ts";
import { isMediaSource, movePipelineItem, setItemApproval } from "../../../store/articles/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import {
  actionOf,
  byPlatform,
  endItem,
  findEnd,
  hasEnded,
  type ItemRunOrder,
  lockRequiredItem,
  resultOf,
} from "./_item.ts";

/** The step after people's decision: the item has ended, its files are published, or a post by an act. */
export interface ItemDecision {
  readonly ended: PublishResult | null;
  readonly act: ActOrder | null;
}

/** Creates the activities by which people decide about an item. */
export function askAboutItemActivities(parts: ActivityParts) {
  const { store: { db }, config } = parts;

  /** Stores what people are asked: exactly these files, or this text. Safe to repeat: the item names its approval. */
  async function askAboutItem({ item_id }: PublishOrder): Promise<StoredQuestion> {
    return await db.transaction(async (trx) => {
      const item = await lockRequiredItem(trx, item_id);
      if (item.stage !== "review") {
        throw new Problem("Conflict", `Cannot ask about ${item_id}: it is ${item.stage}`);
      }
      const approvalId = itemApprovalId(item_id);
      const action = await actionOf(parts, trx, item);
      await setItemApproval(trx, item_id, approvalId);
      return await putQuestion(trx, config, {
        id: approvalId,
        subject: item_id,
        description: `Publish the ${item.kind} “${item.title}”`,
        action,
        grounds: groundsOf({
          rule: "pipeline",
          reasons: ["A person decides about everything that is published"],
          evidence: typeof action.made_receipt === "string"
            ? [{ kind: "receipt", id: action.made_receipt }]
            : [],
        }),
        requestedBy: item.created_by,
        requestedByKey: item.created_by_key,
      });
    });
  }

  /** Takes over what people have decided: the database says what. Safe to repeat: an item is decided once. */
  async function decideItem({ item_id, run }: ItemRunOrder): Promise<ItemDecision> {
    return await db.transaction(async (trx) => {
      const item = await lockRequiredItem(trx, item_id);
      if (hasEnded(item)) return { ended: resultOf(item), act: null };
      const approvalId = itemApprovalId(item_id);
      const isPost = !isMediaSource(item.source);
      const next = { ended: null, act: isPost ? approvedActOrder(approvalId) : null };
      if (item.stage === "approved") return next;
      const end = await findEnd(parts, trx, item);
      if (end) return { ended: await endItem(trx, item, end, run), act: null };
      await movePipelineItem(trx, item_id, ["review"], {
        stage: "approved",
        publishing: byPlatform("begun", "intended"),
      });
      if (isPost) {
        const { server } = parts.outside.mastodon!; // that it was approved for
        const act = { system: "mastodon", item: item_id, text: item.text!, server } as const;
        await noteApprovedAct(trx, approvalId, { act, keyId: item.created_by_key });
      }
      return next;
    });
  }

  return { askAboutItem, decideItem };
}
