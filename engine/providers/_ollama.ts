import type { Provider } from "./mod.ts";

/** A model of one's own, served by Ollama. */
export const ollama: Provider = async ({ url, model }) => {
  const { Ollama } = await import("ollama");
  return async ({ system, user, schema }, signal) => {
    const client = new Ollama({
      host: url,
      fetch: (address, init) => fetch(address, { ...init, signal, redirect: "error" }),
    });
    const { message } = await client.chat({
      model,
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      format: { ...schema },
      stream: false,
      options: { temperature: 0 },
    });
    return JSON.parse(message.content);
  };
};
