/** The types that the providers of language models share. */

/** A question in the form in which every model is asked. */
export interface Prompt {
  /** Name of what is asked for, in small letters and underscores. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  /** JSON Schema of the answer, in the subset that all providers support. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Most tokens of the answer. */
  readonly tokens: number;
}

/** Connects to a provider. Returns a function that asks its model and returns the answer, whatever it is. */
export type Provider = (
  endpoint: Endpoint,
) => Promise<(prompt: Prompt, signal: AbortSignal) => Promise<unknown>>;

/** The address of a model. */
export interface Endpoint {
  readonly apiKey: string;
  readonly url: string;
  readonly model: string;
}
