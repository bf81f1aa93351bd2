import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import { type Invoke, type Operation, Problem } from "../../contract/mod.ts";
import { cancelTask, type Entrance, sayInTask, type TaskWatch } from "../../operations/mod.ts";
import { type Log, readJson, type RequestState } from "../../web/mod.ts";
import { identify, isValid, type Sender, stopping } from "../_caller.ts";
import { untilGone } from "../_web.ts";
import { callTool } from "../call.ts";
import type { Tools } from "../tools.ts";
import type { FindInjection } from "../untrusted.ts";
import { cardOf, PROTOCOLS, shownCard } from "./card.ts";
import { METHODS, wrongParams } from "./params.ts";
import {
  answer,
  type Answers,
  type Envelope,
  firstOf,
  InsteadOfTask,
  type SkillResult,
} from "./protocol.ts";

/** What the door of A2A works with. */
export interface A2aParts<C> {
  readonly tools: Tools<C>;
  readonly invoke: Invoke<C>;
  readonly entrance: Entrance;
  readonly tasks: TaskWatch;
  /** Public address of the tool server, without a slash at the end; absent: that by which a client has reached it. */
  readonly url: string | undefined;
  /** Public address of the gateway; absent: the card tells of the tool server's alone. */
  readonly gatewayUrl: string | undefined;
  readonly log: Log;
  /** Looks through what comes from outside. */
  readonly findInjection: FindInjection;
  /** Milliseconds between two signs of life of a stream, > 0. */
  readonly beatMs: number;
  /** Whether nothing new is to be begun. */
  closing(): boolean;
}

/** The door, and what is to be done when the server stops. */
export interface A2aDoor {
  answer(ctx: Context): Promise<void>;
  card(ctx: Context): void;
  /** Ends the streams; their clients may resubscribe elsewhere. */
  close(): void;
}

/** Requests that are counted on their way, as calls of operations. */
const COUNTED_LATER = new Set([
  "message/send",
  "message/stream",
  "tasks/cancel",
  "SendMessage",
  "SendStreamingMessage",
  "CancelTask",
]);
const CODES = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  push: -32003,
  version: -32009,
};
/** What HTTP says best by its status. */
const BY_STATUS = new Set(["Unauthenticated", "RateLimited"]);

/** Makes the door at `/a2a`, for protocol 0.3 and, where the header `A2A-Version` asks for it, 1.0. */
export function createA2aDoor<C>(parts: A2aParts<C>): A2aDoor {
  const cardFor = (ctx: Context) => {
    const url = parts.url ?? `${ctx.protocol}://${ctx.host}`;
    return cardOf(parts.tools, { tools: url, gateway: parts.gatewayUrl ?? url });
  };
  const ending = new AbortController();

  async function serve(ctx: Context): Promise<void> {
    const sender = await identify(ctx, parts.entrance);
    const body = await readEnvelope(ctx);
    if (!body) return;
    const current = isCurrent(ctx, body.id);
    if (current === undefined) return;
    const fault = current ? undefined : faultOf(body);
    if (fault) return void (ctx.body = fault);
    if (!COUNTED_LATER.has(body.method)) await parts.entrance.admit(sender.caller);
    if (parts.closing()) throw stopping();
    const gone = AbortSignal.any([untilGone(ctx), ending.signal]);
    let problem: Problem | undefined;
    const answers = { ...answersFor(parts, ctx, sender, gone), card: cardFor(ctx), refused };
    const given = await answer({ ...body }, answers, current);
    if (!(Symbol.asyncIterator in given)) return give(given);
    const first = await firstOf(given, body.id);
    if ("failed" in first) return give(first.failed);
    await stream(ctx, first.step, given, parts, sender);

    function refused(its: Problem): void {
      problem = its;
      if (its.rule.status >= 500) {
        const err = its.extra.cause ?? its;
        parts.log.error({ request_id: requestOf(ctx).requestId, err }, its.message);
      }
    }
    function give(envelope: Envelope): void {
      if (problem && BY_STATUS.has(problem.name)) throw problem;
      ctx.body = envelope;
    }
  }

  return {
    answer: serve,
    card(ctx) {
      ctx.set("cache-control", "public, max-age=60");
      ctx.type = "application/json; charset=utf-8";
      ctx.body = shownCard(cardFor(ctx));
    },
    close: () => ending.abort(),
  };
}

interface Request {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: unknown;
}

const requestOf = (ctx: Context) => ctx.state as RequestState;

const envelopeOf = (id: unknown, code: number, message: string): Envelope => ({
  jsonrpc: "2.0",
  id: typeof id === "string" || (typeof id === "number" && Number.isInteger(id)) ? id : null,
  error: { code, message },
});

/** Reads a request. What is none is answered here: of JSON-RPC's errors none has a status of HTTP of its own. */
async function readEnvelope(ctx: Context): Promise<Request | undefined> {
  try {
    const body = await readJson(ctx);
    const fault = envelopeFault(body);
    if (!fault) return body as Request;
    ctx.body = envelopeOf((body as { id?: unknown } | null)?.id, CODES.request, fault);
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
    ctx.body = envelopeOf(null, CODES.parse, `Parse error: ${error.message}`);
  }
  return undefined;
}

function envelopeFault(body: unknown): string | undefined {
  if (Array.isArray(body)) return "Invalid request: batches are not taken; send one request";
  if (typeof body !== "object" || body === null) return "Invalid request: expected an object";
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== "2.0") return 'Invalid request: jsonrpc has to be "2.0"';
  if (typeof method !== "string" || method === "") return "Invalid request: method is required";
  const fits = id === undefined || id === null || typeof id === "string" ||
    (typeof id === "number" && Number.isInteger(id));
  if (!fits) return "Invalid request: id has to be a string or an integer";
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return "Invalid request: params has to be an object";
  }
  return undefined;
}

/** Whether the request is of protocol 1.0; undefined: it is of one that is not spoken, which is answered here. */
function isCurrent(ctx: Context, id: unknown): boolean | undefined {
  const version = ctx.get("a2a-version") || `${ctx.query["A2A-Version"] ?? ""}`;
  if (/^(0\.3(\.\d+)?)?$/.test(version)) return false;
  if (/^1\.0(\.\d+)?$/.test(version)) return true;
  const spoken = Object.values(PROTOCOLS).join(", ");
  ctx.body = envelopeOf(id, CODES.version, `A2A ${version} is not supported; supported: ${spoken}`);
  return undefined;
}

/** What is wrong with a request of protocol 0.3, as its SDK would not say it. */
function faultOf({ id, method, params }: Request): Envelope | undefined {
  if (!Object.hasOwn(METHODS, method)) {
    return envelopeOf(id, CODES.method, `Method not found: ${method}`);
  }
  if (method.startsWith("tasks/pushNotificationConfig/")) {
    return envelopeOf(id, CODES.push, "Push Notification is not supported");
  }
  const wrong = Array.isArray(params)
    ? "Invalid params: expected an object"
    : wrongParams(method, params ?? {});
  return wrong === undefined ? undefined : envelopeOf(id, CODES.params, wrong);
}

/** The requests of one key, answered by the one way in and by what it may see. */
function answersFor<C>(
  { tools, invoke, tasks, log, findInjection }: A2aParts<C>,
  ctx: Context,
  { caller, credential }: Sender,
  signal: AbortSignal,
): Omit<Answers, "card" | "refused"> {
  const { requestId, address } = requestOf(ctx);
  const act = async <T>(operation: unknown, input: unknown, dryRun = false) => {
    const { output, ruling } = await invoke(operation as Operation<C>, {
      ...{ door: "a2a" as const, as: "invoke_reasoning_pipeline", requestId, credential, address },
      ...{ input, signal, dryRun },
    });
    if (ruling?.instead && ruling.instead.kind !== "earlier") {
      throw new InsteadOfTask(output as Record<string, unknown>);
    }
    return output as T;
  };
  return {
    say: ({ dryRun, ...said }) => act(sayInTask, said, dryRun),
    cancel: (task_id) => act(cancelTask, { task_id }),
    get: (id) => tasks.get(id, caller.keyId),
    list: (page) => tasks.list(caller.keyId, page),
    follow: (id, least) => tasks.follow(id, caller.keyId, least, signal),
    has: (skill) => tools.has(skill),
    async call({ skill, input, dryRun }, progress): Promise<SkillResult> {
      const call = {
        ...{ door: "a2a" as const, name: skill, input, requestId, address, signal, dryRun },
        progress: (_: number, __: number, message: string) => progress?.(message),
      };
      const result = await callTool(tools.get(skill)!, call, {
        ...{ credential, invoke, findInjection },
        failed(problem) {
          const err = problem.extra.cause ?? problem;
          log.error({ request_id: requestId, tool: skill, err }, problem.message);
        },
      });
      const { content, structuredContent, isError, _meta } = result;
      const text = content.map((part) => part.text).join("\n");
      const name = `${_meta?.["sealoop/error"]}`;
      if (name === "RateLimited") {
        const seconds = `${_meta?.["sealoop/retry_after_seconds"]}`;
        throw new Problem("RateLimited", text, { headers: { "retry-after": seconds } });
      }
      return {
        parts: structuredContent ? [{ data: structuredContent }] : [{ text }],
        metadata: _meta && { ..._meta },
        ...(isError ? { error: { name, message: text } } : {}),
      };
    },
  };
}

/** Gives events as they come, and a sign of life while none does. */
async function stream<C>(
  ctx: Context,
  first: IteratorResult<Envelope, void>,
  rest: AsyncGenerator<Envelope, void, undefined>,
  { beatMs, entrance }: A2aParts<C>,
  { credential }: Sender,
): Promise<void> {
  const { res } = ctx;
  const { address } = requestOf(ctx);
  ctx.respond = false;
  res.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const timer = setInterval(async () => {
    res.write(": alive\n\n");
    if (!await isValid(entrance, credential, address)) res.destroy();
  }, beatMs).unref();
  try {
    for (let step = first; !step.done; step = await rest.next()) {
      if (res.closed) break;
      if (!res.write(`data: ${JSON.stringify(step.value)}\n\n`)) await drained(res);
    }
    res.end();
  } catch {
    res.destroy();
  } finally {
    clearInterval(timer);
    await rest.return(undefined).catch(() => {});
  }
}

/** Resolves when the client has read, or has left. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off("drain", go).off("close", go);
      resolve();
    };
    res.once("drain", go).once("close", go);
  });
}
