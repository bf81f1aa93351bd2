import type { Provider } from "./provider.ts";

/** For a prompt and its answer. The same for all prompts, as Ollama loads a model anew for another size. */
const CONTEXT_TOKENS = 8_192;

/** A model on the operator's own machine, served by Ollama. */
export const ollama: Provider = async ({ url, model }) => {
  const { Ollama } = await import("ollama");
  return async ({ system, user, schema, tokens }, signal) => {
    const client = new Ollama({
      host: url,
      fetch: (address, init) => fetch(address, { ...init, signal, redirect: "error" }),
    });
    const { message } = await client.chat({
      model,
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      format: { ...schema },
      stream: false,
      options: { temperature: 0, num_ctx: CONTEXT_TOKENS, num_predict: tokens },
    });
    return JSON.parse(message.content);
  };
};
