import type { Context } from "koa";
import { Problem } from "../../contract/mod.ts";
import { createDisconnectSignal, type RequestState } from "../../runtime/web/mod.ts";
import { authenticate, type Sender, stoppingProblem } from "../auth.ts";
import { JSON_RPC } from "../json_rpc.ts";
import { EVENT_STREAM, sendEvents, toEvent } from "./_event_stream.ts";
import { toWireCard } from "./card.ts";
import { cardFor, type CardParts, KEY_CARD_METHOD } from "./card_routes.ts";
import type { A2aHandlerParts, A2aHandlers } from "./handlers.ts";
import { createKeyHandlers } from "./key_handlers.ts";
import {
  type A2aRequest,
  type Envelope,
  errorEnvelope,
  PUSH_NOT_SUPPORTED,
  readRequest,
} from "./request.ts";
import { describeWrongMessage } from "./request_schemas.ts";
import { answerRequest, firstEvent } from "./sdk_handler.ts";
import type { OpeningTasks } from "./task_opener.ts";

/** The parts that the route works with. */
export interface RpcParts<C> extends A2aHandlerParts<C>, CardParts<C> {
  /** Between two heartbeats of a stream, > 0. */
  readonly heartbeatMs: number;
  /** Aborted when the server ends its streams. */
  readonly ending: AbortSignal;
  /** Returns true once nothing new may begin. */
  isClosing(): boolean;
}

/** Methods that call an operation, which counts them. */
const OPERATION_CALLS = new Set([
  "message/send",
  "message/stream",
  "tasks/cancel",
  "SendMessage",
  "SendStreamingMessage",
  "CancelTask",
]);
/** Problems that are answered with an HTTP status instead of JSON-RPC. */
const HTTP_PROBLEMS = new Set(["Unauthenticated", "RateLimited"]);

/** Creates the route for requests. The key is checked before the body is read. */
export function createRpcRoute<C>(parts: RpcParts<C>): (ctx: Context) => Promise<void> {
  const opening: OpeningTasks = new Map();
  return async (ctx) => {
    const sender = await authenticate(ctx, parts.auth);
    const read = await readRequest(ctx);
    if ("error" in read) return void (ctx.body = read.error);
    const { request } = read;
    if (!OPERATION_CALLS.has(request.method)) await parts.auth.count(sender.caller);
    if (parts.isClosing()) throw stoppingProblem();
    await handleRequest({ ...parts, opening }, ctx, request, sender);
  };
}

async function handleRequest<C>(
  parts: RpcParts<C> & { readonly opening: OpeningTasks },
  ctx: Context,
  request: A2aRequest,
  sender: Sender,
): Promise<void> {
  const { requestId, address } = ctx.state as RequestState;
  const { id, method, version } = request;
  const signal = AbortSignal.any([createDisconnectSignal(ctx), parts.ending]);
  const requestSender = { ...sender, requestId, address, signal };
  const counting = countCalls(createKeyHandlers(parts, parts.opening, requestSender));
  const { handlers } = counting;
  let problem: Problem | undefined;

  function report(reported: Problem): void {
    problem = reported;
    if (reported.rule.status < 500) return;
    const err = reported.extra.cause ?? reported;
    parts.log.error({ request_id: requestId, err }, reported.message);
  }

  /** @param asEvent true to answer as a stream of one event */
  function send(envelope: Envelope, asEvent = false): void {
    if (problem && HTTP_PROBLEMS.has(problem.name)) throw problem;
    if (asEvent) ctx.type = `${EVENT_STREAM}; charset=utf-8`;
    ctx.body = asEvent ? toEvent(envelope) : envelope;
  }

  /** Counts and seals an error of a request that should have called an operation, and did not get that far. */
  async function countError({ error }: Envelope): Promise<void> {
    if (!OPERATION_CALLS.has(method) || counting.hasCalled()) return;
    await parts.auth.count(sender.caller);
    const { message } = error as { message: string };
    await handlers.sealRefusal(method, new Problem("InvalidInput", message));
  }

  const card = cardFor(parts, ctx, sender);
  const early = await answerWithoutSdk(request, handlers, card);
  if (early) {
    if (early.error) await countError(early);
    return send(early);
  }
  const answer = await answerRequest(request, { handlers, card, report });
  if (!(Symbol.asyncIterator in answer)) {
    if (answer.error) await countError(answer);
    return send(answer as Envelope);
  }
  const first = await firstEvent(answer, id);
  if ("error" in first) {
    await countError(first.error);
    return send(first.error, version === "0.3" && ctx.accepts(EVENT_STREAM) !== false);
  }
  await sendEvents(ctx, first.step, answer, parts, sender);
}

/** Answers what the SDK does not, or answers with less. @returns undefined where the SDK answers */
async function answerWithoutSdk(
  { id, method, params, version }: A2aRequest,
  handlers: A2aHandlers,
  card: ReturnType<typeof cardFor>,
): Promise<Envelope | undefined> {
  if (version === "1.0") {
    const wrong = describeWrongMessage(method, params);
    return wrong === undefined ? undefined : errorEnvelope(id, JSON_RPC.invalidParams, wrong);
  }
  if (method === KEY_CARD_METHOD) {
    await handlers.sealCardRequest(method);
    return { jsonrpc: "2.0", id: id ?? null, result: toWireCard(card) };
  }
  if (method.startsWith("tasks/pushNotificationConfig/")) {
    const why = "Push Notification is not supported";
    await handlers.sealRefusal(method, new Problem("NotFound", why));
    return errorEnvelope(id, PUSH_NOT_SUPPORTED, why);
  }
  return undefined;
}

/** Returns the same handlers, with a function that tells whether they have called an operation. */
function countCalls(handlers: A2aHandlers) {
  let hasCalled = false;
  const mark = <A extends unknown[], T>(call: (...args: A) => T) => (...args: A): T => {
    hasCalled = true;
    return call(...args);
  };
  return {
    hasCalled: () => hasCalled,
    handlers: {
      ...handlers,
      callSkill: mark(handlers.callSkill),
      sendMessage: mark(handlers.sendMessage),
      cancelTask: mark(handlers.cancelTask),
    },
  };
}
