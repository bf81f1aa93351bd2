import type { Config } from "../../config.ts";
import type { Engine } from "../engine/mod.ts";
import { type ChainWatch, getAnchorTotals, listReceipts } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { countReceiptsByCategory, getStoredFacts } from "../../store/platform/mod.ts";
import { assess, type AssessedFramework, type ControlState } from "./assess.ts";
import { type Framework, readCatalogue } from "./catalogue.ts";
import { EVIDENCE_RECEIPT_CATEGORIES } from "./evidence.ts";
import { type Facts, transportOf } from "./facts.ts";

/** The parts of the platform that an assessment reads. */
export interface AssessmentParts {
  readonly store: Store;
  readonly chain: ChainWatch;
  readonly engine: Engine;
  readonly config: Config;
}

/** An assessment, and the facts that it is made from. */
export interface Assessment {
  readonly facts: Facts;
  readonly frameworks: readonly AssessedFramework[];
}

/** Counts of controls by state. */
export interface ControlCounts {
  readonly controls_total: number;
  readonly fully_evidenced: number;
  readonly partial: number;
  readonly gaps: number;
}

/** An assessment takes some twenty statements, and anybody may ask for it. */
const CACHE_MS = 1_000;
/** Receipts of each category that an assessment names. */
const MAX_NEWEST_RECEIPTS = 3;

const cache = new WeakMap<object, { at: number; assessment: Promise<Assessment> }>();
let catalogue: Framework[] | undefined;

/** Assesses the controls by the facts as they are now, or were within the last second. */
export function assessPlatform(parts: AssessmentParts): Promise<Assessment> {
  const cached = cache.get(parts.store.pool);
  if (cached && performance.now() - cached.at < CACHE_MS) return cached.assessment;
  const assessment = readFacts(parts).then((facts) => ({
    facts,
    frameworks: assess(catalogue ??= readCatalogue(), facts),
  }));
  cache.set(parts.store.pool, { at: performance.now(), assessment });
  assessment.catch(() => cache.delete(parts.store.pool));
  return assessment;
}

/** Counts the controls of frameworks by state. */
export function countControls(frameworks: readonly AssessedFramework[]): ControlCounts {
  const states = frameworks.flatMap(({ controls }) => controls).map(({ state }) => state);
  const count = (wanted: ControlState) => states.filter((state) => state === wanted).length;
  return {
    controls_total: states.length,
    fully_evidenced: count("pass"),
    partial: count("partial"),
    gaps: count("gap"),
  };
}

async function readFacts({ store, chain, engine, config }: AssessmentParts): Promise<Facts> {
  const [stored, counts, anchors, isEngineReady, newest, state] = await Promise.all([
    getStoredFacts(store.asPlatform()),
    countReceiptsByCategory(store.asPlatform()),
    getAnchorTotals(store),
    engine.health().then(({ validate }) => validate, () => false),
    Promise.all(EVIDENCE_RECEIPT_CATEGORIES.map((category) => newestReceipts(store, category))),
    chain.look(),
  ]);
  const { chain_intact, breaks, total, scrub } = state;
  return {
    ...stored,
    at: new Date().toISOString(),
    transport: transportOf(config),
    chain: { intact: chain_intact, breaks, total, scrubbed_at: scrub?.finished_at ?? null },
    anchors: { confirmed_batches: anchors.confirmedBatches, receipts: anchors.anchoredReceipts },
    engine: isEngineReady,
    receipts: Object.fromEntries(
      EVIDENCE_RECEIPT_CATEGORIES.map((category, n) => [
        category,
        { count: counts[category] ?? 0, newest: newest[n]! },
      ]),
    ),
  };
}

async function newestReceipts(store: Store, category: string) {
  const receipts = await listReceipts(store, { limit: MAX_NEWEST_RECEIPTS, category });
  return receipts.map(({ id, text }) => ({ id, timestamp: timestampOf(text) }));
}

function timestampOf(text: string): string {
  const { timestamp } = JSON.parse(text) as { timestamp?: unknown };
  return typeof timestamp === "string" ? timestamp : "";
}
