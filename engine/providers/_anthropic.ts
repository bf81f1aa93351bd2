import type { Provider } from "./mod.ts";

const MOST_TOKENS = 700;
const TOOL = "classify";

/** Anthropic's Messages API, whose answer is the input of a tool that it has to use. */
export const anthropic: Provider = async ({ apiKey, url, model }) => {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    ...{ apiKey, baseURL: url, authToken: null, maxRetries: 0, logLevel: "off" },
    fetchOptions: { redirect: "error" }, // the key is for that address alone
  });
  return async ({ system, user, schema }, signal) => {
    const message = await client.messages.create({
      model,
      max_tokens: MOST_TOKENS,
      system,
      messages: [{ role: "user", content: user }],
      tools: [{
        name: TOOL,
        description: "Takes the classification",
        input_schema: { type: "object", ...schema },
      }],
      tool_choice: { type: "tool", name: TOOL },
    }, { signal });
    const used = message.content.find((block) => block.type === "tool_use" && block.name === TOOL);
    return used?.type === "tool_use" ? used.input : undefined;
  };
};
