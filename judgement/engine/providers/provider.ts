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

/** A conversation that a model continues. */
export interface ChatRequest {
  readonly model: string;
  readonly system: string | undefined;
  readonly messages: readonly ChatMessage[];
  /** Most tokens of the answer. */
  readonly maxTokens: number;
}

/** One message of a conversation. */
export interface ChatMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A part of a model's answer, in the order in which they come. Fields that a provider does not send are absent. */
export interface ChatPart {
  /** The next text of the answer; empty where the part has another purpose. */
  readonly text: string;
  /** The provider's name of the model. */
  readonly model?: string | undefined;
  /** Why the answer ended. An answer without it was cut off. */
  readonly stopReason?: string | undefined;
  readonly inputTokens?: number | undefined;
  /** Tokens of the input that the provider had in its cache. */
  readonly cachedTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** Connects to a provider. Returns a function that has its model continue a conversation. */
export type ChatProvider = (
  endpoint: Endpoint,
) => Promise<(request: ChatRequest, signal: AbortSignal) => AsyncIterable<ChatPart>>;
