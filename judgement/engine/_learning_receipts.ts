/** Seals what the engine learns, in the transaction that stores it. */
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { KnowledgeChange, NewPassage, ResolvedTicket } from "../../store/learning/mod.ts";
import { lessonReceiptId } from "./arbiter.ts";

const ACTOR = "engine";

/** Seals a change of the articles that ship with the product. */
export async function sealArticleChange(
  trx: Db,
  { added, changed, withdrawn, before, after }: KnowledgeChange,
): Promise<void> {
  await requestSeal(trx, {
    category: "config_change",
    actor: ACTOR,
    subject: "knowledge",
    action: "knowledge.store",
    outcome: "stored",
    details: {
      device: "knowledge",
      change_type: "articles",
      before_hash: before,
      after_hash: after,
      diff_summary:
        `${added.length} added, ${changed.length} changed, ${withdrawn.length} withdrawn`,
      ...(changed.length > 0 ? { changed } : {}),
      ...(withdrawn.length > 0 ? { withdrawn } : {}),
    },
  });
}

/** Seals that a resolved ticket became a passage of the knowledge base. */
export async function sealLesson(
  trx: Db,
  { id, receipt_id }: ResolvedTicket,
  { category, sha256 }: Pick<NewPassage, "category" | "sha256">,
): Promise<void> {
  await requestSeal(trx, {
    id: lessonReceiptId(id),
    category: "learning_receipt",
    actor: ACTOR,
    subject: id,
    action: "knowledge.learn",
    outcome: "learnt",
    details: { category },
    ...(receipt_id ? { learned_from: [receipt_id] } : {}),
    evidence: { passage: { id, sha256 } },
  });
}
