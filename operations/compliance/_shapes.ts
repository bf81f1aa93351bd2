import { z } from "zod";
import { EVIDENCE, type EvidenceName, FRAMEWORKS } from "../../compliance/mod.ts";
import { Timestamp } from "../_shapes.ts";

/** 0 to 100. */
export const Score = z.object({
  score: z.number().min(0).max(100),
  max: z.literal(100),
  status: z.string().describe("internal_assessment: by the platform of itself"),
});

/** How many controls stand how. */
export const Counts = z.object({
  controls_total: z.number().int(),
  fully_evidenced: z.number().int(),
  partial: z.number().int(),
  gaps: z.number().int(),
});

/** A framework's name. */
export const FrameworkField = z.enum(FRAMEWORKS);

/** Scores of all frameworks. */
export const Scores = z.object({
  nist_csf: Score,
  hipaa: Score,
  soc2: Score.extend({
    ...Counts.shape,
    breakdown: z.array(z.object({
      id: z.string(),
      category: z.string(),
      state: z.enum(["pass", "partial", "gap"]),
    })),
  }),
});

/** A control, held against the facts. */
export const ControlShape = z.object({
  framework: FrameworkField,
  id: z.string(),
  category: z.string(),
  title: z.string(),
  state: z.enum(["pass", "partial", "gap"]),
  share: z.number().min(0).max(1).describe("Of its evidence that is there"),
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

/** What may go wrong. */
export const RiskShape = z.object({
  id: z.enum(Object.keys(EVIDENCE) as [EvidenceName, ...EvidenceName[]]),
  title: z.string(),
  impact: z.enum(["low", "medium", "high"]),
  likelihood: z.enum(["possible", "likely"]),
  rating: z.number().int().min(1).max(6).describe("Impact (1 to 3) times likelihood (1 or 2)"),
  because: z.string(),
  treatment: z.string(),
  controls: z.array(z.string()),
});

/** Examples of the above. */
export const exampleRisk: z.output<typeof RiskShape> = {
  id: "backups",
  title: "What is lost can't be brought back",
  impact: "high",
  likelihood: "likely",
  rating: 6,
  because: "No service of type backup is listed",
  treatment: "List what makes backups as services of type backup, with a health check.",
  controls: ["nist_csf PR.IR", "soc2 CC9.1"],
};
/** … */
export const exampleScores: z.output<typeof Scores> = {
  nist_csf: { score: 61.4, max: 100, status: "internal_assessment" },
  hipaa: { score: 48.8, max: 100, status: "internal_assessment" },
  soc2: {
    ...{ score: 57.1, max: 100, status: "internal_assessment" },
    ...{ controls_total: 33, fully_evidenced: 9, partial: 17, gaps: 7 },
    breakdown: [{ id: "CC6.7", category: "Access", state: "pass" }],
  },
};
