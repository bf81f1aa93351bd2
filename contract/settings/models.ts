import { z } from "zod";
import { safe, secret, text, url } from "./_kinds.ts";

/** Language models. */
export const MODEL_SETTINGS = {
  SEALOOP_ANTHROPIC_API_KEY: secret(
    "Key of Anthropic: a model of theirs classifies reports, and answers POST /v1/ai/anthropic",
  ),
  SEALOOP_ANTHROPIC_URL: safe("Address of Anthropic's API").default("https://api.anthropic.com"),
  SEALOOP_ANTHROPIC_MODEL: z.string().min(1).default("claude-haiku-5-5").describe(
    "… and the model",
  ),
  SEALOOP_OPENAI_API_KEY: secret(
    "Key of OpenAI, or of a server that speaks its language: likewise",
  ),
  SEALOOP_OPENAI_URL: safe("Address of such a server, with its /v1; unset: OpenAI's own")
    .optional(),
  SEALOOP_OPENAI_MODEL: z.string().min(1).default("gpt-5.4-mini").describe("… and the model"),
  SEALOOP_OLLAMA_URL: url(/^https?$/, "Address of an Ollama: likewise"),
  SEALOOP_OLLAMA_MODEL: z.string().min(1).default("llama3.2").describe("… and the model"),
  SEALOOP_MODEL_MS: z.coerce.number().int().min(100).max(1_800).default(1_500)
    .describe("Milliseconds that a model has; after that the engine's own verdict is given"),
  SEALOOP_MODEL_WRITE_MS: z.coerce.number().int().min(0).max(15_000).default(10_000)
    .describe("… to write an answer; after that the rules' own is given. 0: it only classifies"),
  SEALOOP_MODEL_SILENCE_SECONDS: z.coerce.number().int().min(1).max(300).default(60).describe(
    "Seconds that a model asked over /v1/ai may be silent; after that its answer counts as cut off",
  ),
  SEALOOP_MODELS: text(
    "File of budgets, privacy and prices of models; unset: sealoop.models.yaml in the data folder",
  ),
};
