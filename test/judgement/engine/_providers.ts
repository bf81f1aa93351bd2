/** Fake providers of models: their wire formats, and a server within this process. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A key that must not appear in logs or prompts. */
export const KEY = "sk-a-key-that-nobody-may-see";

/** The wire format of a provider. */
export interface WireFormat {
  readonly settings: (url: string) => Record<string, string>;
  readonly path: string;
  /** Returns the body of a response with an answer. @param name of the prompt */
  readonly answerBody: (answer: unknown, name?: string) => unknown;
  /** Returns the texts of the prompt. */
  readonly readPrompt: (body: Record<string, unknown>) => string;
  readonly readSchema: (body: Record<string, unknown>) => unknown;
  /** Returns the limit of tokens of the answer. */
  readonly readTokens: (body: Record<string, unknown>) => unknown;
}

/** Wire formats by the names of the providers. */
export const WIRE_FORMATS: Readonly<Record<string, WireFormat>> = {
  anthropic: {
    settings: (url) => ({ SEALOOP_ANTHROPIC_API_KEY: KEY, SEALOOP_ANTHROPIC_URL: url }),
    path: "/v1/messages",
    answerBody: (answer, name = "classify") => ({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason: "tool_use",
      content: [
        { type: "text", text: "Here it is:" },
        { type: "tool_use", id: "toolu_1", name, input: answer },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    readPrompt: ({ system, messages }) => `${system}\n${textsOf(messages)}`,
    readTokens: ({ max_tokens }) => max_tokens,
    readSchema: ({ tools }) => (tools as { input_schema: unknown }[])[0]!.input_schema,
  },
  openai: {
    settings: (url) => ({ SEALOOP_OPENAI_API_KEY: KEY, SEALOOP_OPENAI_URL: `${url}/v1` }),
    path: "/v1/chat/completions",
    answerBody: (answer) => ({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: JSON.stringify(answer) },
      }],
    }),
    readPrompt: ({ messages }) => textsOf(messages),
    readTokens: ({ max_tokens }) => max_tokens as number - 2_000,
    readSchema: ({ response_format }) =>
      (response_format as { json_schema: { schema: unknown } }).json_schema.schema,
  },
  ollama: {
    settings: (url) => ({ SEALOOP_OLLAMA_URL: url }),
    path: "/api/chat",
    answerBody: (answer) => ({
      model: "m",
      created_at: "2026-07-01T12:00:00Z",
      done: true,
      message: { role: "assistant", content: JSON.stringify(answer) },
    }),
    readPrompt: ({ messages }) => textsOf(messages),
    readTokens: ({ options }) => (options as { num_predict: number }).num_predict,
    readSchema: ({ format }) => format,
  },
};

const textsOf = (messages: unknown) =>
  (messages as { content: string }[]).map(({ content }) => content).join("\n");

/** Handles a request. */
export type Handle = (request: IncomingMessage, answer: ServerResponse, body: string) => void;

/** Serves a provider until the process ends. @returns its address */
export async function serveProvider(handle: Handle): Promise<string> {
  const server = createServer(async (request, answer) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    handle(request, answer, body);
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with JSON. */
export const answerJson = (answer: ServerResponse, body: unknown, status = 200) =>
  void answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
