import { z } from "zod";
import type { Authorship } from "../../contract/domain/mod.ts";

/** A source that an answer cites. */
export const Source = z.object({
  id: z.string(),
  kind: z.string().describe(
    "article, incident, ticket, receipt, service, approval, note, or platform for its own records",
  ),
  title: z.string(),
  sha256: z.string().optional().describe("SHA-256 of the cited text or entry, where it has one"),
}).meta({ id: "Source" });

/** A sentence with the numbers of the evidence that it cites. */
export const Claim = z.object({ text: z.string(), evidence: z.array(z.number().int()) });

/** Fields that say who wrote an output: a model or the rules. */
export const authorship = {
  written_by: z.string().describe(
    "Model that wrote it, by its provider's name, with every sentence checked against its citations; rules: no model",
  ),
  provider: z.string().describe("anthropic, openai or ollama; local: the rules"),
  model_calls: z.number().int().describe("Number of calls of a model, 0 to 2"),
  dropped: z.array(z.string()).describe("Reasons for which sentences of a model were dropped"),
  fallback: z.string().nullable().describe(
    "Reason for which the rules wrote it although a model is configured; null: a model wrote it, or none is configured",
  ),
};

/** The same fields of an output that the rules wrote, in examples. */
export const exampleAuthorship: Authorship = {
  written_by: "rules",
  provider: "local",
  model_calls: 0,
  dropped: [],
  fallback: null,
};

/** Returns the author of an output for the call's receipt; nothing while the run continues, as it is not known yet. */
export function authorInReceipt(output: unknown): Readonly<Record<string, string | number>> {
  const { written_by, provider, model_calls } = output as Authorship | Partial<Authorship>;
  if (written_by === undefined || provider === undefined || model_calls === undefined) return {};
  return { written_by, provider, model_calls };
}
