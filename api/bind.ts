import Router from "@koa/router";
import type { Context } from "koa";
import {
  FileOutput,
  fromStrings,
  InvalidInput,
  type Invoke,
  JsonText,
  located,
  type Operation,
  type Place,
  Problem,
} from "../contract/mod.ts";
import { FOR_EVER, readJson, type RequestState } from "../web/mod.ts";

/**
 * Gives every operation's REST doors to a router.
 *
 * Path parameters are told by the path; the other fields come from the query for GET and DELETE, and else from the
 * JSON body. An unknown field of the query is ignored, one of the body refused.
 */
export function bindOperations<C>(
  router: Router<RequestState>,
  operations: readonly Operation<C>[],
  invoke: Invoke<C>,
): void {
  for (const operation of operations) {
    for (const [operationId, door] of Object.entries(operation.rest ?? {})) {
      const [method, path] = door.split(" ") as [string, string];
      const pathNames = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
      const route = path.replace(/\{(\w+)\}/g, ":$1");
      const handle = handler(operation, operationId, method, pathNames, invoke);
      router.register(route, [method], [handle], { name: operationId });
    }
  }
}

function handler<C>(
  operation: Operation<C>,
  operationId: string,
  method: string,
  pathNames: readonly string[],
  invoke: Invoke<C>,
) {
  const inQuery = method === "GET" || method === "DELETE";
  const placeOf = (name: unknown): Place =>
    pathNames.includes(String(name)) ? "path" : inQuery ? "query" : "body";
  return async (ctx: Context) => {
    const state = ctx.state as RequestState;
    const gone = new AbortController();
    ctx.res.once("close", () => {
      if (!ctx.res.writableFinished) gone.abort(new Problem("Cancelled", "The client has gone"));
    });
    const fields = inQuery ? queryOf(ctx, operation) : await bodyOf(ctx);
    const path = fromStrings(operation.input, ctx.params);
    try {
      const { output, receiptId, limit, ruling } = await invoke(operation, {
        door: "rest",
        as: operationId,
        requestId: state.requestId,
        credential: ctx.get("x-api-key") || undefined,
        token: ctx.get("x-a2a-token") || undefined,
        address: state.address,
        input: { ...fields, ...path },
        dryRun: ctx.get("x-dry-run").toLowerCase() === "true",
        identified: ({ keyId }) => void (state.keyId = keyId),
        signal: gone.signal,
      });
      if (limit) {
        ctx.set({
          "ratelimit-limit": String(limit.limit),
          "ratelimit-remaining": String(limit.remaining),
          "ratelimit-reset": String(limit.resetSeconds),
        });
      }
      if (receiptId) ctx.set("x-receipt-id", receiptId);
      const { kind } = ruling?.instead ?? {};
      ctx.status = kind === "held" ? 202 : kind === "dry_run" ? 200 : operation.status ?? 200;
      if (operation.immutable) ctx.set("cache-control", FOR_EVER);
      give(ctx, output, operation.media);
    } catch (error) {
      if (error instanceof Problem && error.receiptId) ctx.set("x-receipt-id", error.receiptId);
      throw error instanceof InvalidInput ? located(error, placeOf) : withHint(error, ctx);
    }
  };
}

/** Tells who sent a key as to the tool server that it is not looked for there. */
function withHint(error: unknown, ctx: Context): unknown {
  const isRefusal = error instanceof Problem && error.name === "Unauthenticated";
  if (!isRefusal || ctx.get("x-api-key") || !ctx.get("authorization")) return error;
  return new Problem(
    "Unauthenticated",
    `${error.message}; Authorization, which was sent, is for the tool server`,
  );
}

/** Writes an output as the answer. */
function give(ctx: Context, output: unknown, media = "application/octet-stream"): void {
  if (output instanceof FileOutput) {
    ctx.type = media;
    ctx.set("content-disposition", `attachment; filename="${output.name}"`);
    ctx.body = Buffer.from(output.bytes);
    return;
  }
  ctx.type = "application/json; charset=utf-8";
  ctx.body = output instanceof JsonText ? output.bytes : JSON.stringify(output);
}

function queryOf<C>(ctx: Context, { input }: Operation<C>): Record<string, unknown> {
  const known = Object.entries(ctx.query).filter(([name]) => name in input.shape);
  const twice = known.find(([, value]) => Array.isArray(value));
  if (twice) {
    const detail = [{ loc: ["query", twice[0]], msg: "Given more than once", type: "value_error" }];
    throw new Problem("InvalidInput", `${twice[0]} is given more than once`, { body: { detail } });
  }
  return fromStrings(input, Object.fromEntries(known) as Record<string, string>);
}

async function bodyOf(ctx: Context): Promise<Record<string, unknown>> {
  const body = await readJson(ctx) ?? {};
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    return body as Record<string, unknown>;
  }
  const detail = [{ loc: ["body"], msg: "Expected a JSON object", type: "object_type" }];
  throw new Problem("InvalidInput", "The body is not a JSON object", { body: { detail } });
}
