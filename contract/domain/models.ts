/** Providers of language models, in the order in which the engine looks for one that is configured. */
export const MODEL_PROVIDERS = ["anthropic", "openai", "ollama"] as const;

/** A provider of language models. */
export type ModelProvider = typeof MODEL_PROVIDERS[number];

/** Ways to treat private data in prompts and answers, least strict first. */
export const PRIVACY_MODES = ["mask", "block"] as const;

/** `mask`: it is replaced; `block`: the prompt is not sent, the answer not given. */
export type PrivacyMode = typeof PRIVACY_MODES[number];

/** Returns the stricter of two modes. */
export function stricterPrivacy(a: PrivacyMode, b: PrivacyMode): PrivacyMode {
  return a === "block" ? a : b;
}
