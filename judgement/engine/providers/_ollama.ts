import { checkLines, limitedFetch } from "./_limited_fetch.ts";
import type { ChatProvider, Provider } from "./provider.ts";

/** For a prompt and its answer. The same for all prompts, as Ollama loads a model anew for another size. */
const CONTEXT_TOKENS = 8_192;

/** A model on the operator's own machine, served by Ollama. */
export const ollama: Provider = async ({ url, model }) => {
  const { Ollama } = await import("ollama");
  return async ({ system, user, schema, tokens }, signal) => {
    const client = new Ollama({ host: url, fetch: limitedFetch({ signal }) });
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

/** The same, for conversations. The size of the context is the server's. */
export const ollamaChat: ChatProvider = async ({ url }) => {
  const { Ollama } = await import("ollama");
  return async function* ({ model, system, messages, maxTokens }, signal) {
    const fetch = limitedFetch({ signal, through: checkLines }); // the SDK would log lines that are no JSON
    const stream = await new Ollama({ host: url, fetch }).chat({
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: "system", content: system }]),
        ...messages,
      ],
      stream: true,
      options: { num_predict: maxTokens },
    });
    for await (const part of stream) {
      yield {
        text: part.message?.content ?? "",
        model: part.model,
        ...(part.done
          ? {
            stopReason: part.done_reason || "stop",
            inputTokens: part.prompt_eval_count,
            outputTokens: part.eval_count,
          }
          : {}),
      };
    }
  };
};
