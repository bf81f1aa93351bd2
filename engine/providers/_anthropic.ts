import type { Provider } from "./provider.ts";

/** Anthropic's Messages API. The answer is the input of a tool that the model is forced to use. */
export const anthropic: Provider = async ({ apiKey, url, model }) => {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    apiKey,
    baseURL: url,
    authToken: null,
    maxRetries: 0,
    logLevel: "off",
    fetchOptions: { redirect: "error" }, // the key is for that address alone
  });
  return async ({ name, system, user, schema, tokens }, signal) => {
    const message = await client.messages.create({
      model,
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
