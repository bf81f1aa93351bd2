import { z } from "zod";
import {
  type AssessedControl,
  type AssessedFramework,
  countControls,
  EVIDENCE,
  type EvidenceName,
  FRAMEWORKS,
} from "../../judgement/compliance/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** A score. */
const Score = z.object({
  score: z.number().min(0).max(100),
  max: z.literal(100),
  status: z.string().describe("internal_assessment: the platform assessed itself"),
});

const ControlState = z.enum(["pass", "partial", "gap"]);

/** Counts of controls by state. */
export const Counts = z.object({
  controls_total: z.number().int(),
  fully_evidenced: z.number().int(),
  partial: z.number().int(),
  gaps: z.number().int(),
});

/** Name of a framework. */
export const FrameworkName = z.enum(FRAMEWORKS);

/** Scores of all frameworks. */
export const Scores = z.object({
  nist_csf: Score,
  hipaa: Score,
  soc2: Score.extend({
    ...Counts.shape,
    breakdown: z.array(z.object({ id: z.string(), category: z.string(), state: ControlState })),
  }),
});

/** An assessed control. */
export const Control = z.object({
  framework: FrameworkName,
  id: z.string(),
  category: z.string(),
  title: z.string(),
  state: ControlState,
  share: z.number().min(0).max(1).describe("Share of its evidence that is met, 0 to 1"),
  evidence: z.array(z.object({
    name: z.string(),
    state: z.enum(["met", "partly", "missing", "not_configured"]),
    because: z.string(),
  })),
  receipts: z.array(z.object({
    id: z.string(),
    category: z.string(),
    timestamp: Timestamp,
    verify_url: z.string(),
  })).describe("Receipts that prove it, newest first"),
});

/** A risk that follows from missing evidence. */
export const Risk = z.object({
  id: z.enum(Object.keys(EVIDENCE) as [EvidenceName, ...EvidenceName[]]),
  title: z.string(),
  impact: z.enum(["low", "medium", "high"]),
  likelihood: z.enum(["possible", "likely"]),
  rating: z.number().int().min(1).max(6).describe("Impact (1 to 3) times likelihood (1 or 2)"),
  because: z.string(),
  treatment: z.string(),
  controls: z.array(z.string()),
});

/** Converts assessed frameworks to scores. */
export function toScores(frameworks: readonly AssessedFramework[]): z.output<typeof Scores> {
  const find = (name: string) => frameworks.find(({ framework }) => framework === name)!;
  const soc2 = find("soc2");
  return {
    nist_csf: toScore(find("nist_csf")),
    hipaa: toScore(find("hipaa")),
    soc2: {
      ...toScore(soc2),
      ...countControls([soc2]),
      breakdown: soc2.controls.map(({ id, category, state }) => ({ id, category, state })),
    },
  };
}

function toScore({ score, status }: AssessedFramework): z.output<typeof Score> {
  return { score, max: 100, status };
}

/** Converts an assessed control. @param ledgerUrl public address of the ledger */
export function toControl({ receipts, ...control }: AssessedControl, ledgerUrl: string) {
  return {
    ...control,
    receipts: receipts.map((receipt) => ({
      ...receipt,
      verify_url: `${ledgerUrl}/api/verify/${receipt.id}`,
    })),
  };
}

/** A risk, in examples. */
export const exampleRisk: z.output<typeof Risk> = {
  id: "backups",
  title: "What is lost can't be brought back",
  impact: "high",
  likelihood: "likely",
  rating: 6,
  because: "No service of type backup is listed",
  treatment: "List what makes backups as services of type backup, with a health check.",
  controls: ["nist_csf PR.IR", "soc2 CC9.1"],
};

/** Scores of all frameworks, in examples. */
export const exampleScores: z.output<typeof Scores> = {
  nist_csf: { score: 61.4, max: 100, status: "internal_assessment" },
  hipaa: { score: 48.8, max: 100, status: "internal_assessment" },
  soc2: {
    score: 57.1,
    max: 100,
    status: "internal_assessment",
    controls_total: 33,
    fully_evidenced: 9,
    partial: 17,
    gaps: 7,
    breakdown: [{ id: "CC6.7", category: "Access", state: "pass" }],
  },
};

/** Tells scores; those with or without their parts. */
export function tellScores(
  scores: Readonly<Record<keyof z.output<typeof Scores>, { readonly score: number } | number>>,
): string[] {
  const told = Object.entries(scores).map(([framework, score]) =>
    `${framework} ${typeof score === "number" ? score : score.score}`
  );
  return [
    `The platform scores itself, of 100: ${
      told.join(", ")
    }. This is no certification by an auditor.`,
  ];
}

/** Tells risks. */
export function tellRisks(risks: readonly z.output<typeof Risk>[]): string[] {
  return risks.map(({ title, rating, because, treatment }) =>
    `- Risk ${rating} of 6: ${title}. ${because}. ${treatment}`
  );
}

/** Tells counts of controls. */
export function tellCounts(
  { controls_total, fully_evidenced, partial, gaps }: z.output<typeof Counts>,
): string {
  return `${controls_total} controls: ${fully_evidenced} fully evidenced, ${partial} partly, ${gaps} not.`;
}
