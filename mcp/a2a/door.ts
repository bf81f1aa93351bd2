import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import { Problem } from "../../contract/mod.ts";
import type { RequestState } from "../../web/mod.ts";
import { identify, isValid, type Sender, stopping } from "../_caller.ts";
import { untilGone } from "../_web.ts";
import { type AnswerParts, answersFor } from "./answers.ts";
import { cardOf, shownCard } from "./card.ts";
import { CODES, type Envelope, errorEnvelope, NO_PUSH, readRequest } from "./envelope.ts";
import { wrongMessage } from "./params.ts";
import type { UnderWay } from "./sent.ts";
import { answer, firstOf } from "./protocol.ts";
import type { ToolServerAuth } from "../../calls/mod.ts";

/** What the door of A2A works with. */
export interface A2aParts<C> extends Omit<AnswerParts<C>, "underWay"> {
  readonly entrance: ToolServerAuth;
  /** Public address of the tool server, without a slash at the end; absent: that by which a client has reached it. */
  readonly url: string | undefined;
  /** Public address of the gateway; absent: the card tells of the tool server's alone. */
  readonly gatewayUrl: string | undefined;
  /** Milliseconds between two signs of life of a stream, > 0. */
  readonly beatMs: number;
  /** Whether nothing new is to be begun. */
  closing(): boolean;
}

/** The door, and what is to be done when the server stops. */
export interface A2aDoor {
  answer(ctx: Context): Promise<void>;
  /** The card for everybody. */
  card(ctx: Context): void;
  /** The card for a key: of the skills, those that it reaches. */
  ownCard(ctx: Context): Promise<void>;
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
/** What HTTP says best by its status. */
const BY_STATUS = new Set(["Unauthenticated", "RateLimited"]);
const STREAM = "text/event-stream";
const OWN_CARD = "agent/getAuthenticatedExtendedCard";

/** Makes the door at `/a2a`, for protocol 0.3 and, where the header `A2A-Version` asks for it, 1.0. */
export function createA2aDoor<C>(given: A2aParts<C>): A2aDoor {
  const parts = { ...given, underWay: new Map() as UnderWay };
  const cardFor = (ctx: Context, { caller }: Partial<Sender> = {}) => {
    const url = parts.url ?? `${ctx.protocol}://${ctx.host}`;
    const all = [...parts.tools];
    const mine = caller ? all.filter(([, { scopes }]) => scopes.includes(caller.scope)) : all;
    return cardOf(new Map(mine), { tools: url, gateway: seenFrom(ctx, parts.gatewayUrl ?? url) });
  };
  const ending = new AbortController();

  async function serve(ctx: Context): Promise<void> {
    const read = await readRequest(ctx);
    if ("fault" in read) return void (ctx.body = read.fault);
    const { current, ...body } = read.request;
    const sender = await identify(ctx, parts.entrance);
    if (!COUNTED_LATER.has(body.method)) await parts.entrance.admit(sender.caller);
    if (parts.closing()) throw stopping();
    const { requestId, address } = requestOf(ctx);
    const signal = AbortSignal.any([untilGone(ctx), ending.signal]);
    let problem: Problem | undefined;
    let counted = !COUNTED_LATER.has(body.method);
    const own = answersFor(parts, { ...sender, requestId, address, signal });
    const counting = <A extends unknown[], T>(work: (...args: A) => T) => (...args: A): T => {
      counted = true;
      return work(...args);
    };
    const answers = {
      ...own,
      ...{ say: counting(own.say), call: counting(own.call), cancel: counting(own.cancel) },
      ...{ card: cardFor(ctx, sender), refused },
    };
    if (!current && body.method === OWN_CARD) {
      await answers.shown(body.method);
      return give({ jsonrpc: "2.0", id: body.id ?? null, result: shownCard(answers.card) });
    }
    if (!current && body.method.startsWith("tasks/pushNotificationConfig/")) {
      const why = "Push Notification is not supported";
      await answers.unserved(body.method, new Problem("NotFound", why));
      return give(errorEnvelope(body.id, NO_PUSH, why));
    }
    const wrong = current ? wrongMessage(body.method, body.params) : undefined;
    if (wrong) {
      const fault = errorEnvelope(body.id, CODES.params, wrong);
      await refuse(fault);
      return give(fault);
    }
    const given = await answer({ ...body }, answers, current);
    if (!(Symbol.asyncIterator in given)) {
      if (!counted) await refuse(given);
      return give(given);
    }
    const first = await firstOf(given, body.id);
    if ("failed" in first) {
      if (!counted) await refuse(first.failed);
      return give(first.failed, !current && ctx.accepts(STREAM) !== false);
    }
    await stream(ctx, first.step, given, parts, sender);

    /** Counts and seals what was wrong with a request before it came to be one of an operation. */
    async function refuse({ error }: Envelope): Promise<void> {
      await parts.entrance.admit(sender.caller);
      const { message } = error as { message: string };
      await answers.unserved(body.method, new Problem("InvalidInput", message));
    }
    function refused(its: Problem): void {
      problem = its;
      if (its.rule.status >= 500) {
        const err = its.extra.cause ?? its;
        parts.log.error({ request_id: requestId, err }, its.message);
      }
    }
    /** @param streamed as an event: what answers a stream of 0.3 is one, where its parameters are right */
    function give(envelope: Envelope, streamed = false): void {
      if (problem && BY_STATUS.has(problem.name)) throw problem;
      if (streamed) ctx.type = `${STREAM}; charset=utf-8`;
      ctx.body = streamed ? `data: ${JSON.stringify(envelope)}\n\n` : envelope;
    }
  }

  return {
    answer: serve,
    card(ctx) {
      const card = JSON.stringify(shownCard(cardFor(ctx)));
      ctx.set("cache-control", "public, max-age=60");
      ctx.etag = createHash("sha256").update(card).digest("base64url").slice(0, 27);
      ctx.status = 200;
      if (ctx.fresh) return void (ctx.status = 304);
      ctx.type = "application/json; charset=utf-8";
      ctx.body = card;
    },
    async ownCard(ctx) {
      const sender = await identify(ctx, parts.entrance);
      await parts.entrance.admit(sender.caller);
      const { requestId, address } = requestOf(ctx);
      const asker = { ...sender, requestId, address, signal: ending.signal };
      await answersFor(parts, asker).shown(OWN_CARD);
      ctx.set("cache-control", "no-store");
      ctx.type = "application/json; charset=utf-8";
      ctx.body = shownCard(cardFor(ctx, sender));
    },
    close: () => ending.abort(),
  };
}

/** An address that only this machine knows as such, as the client names the machine. */
function seenFrom({ hostname }: Context, address: string): string {
  const url = new URL(address);
  if (url.hostname === "127.0.0.1") url.hostname = hostname;
  return url.href.replace(/\/$/, "");
}

const requestOf = (ctx: Context) => ctx.state as RequestState;

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
    "content-type": `${STREAM}; charset=utf-8`,
    "cache-control": "no-cache, no-store",
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
