/** Providers of a test that stream answers in their wire formats. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../../store/mod.ts";
import { setPolicy } from "../../../store/calls/mod.ts";
import { getModelSpending } from "../../../store/platform/mod.ts";
import { type Answer, startGateway, type TestGateway } from "../../api/_gateway.ts";
import { KEY, serveProvider } from "../../judgement/engine/_providers.ts";

/** The names of the providers. */
export const PROVIDERS = ["anthropic", "openai", "ollama"] as const;
/** A prompt without anything private. */
export const PROMPT = [{ role: "user", content: "What does ENOSPC mean?" }];

/** A provider's way to stream. */
interface StreamFormat {
  readonly settings: (url: string) => Record<string, string>;
  readonly type: string;
  /** Lines before the texts, one of a text, and those at the end. */
  readonly start: (model: string) => string;
  readonly text: (text: string) => string;
  readonly end: (input: number, output: number) => string;
}

const line = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const typed = (type: string, data: object = {}) => `event: ${type}\n${line({ type, ...data })}`;

/** Formats by provider. */
const STREAMS: Readonly<Record<typeof PROVIDERS[number], StreamFormat>> = {
  anthropic: {
    settings: (url) => ({ SEALOOP_ANTHROPIC_API_KEY: KEY, SEALOOP_ANTHROPIC_URL: url }),
    type: "text/event-stream",
    start: (model) =>
      typed("message_start", {
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          content: [],
          model,
          stop_reason: null,
          usage: { input_tokens: 20, output_tokens: 1 },
        },
      }) +
      typed("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    text: (text) => typed("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    end: (_, output_tokens) =>
      typed("content_block_stop", { index: 0 }) +
      typed("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens } }) +
      typed("message_stop"),
  },
  openai: {
    settings: (url) => ({ SEALOOP_OPENAI_API_KEY: KEY, SEALOOP_OPENAI_URL: `${url}/v1` }),
    type: "text/event-stream",
    start: (model) => line({ model, choices: [{ index: 0, delta: { role: "assistant" } }] }),
    text: (content) => line({ model: "m", choices: [{ index: 0, delta: { content } }] }),
    end: (prompt_tokens, completion_tokens) =>
      line({ model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
      line({ model: "m", choices: [], usage: { prompt_tokens, completion_tokens } }) +
      "data: [DONE]\n\n",
  },
  ollama: {
    settings: (url) => ({ SEALOOP_OLLAMA_URL: url }),
    type: "application/x-ndjson",
    start: () => "",
    text: (content) =>
      `${JSON.stringify({ model: "m", message: { role: "assistant", content }, done: false })}\n`,
    end: (prompt_eval_count, eval_count) =>
      `${
        JSON.stringify({
          model: "m",
          message: { role: "assistant", content: "" },
          done: true,
          done_reason: "stop",
          prompt_eval_count,
          eval_count,
        })
      }\n`,
  },
};

/** A request that a provider got. */
export interface ModelRequest {
  readonly format: StreamFormat;
  readonly answer: ServerResponse;
  readonly body: string;
}

/** Providers of one test: all three at one address, answering as it says. */
export interface TestProviders {
  readonly settings: Record<string, string>;
  /** Bodies of the requests that came. */
  readonly bodies: string[];
  /** Sets what answers from now on. */
  respond(respond: (request: ModelRequest) => void | Promise<void>): void;
}

/** Starts them. */
export async function serveProviders(): Promise<TestProviders> {
  let respond: (request: ModelRequest) => void | Promise<void> = (request) =>
    answerText(request, ["Hello"]);
  const bodies: string[] = [];
  const url = await serveProvider((request, answer, body) => {
    bodies.push(body);
    const format = request.url!.includes("/messages")
      ? STREAMS.anthropic
      : request.url!.includes("/chat/completions")
      ? STREAMS.openai
      : STREAMS.ollama;
    void respond({ format, answer, body });
  });
  const settings = Object.assign({}, ...Object.values(STREAMS).map((one) => one.settings(url)));
  return { settings, bodies, respond: (next) => void (respond = next) };
}

/** Answers with texts, and an end. */
export function answerText({ format, answer }: ModelRequest, texts: readonly string[]): void {
  answer.writeHead(200, { "content-type": format.type });
  answer.write(format.start("the-model-20260701"));
  for (const text of texts) answer.write(format.text(text));
  answer.end(format.end(20, 5));
}

/** Puts a policy in force, as the worker does. */
export async function setModelPolicy(
  { urls }: Pick<TestGateway, "urls">,
  policy: Readonly<Record<string, unknown>>,
): Promise<void> {
  const store = openStore(urls.worker, "worker", 1);
  await setPolicy(store.asPlatform(), "model_policies", policy);
  await store.close();
}

/** The events of a stream. */
export interface SentEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads server-sent events; comments and pauses are left out. */
function parseEvents(text: string): SentEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const event = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    return data === undefined ? [] : [{ event, data }];
  });
}

/** A gateway whose models are the test's. */
export interface TestModels {
  readonly gateway: TestGateway;
  readonly providers: TestProviders;
  /** A partner's. */
  readonly key: string;
  /** Asks a model. @param fields of the request besides a prompt @param as key */
  ask(provider: string, fields?: object, as?: string): Promise<Answer>;
  /** Sends a request for a stream. */
  post(provider: string, fields?: object, init?: RequestInit): Promise<Response>;
  /** Reads a stream to its end. */
  stream(provider: string, fields?: object): Promise<SentEvent[]>;
  /** Returns what the operator's tenant has spent today. */
  spent(): Promise<{ readonly tokens: number; readonly micro: number }>;
  /** Returns a receipt as it was requested. */
  // deno-lint-ignore no-explicit-any -- the tests look into it
  receipt(id: string): Promise<any>;
}

/** Starts one. */
export async function startModels(): Promise<TestModels> {
  const providers = await serveProviders();
  const gateway = await startGateway({ settings: providers.settings });
  const key = await gateway.key();
  const db = gateway.platform.store.asPlatform();
  const post = (provider: string, fields: object = {}, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/ai/${provider}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ messages: PROMPT, stream: true, ...fields }),
      ...init,
    });
  return {
    gateway,
    providers,
    key,
    post,
    ask: (provider, fields = {}, as = key) =>
      gateway.call(as, "POST", `/v1/ai/${provider}`, { messages: PROMPT, ...fields }),
    stream: async (provider, fields) => parseEvents(await (await post(provider, fields)).text()),
    spent: () => getModelSpending(db, ""),
    async receipt(id) {
      const sql = "SELECT payload FROM seal_outbox WHERE id = $1";
      return JSON.parse((await db.first<{ payload: string }>(sql, [id]))!.payload);
    },
  };
}

/** Returns the text of a stream, whatever the provider. */
export function textOf(events: readonly SentEvent[]): string {
  const own = events.filter(({ event, data }) => event !== "sealoop" && data !== "[DONE]");
  return own.map(({ data }) => {
    const { delta, choices, message } = JSON.parse(data);
    const text = delta?.text ?? choices?.[0]?.delta?.content ?? message?.content;
    return typeof text === "string" ? text : "";
  }).join("");
}

/** Answers with an HTTP status. */
export const refuse = ({ answer }: ModelRequest, status: number) =>
  void answer.writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { message: "inside the provider" } }));

/** Begins an answer, and loses the connection. */
export async function cut(request: ModelRequest): Promise<void> {
  begin(request);
  await sleep(20);
  request.answer.destroy();
}

/** Ends an answer without its end. */
export const endEarly = (request: ModelRequest) => void begin(request).end();

/** Ends an answer with what is no JSON. */
export function spoil(request: ModelRequest): void {
  const { format } = request;
  const line = format === STREAMS.ollama
    ? "{inside the provider\n"
    : "event: message_delta\ndata: {inside the provider\n\n";
  begin(request).end(line + format.end(1, 1));
}

/** Begins an answer, and says no more. */
export const silent = (request: ModelRequest) => void begin(request);

/** Answers with a redirect. */
export const redirect = ({ answer }: ModelRequest) =>
  void answer.writeHead(302, { location: "http://127.0.0.1:1/" }).end();

function begin({ format, answer }: ModelRequest) {
  answer.writeHead(200, { "content-type": format.type });
  answer.write(format.start("m") + format.text("inside the provider"));
  return answer;
}
