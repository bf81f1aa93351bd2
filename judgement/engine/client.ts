/** The client by which the other processes ask the engine. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";
import type { z } from "zod";
import { createTimeoutSignal, Problem } from "../../contract/mod.ts";
import type { GuardVerdict, ValidateRequest } from "../guard/mod.ts";
import {
  CLASSIFY_RESULT,
  type ClassifyRequest,
  type ClassifyResult,
  type EngineHealth,
  GUARD_VERDICT,
  HEALTH,
  SEARCH_RESULT,
  type SearchResult,
} from "./protocol.ts";
import { WRITE_RESULT, type WriteRequest, type WriteResult } from "./writing.ts";

/** The engine gave no usable answer: nothing may be concluded, and nothing is allowed. */
export class EngineUnavailable extends Problem {
  /** @param reason why there is no answer, for an operator */
  constructor(readonly reason: string, cause?: unknown) {
    super("Unavailable", `The incident engine can't be reached at the moment: ${reason}`, {
      cause,
      headers: { "retry-after": "5" },
    });
  }
}

/** The engine's process, as others see it. Requests may be repeated, as they have no side effects. */
export interface Engine {
  /** Classifies a report of a tenant. @throws {EngineUnavailable} */
  classify(request: Omit<ClassifyRequest, "tenant">, tenant: string): Promise<ClassifyResult>;
  /** Finds passages of the knowledge base for a question of a tenant. @throws {EngineUnavailable} */
  search(question: string, tenant: string): Promise<SearchResult>;
  /**
   * Judges an action that is proposed for a tenant.
   *
   * @param timeoutMs for the whole answer, > 0; default: that of the client
   * @throws {EngineUnavailable} treat as denied
   */
  validate(request: ValidateRequest, tenant: string, timeoutMs?: number): Promise<GuardVerdict>;
  /**
   * Has a model write from evidence, where one is configured. What it writes is not checked.
   *
   * @throws {EngineUnavailable}
   */
  write(request: WriteRequest, signal?: AbortSignal): Promise<WriteResult>;
  /** Returns what the engine is ready for. @throws {EngineUnavailable} */
  health(): Promise<EngineHealth>;
}

/** Address of the engine, and how to ask it. */
export interface EngineOptions {
  /** `http://127.0.0.1:8083`, without a slash at the end. */
  readonly url: string;
  /** The secret that both ends share; a function is called for each request. */
  readonly secret: string | (() => string);
  /** For the whole answer, > 0. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** For what a model writes: the most that the settings allow it, and a second. */
const WRITE_TIMEOUT_MS = 16_000;
/** Longest answer, in bytes. The engine's own have some kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Opens a client. It connects at the first request, keeps its connections, and replaces those that the engine closes. */
export function openEngine({ url, secret, timeoutMs = TIMEOUT_MS }: EngineOptions): Engine {
  const isSecure = url.startsWith("https:");
  const agent = new (isSecure ? TlsAgent : Agent)({ keepAlive: true });
  const startRequest = isSecure ? httpsRequest : httpRequest;
  const currentSecret = typeof secret === "string" ? () => secret : secret;

  function send(path: string, body: string | undefined, deadline: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = startRequest(`${url}${path}`, {
        agent,
        method: body === undefined ? "GET" : "POST",
        signal: deadline,
        headers: {
          authorization: `Bearer ${currentSecret()}`,
          ...(body === undefined ? {} : {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
          }),
        },
      });
      request.once("response", (answer) => readAnswer(answer).then(resolve, reject));
      request.once("error", (error: NodeJS.ErrnoException) => {
        // The engine may close an idle connection just as this request starts to use it.
        if (!request.reusedSocket || deadline.aborted) return reject(error);
        send(path, body, deadline).then(resolve, reject);
      });
      request.end(body);
    });
  }

  async function ask<T extends z.ZodType>(
    path: string,
    shape: T,
    body?: unknown,
    { limitMs = timeoutMs, signal }: {
      limitMs?: number | undefined;
      signal?: AbortSignal | undefined;
    } = {},
  ) {
    try {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const timeout = createTimeoutSignal(limitMs);
      const text = await send(path, content, signal ? AbortSignal.any([timeout, signal]) : timeout);
      return shape.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof EngineUnavailable) throw error;
      throw new EngineUnavailable(describeError(error, limitMs), error);
    }
  }

  return {
    classify: (request, tenant) => ask("/classify", CLASSIFY_RESULT, { ...request, tenant }),
    search: (question, tenant) => ask("/search", SEARCH_RESULT, { question, tenant }),
    validate: (request, tenant, limitMs) =>
      ask("/validate", GUARD_VERDICT, { ...request, tenant }, { limitMs }),
    write: (request, signal) =>
      ask("/write", WRITE_RESULT, request, { limitMs: WRITE_TIMEOUT_MS, signal }),
    health: async () => (await ask("/health", HEALTH)).ready,
  };
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new EngineUnavailable("its answer is too long");
    chunks.push(chunk);
  }
  if (answer.statusCode === 200) return Buffer.concat(chunks).toString();
  if (answer.statusCode === 401) throw new EngineUnavailable("it does not accept our secret");
  throw new EngineUnavailable(
    answer.statusCode === 503 ? "it is not ready yet" : `it answered ${answer.statusCode}`,
  );
}

function describeError(error: unknown, timeoutMs: number): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === "AbortError" || name === "TimeoutError") return `no answer within ${timeoutMs} ms`;
  if (name === "ZodError" || name === "$ZodError" || error instanceof SyntaxError) {
    return "its answer has another shape";
  }
  return code ?? "the connection failed";
}
