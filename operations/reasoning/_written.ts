import { z } from "zod";
import type { Authorship } from "../../domain/mod.ts";

/** Who wrote a result: fields of the outputs that a model may write. */
export const AUTHORSHIP = {
  written_by: z.string().describe(
    "The model, as its provider calls it, whose every sentence was held against what it cites; rules: no model",
  ),
  provider: z.string().describe("anthropic, openai or ollama; local: the rules"),
  model_calls: z.number().int().describe("Times that a model was asked to choose or write, 0 to 2"),
  dropped: z.array(z.string()).describe("Why something that a model wrote was left out"),
  fallback: z.string().nullable().describe(
    "Why the rules wrote it although a model was to be asked; null: it wrote, or none is configured",
  ),
};

/** The same for an example. */
export const EXAMPLE_AUTHORSHIP = {
  ...{ written_by: "rules", provider: "local", model_calls: 0, dropped: [], fallback: null },
};

/** A sentence with what it rests on. */
export const CLAIM = z.object({ text: z.string(), evidence: z.array(z.number().int()) });

/** Those fields of a result. */
export function authorshipOf(
  { written_by, provider, model_calls, dropped, fallback }: Authorship,
) {
  return { written_by, provider, model_calls, dropped: [...dropped], fallback };
}

/** What a receipt tells of it; nothing where the run goes on and nobody knows yet. */
export function authorInReceipt(output: unknown): Record<string, string | number> {
  const { written_by, provider, model_calls } = output as Partial<Authorship>;
  return written_by === undefined ? {} : { written_by, provider, model_calls } as never;
}
