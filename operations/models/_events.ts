/** Answers as server-sent events in the form in which each provider streams them. */
import type { ModelEnd } from "./use/mod.ts";
import type { StreamEvent } from "../../contract/mod.ts";
import type { ModelProvider } from "../../contract/domain/mod.ts";

/** The events of an answer. */
export interface EventFormat {
  readonly start: readonly StreamEvent[];
  text(piece: string): StreamEvent;
  end(end: ModelEnd): readonly StreamEvent[];
}

/** Creates the events of one answer. @param id of the use @param model that was asked for */
export function createEventFormat(provider: ModelProvider, id: string, model: string): EventFormat {
  return FORMATS[provider](id, model);
}

const FORMATS: Readonly<Record<ModelProvider, (id: string, model: string) => EventFormat>> = {
  anthropic: (id, model) => {
    const typed = (type: string, data: object = {}): StreamEvent => ({
      event: type,
      data: JSON.stringify({ type, ...data }),
    });
    const message = {
      id,
      type: "message",
      role: "assistant",
      content: [],
      model,
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    const block = { index: 0, content_block: { type: "text", text: "" } };
    return {
      start: [
        typed("message_start", { message }),
        typed("content_block_start", block),
      ],
      text: (text) =>
        typed("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
      end: ({ stopReason, inputTokens, outputTokens }) => [
        typed("content_block_stop", { index: 0 }),
        typed("message_delta", {
          delta: { stop_reason: stopReason, stop_sequence: null },
          usage: { input_tokens: inputTokens, output_tokens: outputTokens },
        }),
        typed("message_stop"),
      ],
    };
  },
  openai: (id, model) => {
    const created = Math.floor(Date.now() / 1000);
    const chunk = (rest: object): StreamEvent => ({
      data: JSON.stringify({ id, object: "chat.completion.chunk", created, model, ...rest }),
    });
    const choice = (delta: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason }] });
    return {
      start: [choice({ role: "assistant", content: "" })],
      text: (content) => choice({ content }),
      end: ({ stopReason, inputTokens, outputTokens }) => [
        choice({}, stopReason),
        chunk({
          choices: [],
          usage: {
            prompt_tokens: inputTokens,
            completion_tokens: outputTokens,
            total_tokens: inputTokens + outputTokens,
          },
        }),
        { data: "[DONE]" },
      ],
    };
  },
  ollama: (_, model) => {
    const line = (content: string, rest: object): StreamEvent => ({
      data: JSON.stringify({
        model,
        created_at: new Date().toISOString(),
        message: { role: "assistant", content },
        ...rest,
      }),
    });
    return {
      start: [],
      text: (piece) => line(piece, { done: false }),
      end: ({ stopReason, inputTokens, outputTokens }) => [
        line("", {
          done: true,
          done_reason: stopReason,
          prompt_eval_count: inputTokens,
          eval_count: outputTokens,
        }),
      ],
    };
  },
};
