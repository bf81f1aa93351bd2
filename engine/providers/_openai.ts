import type { Provider } from "./provider.ts";

/** Tokens on top of the answer's, as models that think before they answer count that as well. */
const THINKING_TOKENS = 2_000;
/** OpenAI's own servers name the limit of tokens differently than the servers that are compatible with them. */
const OPENAI_HOST = /(^|\.)openai\.(azure\.)?com$/;

/** The Chat Completions API of OpenAI, and of the many servers that are compatible with it. */
export const openai: Provider = async ({ apiKey, url, model }) => {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({
    apiKey,
    baseURL: url,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
    fetchOptions: { redirect: "error" }, // the key is for that address alone
  });
  const limit = OPENAI_HOST.test(new URL(url).hostname) ? "max_completion_tokens" : "max_tokens";
  return async ({ name, system, user, schema, tokens }, signal) => {
    const { choices } = await client.chat.completions.create({
      model,
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      response_format: {
        type: "json_schema",
        json_schema: { name, strict: true, schema: { ...schema } },
      },
      [limit]: tokens + THINKING_TOKENS,
    }, { signal });
    return JSON.parse(choices[0]?.message.content ?? "");
  };
};
