import type { Provider } from "./mod.ts";

/** The Chat Completions API of OpenAI, and of the many servers that speak it. */
export const openai: Provider = async ({ apiKey, url, model }) => {
  const { default: OpenAI } = await import("openai");
  const client = new OpenAI({
    ...{ apiKey, baseURL: url, organization: null, project: null },
    ...{ maxRetries: 0, logLevel: "off" },
    fetchOptions: { redirect: "error" }, // the key is for that address alone
  });
  return async ({ system, user, schema }, signal) => {
    const { choices } = await client.chat.completions.create({
      model,
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      response_format: {
        type: "json_schema",
        json_schema: { name: "classification", strict: true, schema: { ...schema } },
      },
    }, { signal });
    return JSON.parse(choices[0]?.message.content ?? "");
  };
};
