import { hash } from "node:crypto";
import {
  approvedActOrder,
  readOrderedAct,
  unlessAway,
} from "../../../operations/integrations/acts/mod.ts";
import { Problem } from "../../../contract/mod.ts";
import {
  type ActResult,
  itemApprovalId,
  type PublishResult,
} from "../../../contract/domain/mod.ts";
import { randomHex, requestSeal } from "../../../ledger/mod.ts";
import { hashFile, openMediaFiles } from "../../../integrations/media/mod.ts";
import type { Db } from "../../../store/mod.ts";
import {
  getMadeMedia,
  getPipelineItem,
  isMediaSource,
  type PipelineItem,
  setItemUrl,
} from "../../../store/articles/mod.ts";
import { endOfAct } from "../../integrations/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import {
  assertBegun,
  byPlatform,
  endItem,
  findEnd,
  hasEnded,
  type ItemRunOrder,
  lockRequiredItem,
  resultOf,
} from "./_item.ts";
import { getMediaFile, type MediaRecord, publishMediaFile } from "../../../store/media/mod.ts";

/** A file to publish. */
interface FileToPublish extends MediaRecord {
  /** Such as `mp4`. */
  readonly name: string;
  /** Receipt that was sealed when it was made, which it names in its manifest. */
  readonly madeReceipt: string;
}

/** Creates the activities that publish what people have approved. */
export function publishItemActivities(parts: ActivityParts) {
  const { store: { db }, config, outside } = parts;

  /**
   * Lets anybody read the files of a film or speech that people have approved, and still may be published. Intent and act are
   * one transaction of our own database, so that they are published and sealed, or neither. Safe to repeat: an item ends once.
   */
  async function publishFiles({ item_id, run }: ItemRunOrder): Promise<PublishResult> {
    const files = await readFiles(await getPipelineItem(db, item_id));
    return await db.transaction(async (trx) => {
      const item = await lockRequiredItem(trx, item_id);
      if (hasEnded(item)) return resultOf(item);
      assertBegun(item);
      const end = await findEnd(parts, trx, item);
      if (end) return await endItem(trx, item, end, run);
      if (!files) {
        const publishing = byPlatform("file_gone");
        return await endItem(trx, item, { stage: "approved", publishing }, run);
      }
      for (const file of files) await publishFile(trx, item, file);
      const publishing = byPlatform("published", "done");
      return await endItem(trx, item, { stage: "published", publishing }, run);
    });
  }

  /** Reads the files of an item, so that none is published that differs from its hash. @returns undefined: one does, or is gone */
  async function readFiles(item: PipelineItem | undefined): Promise<FileToPublish[] | undefined> {
    const { source = null } = item ?? {};
    const made = isMediaSource(source) ? await getMadeMedia(db, source) : undefined;
    if (!made?.files || made.receiptId === null) return undefined;
    const kept = openMediaFiles(config);
    const files: FileToPublish[] = [];
    for (const [name, sha256] of Object.entries(made.files)) {
      const path = await kept.find(sha256);
      const record = await getMediaFile(db, sha256);
      if (!path || !record || (await hashFile(path)).sha256 !== sha256) return undefined;
      files.push({ ...record, name, madeReceipt: made.receiptId });
    }
    return files;
  }

  /** Notes the address of a published post, as the server tells it. Safe to repeat. @throws {Problem} it can't be read now */
  async function noteAddress(
    { item_id, post_id }: { readonly item_id: string; readonly post_id: string },
  ): Promise<void> {
    const { act } = await readOrderedAct(db, approvedActOrder(itemApprovalId(item_id)));
    const { mastodon } = outside;
    if (act.system !== "mastodon" || act.server !== mastodon?.server) return;
    const post = await mastodon.readPost(post_id, act.text);
    if (post && post.url !== null) await setItemUrl(db, item_id, post.url);
  }

  /** Takes over how the act of a post has ended. Safe to repeat: an item ends once. */
  async function takeOverPost(
    { item_id, run }: ItemRunOrder,
    { state, code }: Pick<ActResult, "state" | "code">,
  ): Promise<PublishResult> {
    return await db.transaction(async (trx) => {
      const item = await lockRequiredItem(trx, item_id);
      if (hasEnded(item)) return resultOf(item);
      assertBegun(item);
      const url = item.publishing?.url ?? null;
      const publishing = { by: "platform", state, code, url } as const;
      if (state !== "done") return await endItem(trx, item, { stage: "approved", publishing }, run);
      const textSha256 = hash("sha256", item.text!);
      return await endItem(trx, item, { stage: "published", publishing, textSha256 }, run);
    });
  }

  /**
   * Ends an item whose run ends early: nobody has decided, or its files are not published. A post ends as its act does,
   * which goes on without the run. Safe to repeat: an item ends once.
   *
   * @throws {Problem} `Unavailable`: the act has not ended yet
   */
  async function stopItem(order: ItemRunOrder): Promise<PublishResult> {
    return await stopUnposted(order) ?? await takeOverPost(order, await endOfPost(order));
  }

  /** @returns undefined: its act has the end */
  async function stopUnposted({ item_id, run }: ItemRunOrder): Promise<PublishResult | undefined> {
    return await db.transaction(async (trx) => {
      const item = await lockRequiredItem(trx, item_id);
      if (hasEnded(item)) return resultOf(item);
      const { stage } = item;
      if (stage === "approved" && !isMediaSource(item.source)) return undefined;
      const after = stage === "review" ? "rejected" : stage;
      return await endItem(trx, item, { stage: after, publishing: byPlatform("stopped") }, run);
    });
  }

  async function endOfPost({ item_id }: ItemRunOrder): Promise<ActResult> {
    const act = await endOfAct(parts, approvedActOrder(itemApprovalId(item_id)));
    if (!act) throw new Problem("Unavailable", `The post of ${item_id} has not ended yet`);
    const { execution_id: post_id } = act;
    if (post_id) await unlessAway(noteAddress({ item_id, post_id }), undefined);
    return act;
  }

  return { publishFiles, noteAddress, takeOverPost, stopItem };
}

/** Lets anybody read a file, and requests the receipt that tells its hash plainly. */
async function publishFile(
  trx: Db,
  { item_id, source, approval_id, created_by_key }: PipelineItem,
  { name, sha256, mediaType, bytes, madeReceipt }: FileToPublish,
): Promise<void> {
  if (!isMediaSource(source)) throw new Problem("Internal", `${item_id} has no files`);
  await publishMediaFile(trx, sha256);
  await requestSeal(trx, {
    id: randomHex(16),
    category: "media_published",
    actor: created_by_key === null ? "pipeline" : `key:${created_by_key}`,
    subject: source.id,
    action: "pipeline.publish",
    outcome: "done",
    details: {
      item_id,
      approval_id,
      file: name,
      media_type: mediaType,
      bytes,
      file_sha256: sha256,
      made_receipt: madeReceipt,
    },
  });
}
