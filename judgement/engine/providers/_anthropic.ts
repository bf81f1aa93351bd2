import { limitedFetch } from "./_limited_fetch.ts";
import type { ChatProvider, Endpoint, Provider } from "./provider.ts";

async function connect({ apiKey, url }: Endpoint) {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  return new Anthropic({
    apiKey,
    baseURL: url,
    authToken: null,
    maxRetries: 0,
    logLevel: "off",
    fetch: limitedFetch(),
  });
}

/** Anthropic's Messages API. The answer is the input of a tool that the model is forced to use. */
export const anthropic: Provider = async (endpoint) => {
  const client = await connect(endpoint);
  return async ({ name, system, user, schema, tokens }, signal) => {
    const message = await client.messages.create({
      model: endpoint.model,
      max_tokens: tokens,
      system,
      messages: [{ role: "user", content: user }],
      tools: [{
        name,
        description: "Takes the answer",
        input_schema: { type: "object", ...schema },
      }],
      tool_choice: { type: "tool", name },
    }, { signal });
    const use = message.content.find((block) => block.type === "tool_use" && block.name === name);
    return use?.type === "tool_use" ? use.input : undefined;
  };
};

/** The same API, for conversations. */
export const anthropicChat: ChatProvider = async (endpoint) => {
  const client = await connect(endpoint);
  return async function* ({ model, system, messages, maxTokens }, signal) {
    const stream = await client.messages.create({
      model,
      max_tokens: maxTokens,
      messages: [...messages],
      stream: true,
      ...(system === undefined ? {} : { system }),
    }, { signal });
    let stopReason: string | undefined;
    for await (const event of stream) {
      switch (event.type) {
        case "message_start": {
          const { model, usage } = event.message;
          const cachedTokens = usage.cache_read_input_tokens ?? 0;
          yield { text: "", model, inputTokens: usage.input_tokens + cachedTokens, cachedTokens };
          break;
        }
        case "content_block_start":
          if (event.content_block.type === "text") yield { text: event.content_block.text };
          break;
        case "content_block_delta":
          if (event.delta.type === "text_delta") yield { text: event.delta.text };
          break;
        case "message_delta":
          stopReason = event.delta.stop_reason ?? undefined;
          yield { text: "", outputTokens: event.usage.output_tokens };
          break;
        case "message_stop":
          yield { text: "", stopReason };
      }
    }
  };
};
