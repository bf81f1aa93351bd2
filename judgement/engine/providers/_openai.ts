import { limitedFetch } from "./_limited_fetch.ts";
import type { ChatProvider, Endpoint, Provider } from "./provider.ts";

/** Tokens on top of the answer's, as models that think before they answer count that as well. */
const THINKING_TOKENS = 2_000;
/** OpenAI's own servers name the limit of tokens differently than the servers that are compatible with them. */
const OPENAI_HOST = /(^|\.)openai\.(azure\.)?com$/;

async function connect({ apiKey, url }: Endpoint) {
  const { default: OpenAI } = await import("openai");
  return new OpenAI({
    apiKey,
    baseURL: url,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: limitedFetch(),
  });
}

function nameOfLimit(url: string): "max_completion_tokens" | "max_tokens" {
  return OPENAI_HOST.test(new URL(url).hostname) ? "max_completion_tokens" : "max_tokens";
}

/** The Chat Completions API of OpenAI, and of the many servers that are compatible with it. */
export const openai: Provider = async (endpoint) => {
  const client = await connect(endpoint);
  return async ({ name, system, user, schema, tokens }, signal) => {
    const { choices } = await client.chat.completions.create({
      model: endpoint.model,
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      response_format: {
        type: "json_schema",
        json_schema: { name, strict: true, schema: { ...schema } },
      },
      [nameOfLimit(endpoint.url)]: tokens + THINKING_TOKENS,
    }, { signal });
    return JSON.parse(choices[0]?.message.content ?? "");
  };
};

/** The same API, for conversations. */
export const openaiChat: ChatProvider = async (endpoint) => {
  const client = await connect(endpoint);
  return async function* ({ model, system, messages, maxTokens }, signal) {
    const stream = await client.chat.completions.create({
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
        ...messages,
      ],
      stream: true,
      stream_options: { include_usage: true },
      [nameOfLimit(endpoint.url)]: maxTokens,
    }, { signal });
    for await (const { model, choices, usage } of stream) {
      const [choice] = choices ?? [];
      yield {
        text: choice?.delta?.content ?? choice?.delta?.refusal ?? "",
        model,
        stopReason: choice?.finish_reason ?? undefined,
        ...(usage
          ? {
            inputTokens: usage.prompt_tokens,
            cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
            outputTokens: usage.completion_tokens,
          }
          : {}),
      };
    }
  };
};
