import { z } from "zod";
import { countPost, NETWORKS } from "./writing/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import { idOfCall, recoverNoted } from "../../calls/recover/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import {
  addPipelineItem,
  getMadeMedia,
  isMediaSource,
  type MediaSource,
  type NewPipelineItem,
  PIPELINE_KINDS,
} from "../../store/articles/mod.ts";
import { oneLine, trimmedText } from "../schemas/mod.ts";
import { checkSource } from "./_generate.ts";
import {
  exampleItem,
  Network,
  PIPELINE,
  PipelineItem,
  PipelineSource,
  requireItem,
  sealMove,
  toItem,
} from "./_item.ts";
import { startPublishing, waitUntilAsked } from "./_publish.ts";

const Wish = z.object({
  kind: z.enum(PIPELINE_KINDS),
  title: oneLine(1, 200),
  text: trimmedText(1, 10_000).optional().describe("Of a post: exactly what is published"),
  source: PipelineSource.optional(),
  platform: Network.optional().describe("Of a post: the network that it is for; default: mastodon"),
});

type Wish = z.output<typeof Wish>;

/** Adds an item. */
export const captureItem = operation({
  ...PIPELINE,
  name: "pipeline.capture",
  summary: "Add an idea, or something made, to publish",
  description:
    "An idea for an article has a `source`: once a person approves it, the article is written, and waits for a person again. A " +
    "film, speech such as a spoken post, or a post with its text waits for a person at once (`approval_id`), in the " +
    "workflow `publish-…`; approving it publishes it. Posts for Mastodon are published where the operator has set a server; " +
    "all others people publish themselves.",
  effect: "run",
  input: Wish,
  output: PipelineItem,
  rest: { pipeline_capture: "POST /api/pipeline/capture" },
  presentation: {
    ...PIPELINE.presentation,
    hints: { destructive: false },
    errors: ["NotFound", "Conflict", "Unavailable"],
  },
  governance: { rule: "key-decides", check: checkWish },
  durability: {
    sealsItself: true,
    recover: (call, platform) =>
      recoverNoted(platform, call, async ({ ids }) => {
        const item = await requireItem(platform.store.db, ids.item_id!);
        if (item.stage === "review" && item.approval_id === null) {
          await startPublishing(platform, item.item_id);
        }
        return toItem(item);
      }),
  },
  example: {
    input: { kind: "article", title: exampleItem.title, source: { ...exampleItem.source! } },
    output: exampleItem,
  },
  async run(wish, context) {
    const { store, temporal, caller, decisionId } = context;
    await checkWish(wish, context);
    const { kind, title, text = null, source = null, platform = "mastodon" } = wish;
    const isPublished = isToPublish(wish);
    if (isPublished) await temporal(); // while it is away nothing is stored, as the caller is told so
    const stage = isPublished ? "review" : "idea";
    const id = `ITEM-${idOfCall(decisionId, 12)}`;
    const receipt_id = randomHex(16);
    await store.db.transaction(async (trx) => {
      await addPipelineItem(trx, {
        id,
        kind,
        title,
        text,
        source,
        platform: kind === "post" ? platform : null,
        stage,
        receipt_id,
        created_by: caller.principal,
        created_by_key: caller.keyId,
      });
      const action = "pipeline.capture";
      await sealMove(trx, context, { id, receiptId: receipt_id, action, outcome: stage, kind });
      await noteCallEffects(trx, decisionId, { item_id: id });
    });
    if (!isPublished) return toItem(await requireItem(store.db, id));
    await startPublishing(context, id);
    return toItem(await waitUntilAsked(context, id));
  },
});

/** Returns whether an item is published by an approval; all others are ideas. */
function isToPublish({ kind, source, text }: Wish): boolean {
  return isMediaSource(source ?? null) || kind === "post" && text !== undefined;
}

/** @throws {Problem} `NotFound`, `Conflict`: a source can't be written about, or published; `InvalidInput` */
async function checkWish(wish: Wish, { store }: Pick<Context, "store">): Promise<void> {
  const { kind, text, platform } = wish;
  const source: NewPipelineItem["source"] = wish.source ?? null;
  const wanted = kind === "film" || kind === "speech" ? kind : undefined;
  const given = isMediaSource(source) ? source.kind : undefined;
  if (wanted !== given) {
    const item = wanted ?? given;
    throw new Problem("Conflict", `Send ${item} as kind and as kind of the source, with its id`);
  }
  if (kind === "post" && text !== undefined) checkPost(wish, text);
  else if (platform !== undefined) refuse("platform", "Only a post has a platform");
  if (isMediaSource(source)) await requireMade(store.db, source);
  else if (source) await checkSource({ source }, { store });
}

/** @throws {InvalidInput} */
function checkPost({ source, platform = "mastodon" }: Wish, text: string): void {
  if (source) refuse("source", "A post with its text has no source; leave one of them out");
  const { limit } = NETWORKS[platform];
  const length = countPost(platform, text);
  if (length > limit) {
    refuse("text", `Expected at most ${limit} characters for ${platform}, got ${length}`);
  }
}

function refuse(field: string, msg: string): never {
  throw new InvalidInput([{ path: [field], msg, type: "value_error" }]);
}

/** @throws {Problem} `NotFound`; `Conflict`: it is not made */
async function requireMade(db: Db, source: MediaSource): Promise<void> {
  const { kind, id } = source;
  const made = await getMadeMedia(db, source);
  if (!made) throw new Problem("NotFound", `There is no ${kind} ${id}`);
  if (!made.files || made.receiptId === null) {
    throw new Problem("Conflict", `Cannot publish ${id}: it is ${made.state}`);
  }
}
