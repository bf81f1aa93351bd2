/** How the other processes ask the engine. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";
import type { z } from "zod";
import { Problem, createTimeoutSignal } from "../contract/mod.ts";
import {
  CLASSIFIED,
  type Classified,
  type ClassifyRequest,
  HEALTH,
  type Health,
  VERDICT,
} from "./answers.ts";
import type { GuardVerdict, ValidateRequest } from "../guard/mod.ts";
import { type WriteRequest, WRITING, type Writing } from "./writing.ts";

/** The engine gave no answer that can be used: nothing may be concluded, and nothing is allowed. */
export class EngineAway extends Problem {
  /** @param reason for an operator: what kept it from answering */
  constructor(readonly reason: string, cause?: unknown) {
    super("Unavailable", `The incident engine can't be reached at the moment: ${reason}`, {
      cause,
      headers: { "retry-after": "5" },
    });
  }
}

/** The engine's process, as others see it. Asking twice does no harm: it only judges. */
export interface Engine {
  /** What a report is about. @throws {EngineAway} */
  classify(request: ClassifyRequest): Promise<Classified>;
  /**
   * Whether a repair may be done.
   *
   * @param limitMs for the whole answer, milliseconds, > 0; default: as for all questions
   * @throws {EngineAway} then nothing may
   */
  validate(request: ValidateRequest, limitMs?: number): Promise<GuardVerdict>;
  /**
   * Has a model write from evidence, where one is configured; what it writes is not checked.
   *
   * @throws {EngineAway}
   */
  write(request: WriteRequest, signal?: AbortSignal): Promise<Writing>;
  /** What it is ready for. @throws {EngineAway} */
  health(): Promise<Health>;
}

/** Where the engine is. */
export interface EngineOptions {
  /** `http://127.0.0.1:8083`, without a slash at the end. */
  readonly url: string;
  /** What both ends know; a function is asked at each call. */
  readonly secret: string | (() => string);
  /** For the whole answer, milliseconds, > 0. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** For what a model writes, milliseconds: the most that the settings let it have, and a second. */
const WRITE_MS = 16_000;
/** An answer is some kilobytes; what is longer is not ours. */
const MAX_ANSWER = 1024 * 1024;

/** Opens a client. Connections are made at the first call and kept; one that the engine has closed is made anew. */
export function openEngine({ url, secret, timeoutMs = TIMEOUT_MS }: EngineOptions): Engine {
  const secure = url.startsWith("https:");
  const agent = new (secure ? TlsAgent : Agent)({ keepAlive: true });
  const open = secure ? httpsRequest : httpRequest;
  const secretNow = typeof secret === "string" ? () => secret : secret;

  function send(path: string, body: string | undefined, deadline: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = open(`${url}${path}`, {
        agent,
        method: body === undefined ? "GET" : "POST",
        signal: deadline,
        headers: {
          authorization: `Bearer ${secretNow()}`,
          ...(body === undefined ? {} : {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
          }),
        },
      });
      request.once("response", (answer) => read(answer).then(resolve, reject));
      request.once("error", (error: NodeJS.ErrnoException) => {
        // The engine may close an idle connection at the very moment at which we use it.
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
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const late = createTimeoutSignal(limitMs);
      const text = await send(path, sent, signal ? AbortSignal.any([late, signal]) : late);
      return shape.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof EngineAway) throw error;
      throw new EngineAway(reasonOf(error, limitMs), error);
    }
  }

  return {
    classify: (request) => ask("/classify", CLASSIFIED, request),
    validate: (request, limitMs) => ask("/validate", VERDICT, request, { limitMs }),
    write: (request, signal) => ask("/write", WRITING, request, { limitMs: WRITE_MS, signal }),
    health: async () => (await ask("/health", HEALTH)).ready,
  };
}

async function read(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new EngineAway("its answer is too long");
    chunks.push(chunk);
  }
  if (answer.statusCode === 200) return Buffer.concat(chunks).toString();
  if (answer.statusCode === 401) throw new EngineAway("it does not accept our secret");
  throw new EngineAway(
    answer.statusCode === 503 ? "it is not ready yet" : `it answered ${answer.statusCode}`,
  );
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === "AbortError" || name === "TimeoutError") return `no answer within ${timeoutMs} ms`;
  if (name === "ZodError" || name === "$ZodError" || error instanceof SyntaxError) {
    return "its answer has another shape";
  }
  return code ?? "the connection failed";
}
