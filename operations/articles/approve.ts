import { z } from "zod";
import { castVote } from "../../calls/approvals/mod.ts";
import { type Context, operation, type Platform } from "../../calls/mod.ts";
import { notNoted } from "../../calls/recover/mod.ts";
import { isSamePrincipal, type LostCall, Problem, type Recovery } from "../../contract/mod.ts";
import type { ArticleSource } from "../../contract/domain/mod.ts";
import { randomHex } from "../../ledger/mod.ts";
import { getVote } from "../../store/approvals/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import {
  getArticle,
  isMediaSource,
  movePipelineItem,
  type PipelineItem as Item,
} from "../../store/articles/mod.ts";
import { trimmedText } from "../schemas/mod.ts";
import { addWish, startWriting } from "./_generate.ts";
import {
  exampleItem,
  ItemId,
  PIPELINE,
  PipelineItem,
  requireItem,
  sealMove,
  toItem,
} from "./_item.ts";
import { waitUntilPublished } from "./_publish.ts";

type ApproveContext = Context & { readonly decisionId?: string | undefined };

/** Approves an item. */
export const approveItem = operation({
  ...PIPELINE,
  name: "pipeline.approve",
  summary: "Approve an idea, the article that was made of it, a film, speech or a post",
  description:
    "For people: needs a key that was issued with may_approve, whose holder did not add the item. An idea for an article is " +
    "then written. An article, film, speech or post that waits for people is approved as by its approval, and published: " +
    "anybody may read it, and gets a receipt with its SHA-256. The answer waits a moment for that; `publishing` tells what " +
    "became of it. Other items are approved, and people publish them.",
  effect: "run",
  input: z.object({
    item_id: ItemId,
    reason: trimmedText(1, 1_000).optional().describe("Why, for people; it is private evidence"),
  }),
  output: PipelineItem,
  rest: { pipeline_approve: "POST /api/pipeline/approve/{item_id}" },
  presentation: {
    ...PIPELINE.presentation,
    hints: { destructive: false },
    errors: ["NotFound", "Conflict", "Forbidden", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    unnamed: true,
    actsAs: () => ["approvals.approve", "approvals_approve"],
    async check({ item_id }, context) {
      requireApprover(await requireItem(context.store.db, item_id), context);
    },
  },
  durability: { sealsItself: true, recover: recoverApproved },
  example: {
    input: { item_id: exampleItem.item_id },
    output: { ...exampleItem, stage: "draft", article_id: "ART-5b1e09c77a42" },
  },
  async run({ item_id, reason = null }, context) {
    const item = await requireItem(context.store.db, item_id);
    requireApprover(item, context);
    return item.stage === "review"
      ? await approveWaiting(item, reason, context)
      : await approveIdea(item, reason, context);
  },
});

/** Casts the vote on the approval that an item waits for. */
async function approveWaiting(
  { item_id, approval_id, article_id }: Item,
  reason: string | null,
  context: ApproveContext,
) {
  const { store, decisionId } = context;
  if (approval_id === null) {
    const headers = { "retry-after": "5" };
    throw new Problem("Unavailable", `${item_id} has not been asked about yet`, { headers });
  }
  const { approval } = await castVote(
    "approved",
    approval_id,
    { reason },
    context,
    (trx, vote_id) => noteCallEffects(trx, decisionId, { item_id, vote_id }),
  );
  const isAwaited = approval.status === "approved" && article_id === null;
  return toItem(
    isAwaited ? await waitUntilPublished(context, item_id) : await requireItem(store.db, item_id),
  );
}

/**
 * Has an idea written, or leaves it to people. Item, article and receipt change in one transaction before the writing
 * begins, so that of two approvals at once one counts, and one that is lost is found and goes on.
 */
async function approveIdea(item: Item, reason: string | null, context: ApproveContext) {
  const { store, temporal, decisionId } = context;
  const { item_id, kind, source } = item;
  const article = source === null || isMediaSource(source)
    ? undefined
    : { id: articleIdOf(item_id), source };
  if (article) await temporal(); // while it is away nothing is stored, as the caller is told so
  const receiptId = randomHex(16);
  await store.db.transaction(async (trx) => {
    const stage = article ? "draft" : "approved";
    if (article) {
      // Who wants it is who added the item.
      const author = { principal: item.created_by, keyId: item.created_by_key };
      await addWish(trx, article.id, article, author);
    }
    const isMoved = await movePipelineItem(trx, item_id, ["idea"], {
      stage,
      receiptId,
      ...article
        ? { articleId: article.id }
        : { publishing: { by: "people", state: null, code: "idea", url: null } },
    });
    if (!isMoved) throw cannotApprove(await requireItem(trx, item_id));
    const action = "pipeline.approve";
    await sealMove(trx, context, {
      id: item_id,
      receiptId,
      action,
      outcome: stage,
      kind,
      reason,
      unnamed: true,
    });
    await noteCallEffects(trx, decisionId, { item_id });
  });
  if (article) await write(context, article);
  return toItem(await requireItem(store.db, item_id));
}

const articleIdOf = (itemId: string) => itemId.replace(/^ITEM/, "ART");

async function write(
  { temporal, store }: Pick<Platform, "temporal" | "store">,
  { id, source }: { readonly id: string; readonly source: ArticleSource },
): Promise<void> {
  await startWriting({ temporal, store, decisionId: undefined }, id, { source });
}

/**
 * Recovers a lost approval by its note: an article that was not begun is begun, and a vote that was stored is delivered
 * again, and then counts or does not.
 */
async function recoverApproved(call: LostCall, platform: Platform): Promise<Recovery> {
  const { db } = platform.store;
  const effect = await getCallEffects(db, call.decisionId);
  if (!effect) return notNoted(call);
  const { item_id, vote_id } = effect.ids;
  const ids = { item_id: item_id! };
  if (vote_id === undefined) await resumeWriting(item_id!, platform);
  const vote = vote_id === undefined ? undefined : await getVote(db, vote_id);
  if (vote?.refused) return { state: "failed", ids, error: vote.refused };
  if (vote && vote.number === null) {
    throw new Problem("Unavailable", `The vote on ${item_id} has not been counted yet`);
  }
  return { state: "done", ids, output: toItem(await requireItem(db, item_id!)) };
}

async function resumeWriting(itemId: string, platform: Platform): Promise<void> {
  const article = await getArticle(platform.store.db, articleIdOf(itemId));
  if (article?.state === "writing" && article.steps.length === 0) await write(platform, article);
}

/** @throws {Problem} `Forbidden`: this key may not approve, or its holder added the item; `Conflict`: it is not its turn */
function requireApprover(item: Item, { caller, door }: Context): void {
  if (!caller.mayApprove || door !== "rest") {
    throw new Problem(
      "Forbidden",
      `Cannot approve ${item.item_id}: it takes a key that was issued with may_approve, over REST`,
    );
  }
  if (isSamePrincipal(item.created_by, caller.principal)) {
    throw new Problem(
      "Forbidden",
      `Cannot approve ${item.item_id}: its holder added it; ask somebody else`,
    );
  }
  if (item.stage !== "idea" && item.stage !== "review") throw cannotApprove(item);
}

function cannotApprove({ item_id, stage }: Item): Problem {
  return new Problem(
    "Conflict",
    `Cannot approve ${item_id}: it is ${stage}; an idea, or what is in review, can be approved`,
  );
}
