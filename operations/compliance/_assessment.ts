import {
  assess,
  type AssessedFramework,
  EVIDENCE_RECEIPT_CATEGORIES,
  type Facts,
  type Framework,
  readCatalogue,
  transportOf,
} from "../../compliance/mod.ts";
import { getAnchorTotals, listReceipts } from "../../ledger/mod.ts";
import { countReceiptsByCategory, getStoredFacts } from "../../store/mod.ts";
import type { Context } from "../../calls/mod.ts";

/** An assessment, with what it was made from. */
export interface Assessment {
  readonly facts: Facts;
  readonly frameworks: readonly AssessedFramework[];
}

/** How long one is kept, milliseconds: anybody may ask, and it takes some twenty statements. */
const KEPT_MS = 1_000;
/** Receipts that are looked up of each category. */
const NEWEST = 3;

const kept = new WeakMap<object, { at: number; assessment: Promise<Assessment> }>();
let catalogue: Framework[] | undefined;

/** Holds the controls against what is true now, or was within the last second. */
export function assessment(context: Context): Promise<Assessment> {
  const last = kept.get(context.store);
  if (last && performance.now() - last.at < KEPT_MS) return last.assessment;
  const made = look(context).then((facts) => ({
    facts,
    frameworks: assess(catalogue ??= readCatalogue(), facts),
  }));
  kept.set(context.store, { at: performance.now(), assessment: made });
  made.catch(() => kept.delete(context.store));
  return made;
}

async function look({ store, chain, engine, config }: Context): Promise<Facts> {
  const [stored, counts, anchors, answers, newest] = await Promise.all([
    getStoredFacts(store.asPlatform()),
    countReceiptsByCategory(store.asPlatform()),
    getAnchorTotals(store),
    engine.health().then(({ validate }) => validate, () => false),
    Promise.all(EVIDENCE_RECEIPT_CATEGORIES.map(async (category) => {
      const receipts = await listReceipts(store, { limit: NEWEST, category });
      return [category, receipts.map(({ id, text }) => ({ id, timestamp: timeOf(text) }))] as const;
    })),
  ]);
  const { chain_intact, breaks, total, scrub } = chain.state();
  return {
    ...stored,
    at: new Date().toISOString(),
    transport: transportOf(config),
    chain: { intact: chain_intact, breaks, total, scrubbed_at: scrub?.finished_at ?? null },
    anchors: { confirmed_batches: anchors.confirmedBatches, receipts: anchors.anchoredReceipts },
    engine: answers,
    receipts: Object.fromEntries(
      newest.map(([category, newest]) => [category, { count: counts[category] ?? 0, newest }]),
    ),
  };
}

function timeOf(text: string): string {
  const { timestamp } = JSON.parse(text) as { timestamp?: unknown };
  return typeof timestamp === "string" ? timestamp : "";
}

/** Controls of a framework, or of all, by how they stand. */
export function countStates(frameworks: readonly AssessedFramework[]) {
  const states = frameworks.flatMap(({ controls }) => controls).map(({ state }) => state);
  const count = (wanted: typeof states[number]) => states.filter((one) => one === wanted).length;
  return {
    controls_total: states.length,
    fully_evidenced: count("pass"),
    partial: count("partial"),
    gaps: count("gap"),
  };
}
