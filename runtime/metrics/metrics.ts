import { collectDefaultMetrics, Counter, Gauge, Histogram } from "prom-client";
import { refreshes, registry } from "./_registry.ts";

/** Content type of the text. */
export const CONTENT_TYPE: string = registry.contentType;

const registers = [registry];
const counter = <Label extends string>(name: string, labelNames: Label[], help: string) =>
  new Counter({ name, help, labelNames, registers });

const calls = counter(
  "sealoop_calls_total",
  ["operation", "door", "outcome"],
  "Calls of operations, by how they ended",
);
const callSeconds = new Histogram({
  name: "sealoop_call_duration_seconds",
  help: "Duration of calls",
  labelNames: ["door", "effect"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  registers,
});
const decisions = counter(
  "sealoop_decisions_total",
  ["decision", "effect"],
  "Governance decisions about calls",
);
const loops = counter(
  "sealoop_loops_total",
  ["outcome"],
  "Loops that have ended, by their outcome",
);
const modelUses = counter(
  "sealoop_model_uses_total",
  ["provider", "outcome"],
  "Uses of language models, by how they ended",
);
const modelTokens = counter(
  "sealoop_model_tokens_total",
  ["provider", "direction"],
  "Tokens that language models have used",
);
const modelCost = counter(
  "sealoop_model_cost_usd_total",
  ["provider"],
  "Cost of language models in US dollars, as far as prices are known",
);

/** A call that has ended. */
export interface CallMetric {
  readonly operation: string;
  readonly door: string;
  readonly effect: string;
  /** `success`, `refused` or `failed`. */
  readonly outcome: string;
  readonly seconds: number;
}

/** Counts a call. */
export function countCall({ operation, door, effect, outcome, seconds }: CallMetric): void {
  calls.inc({ operation, door, outcome });
  callSeconds.observe({ door, effect }, seconds);
}

/** Counts a governance decision. */
export function countDecision(decision: string, effect: string): void {
  decisions.inc({ decision, effect });
}

/** Counts a loop that has ended. @param outcome `sealed`, `escalated`, … */
export function countLoop(outcome: string): void {
  loops.inc({ outcome });
}

/** Counts a use of a model that has ended. @param costMicro null: nobody knows the price */
export function countModelUse(
  { provider, outcome, inputTokens, outputTokens, costMicro }: {
    readonly provider: string;
    readonly outcome: string;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costMicro: number | null;
  },
): void {
  modelUses.inc({ provider, outcome });
  modelTokens.inc({ provider, direction: "input" }, inputTokens);
  modelTokens.inc({ provider, direction: "output" }, outputTokens);
  modelCost.inc({ provider }, (costMicro ?? 0) / 1e6);
}

/** Adds the metrics of the program itself: memory, processor, event loop. Once a process. */
export function useProcessMetrics(name: string, version: string): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "sealoop_info",
    help: "1; what runs here",
    labelNames: ["process", "version"],
    registers,
  }).set({ process: name, version }, 1);
}

type Source = () => Promise<string>;
const sources: Source[] = [];

/** Adds metrics of others, in the same form. A source that fails is left out. */
export function addMetrics(source: Source): void {
  sources.push(source);
}

/** Returns all metrics as text. */
export async function renderMetrics(): Promise<string> {
  await Promise.all(refreshes.map((refresh) => refresh()));
  const texts = await Promise.all([
    registry.metrics(),
    ...sources.map((source) => source().catch(() => "")),
  ]);
  return texts.map((text) => text.endsWith("\n") ? text : `${text}\n`).join("");
}
