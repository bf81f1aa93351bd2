import { type Learning, lessonReceiptId } from "./mod.ts";
import { requestSeal } from "../ledger/mod.ts";

const ACTOR = "engine";

/** Seals what the engine learns, in the transaction in which it does. */
export const sealedLearning: Learning = {
  async articles(trx, { added, changed, withdrawn, before, after }) {
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
  },
  async incident(trx, { id, receipt_id }, { category, sha256 }) {
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
  },
};
