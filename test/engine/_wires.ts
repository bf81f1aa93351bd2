/** Providers of models as they speak on the wire, served by this process. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A key that no log and no prompt may hold. */
export const KEY = "sk-a-key-that-nobody-may-see";

/** A provider's wire format: what it asks with, where the prompt is, and how an answer is put. */
export interface Wire {
  readonly settings: (url: string) => Record<string, string>;
  readonly path: string;
  /** @param name of what was asked for */
  readonly put: (answer: unknown, name?: string) => unknown;
  /** The texts of the prompt. */
  readonly promptOf: (body: Record<string, unknown>) => string;
  readonly schemaOf: (body: Record<string, unknown>) => unknown;
  /** Most tokens of the answer, and of thinking about it. */
  readonly tokensOf: (body: Record<string, unknown>) => unknown;
}

/** By the names of the providers. */
export const WIRES: Readonly<Record<string, Wire>> = {
  anthropic: {
    settings: (url) => ({ SEALOOP_ANTHROPIC_API_KEY: KEY, SEALOOP_ANTHROPIC_URL: url }),
    path: "/v1/messages",
    put: (answer, name = "classify") => ({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "tool_use" },
      content: [
        { type: "text", text: "Here it is:" },
        { type: "tool_use", id: "toolu_1", name, input: answer },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    promptOf: ({ system, messages }) => `${system}\n${textsOf(messages)}`,
    tokensOf: ({ max_tokens }) => max_tokens,
    schemaOf: ({ tools }) => (tools as { input_schema: unknown }[])[0]!.input_schema,
  },
  openai: {
    settings: (url) => ({ SEALOOP_OPENAI_API_KEY: KEY, SEALOOP_OPENAI_URL: `${url}/v1` }),
    path: "/v1/chat/completions",
    put: (answer) => ({
      ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m" },
      choices: [{
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: JSON.stringify(answer) },
      }],
    }),
    promptOf: ({ messages }) => textsOf(messages),
    tokensOf: ({ max_tokens }) => max_tokens as number - 2_000,
    schemaOf: ({ response_format }) =>
      (response_format as { json_schema: { schema: unknown } }).json_schema.schema,
  },
  ollama: {
    settings: (url) => ({ SEALOOP_OLLAMA_URL: url }),
    path: "/api/chat",
    put: (answer) => ({
      ...{ model: "m", created_at: "2026-07-01T12:00:00Z", done: true },
      message: { role: "assistant", content: JSON.stringify(answer) },
    }),
    promptOf: ({ messages }) => textsOf(messages),
    tokensOf: ({ options }) => (options as { num_predict: number }).num_predict,
    schemaOf: ({ format }) => format,
  },
};

const textsOf = (messages: unknown) =>
  (messages as { content: string }[]).map(({ content }) => content).join("\n");

/** What is done with a request. */
export type Handle = (request: IncomingMessage, answer: ServerResponse, body: string) => void;

/** Serves a provider, for as long as this process does anything else. @returns its address */
export async function provider(handle: Handle): Promise<string> {
  const server = createServer(async (request, answer) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    handle(request, answer, body);
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers in JSON. */
export const say = (answer: ServerResponse, body: unknown, status = 200) =>
  void answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
