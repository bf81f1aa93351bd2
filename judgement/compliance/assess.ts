import type { EvidenceResult, EvidenceState } from "./_evidence.ts";
import type { Control, Framework, FrameworkName } from "./catalogue.ts";
import { EVIDENCE, type EvidenceName } from "./evidence.ts";
import { type Facts, receiptsOf } from "./facts.ts";

/** State of a control: all of its evidence is there, some, or none. */
export type ControlState = "pass" | "partial" | "gap";

/** A piece of evidence for a control. */
interface ControlEvidence extends EvidenceResult {
  readonly name: EvidenceName;
}

/** An assessed control. */
export interface AssessedControl extends Pick<Control, "id" | "category" | "title"> {
  readonly framework: FrameworkName;
  readonly state: ControlState;
  /** 0 to 1. */
  readonly share: number;
  readonly evidence: readonly ControlEvidence[];
  /** Receipts that prove it, newest first. */
  readonly receipts: readonly ProvingReceipt[];
}

/** A receipt that proves a control. */
interface ProvingReceipt {
  readonly id: string;
  readonly category: string;
  readonly timestamp: string;
}

/** An assessed framework. */
export interface AssessedFramework extends Pick<Framework, "framework" | "title" | "status"> {
  /** 0 to 100, one decimal: the mean of the controls' shares. */
  readonly score: number;
  readonly controls: readonly AssessedControl[];
}

const WORTH: Readonly<Record<EvidenceState, number>> = {
  met: 1,
  partly: 0.5,
  missing: 0,
  not_configured: 0,
};
const MAX_RECEIPTS = 5;

/** Assesses all controls by the facts. The same facts give the same assessment. */
export function assess(catalogue: readonly Framework[], facts: Facts): AssessedFramework[] {
  const found = new Map<EvidenceName, ControlEvidence>();
  for (const name of Object.keys(EVIDENCE) as EvidenceName[]) {
    found.set(name, { name, ...EVIDENCE[name].find(facts) });
  }
  return catalogue.map(({ framework, title, status, controls }) => {
    const assessed = controls.map((control) => assessControl(framework, control, found, facts));
    const mean = assessed.reduce((sum, { share }) => sum + share, 0) / assessed.length;
    return { framework, title, status, score: Math.round(1_000 * mean) / 10, controls: assessed };
  });
}

function assessControl(
  framework: FrameworkName,
  { id, category, title, evidence }: Control,
  found: ReadonlyMap<EvidenceName, ControlEvidence>,
  facts: Facts,
): AssessedControl {
  const results = evidence.map((name) => found.get(name)!);
  const share = results.reduce((sum, { state }) => sum + WORTH[state], 0) / results.length;
  const categories = new Set(
    evidence.flatMap((name): readonly string[] => EVIDENCE[name].receipts),
  );
  return {
    framework,
    id,
    category,
    title,
    share: Math.round(100 * share) / 100,
    evidence: results,
    state: share === 1 ? "pass" : share > 0 ? "partial" : "gap",
    receipts: [...categories]
      .flatMap((category) =>
        receiptsOf(facts, category).newest.map(({ id, timestamp }) => ({ id, category, timestamp }))
      )
      .sort((a, b) => a.timestamp < b.timestamp ? 1 : -1).slice(0, MAX_RECEIPTS),
  };
}

/** A risk because evidence is missing. */
export interface Risk {
  readonly id: EvidenceName;
  readonly title: string;
  readonly impact: "low" | "medium" | "high";
  /** Missing evidence makes it likely, partial evidence possible. */
  readonly likelihood: "possible" | "likely";
  /** 1 to 6: impact times likelihood. */
  readonly rating: number;
  readonly because: string;
  readonly treatment: string;
  /** Controls that require the evidence, as `soc2 CC6.1`. */
  readonly controls: readonly string[];
}

const IMPACT = { low: 1, medium: 2, high: 3 } as const;

/** Derives the risks from missing evidence, highest rating first. */
export function deriveRisks(frameworks: readonly AssessedFramework[]): Risk[] {
  const all = frameworks.flatMap(({ controls }) => controls);
  const lacking = new Map(
    all.flatMap(({ evidence }) => evidence).filter(({ state }) => state !== "met")
      .map((one) => [one.name, one]),
  );
  return [...lacking.values()].map(({ name, state, because }): Risk => {
    const { title, impact, treatment } = EVIDENCE[name].risk;
    const likelihood = state === "partly" ? "possible" : "likely";
    return {
      id: name,
      title,
      impact,
      likelihood,
      because,
      treatment,
      rating: IMPACT[impact] * (likelihood === "likely" ? 2 : 1),
      controls: all.filter(({ evidence }) => evidence.some((one) => one.name === name))
        .map(({ framework, id }) => `${framework} ${id}`),
    };
  }).sort((a, b) => b.rating - a.rating || (a.id < b.id ? -1 : 1));
}
