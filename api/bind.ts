import Router from "@koa/router";
import type { Context } from "koa";
import {
  EARLIER_HEADER,
  FileOutput,
  parseStrings,
  InvalidInput,
  type Invoke,
  JsonText,
  withLocations,
  type Operation,
  type Places,
  Problem,
  unknownFieldsProblem,
  parseDryRunHeader,
} from "../contract/mod.ts";
import { FOR_EVER, readJson, type RequestState } from "../web/mod.ts";

/** How queries are read. */
export interface QueryOptions {
  /** Whether unknown fields of a query are ignored. */
  readonly ignoreUnknownQuery?: boolean;
}

/**
 * Gives every operation's REST doors to a router.
 *
 * Path parameters are told by the path; the other fields come from the query for GET and DELETE, and else from the
 * JSON body. An unknown field is refused.
 *
 * @param options for what is linked to: whoever passes a link on may add to its query, and that is then ignored
 */
export function bindOperations<C>(
  router: Router<RequestState>,
  operations: readonly Operation<C>[],
  invoke: Invoke<C>,
  options: QueryOptions = {},
): void {
  for (const operation of operations) {
    for (const [operationId, door] of Object.entries(operation.rest ?? {})) {
      const [method, path] = door.split(" ") as [string, string];
      const route = path.replace(/\{(\w+)\}/g, ":$1");
      const read = reader(operation, method, path, options);
      const handle = handler(operation, operationId, read, invoke);
      router.register(route, [method], [handle], { name: operationId });
    }
  }
}

function handler<C>(
  operation: Operation<C>,
  operationId: string,
  { fieldsOf, places }: Reader,
  invoke: Invoke<C>,
) {
  return async (ctx: Context) => {
    const state = ctx.state as RequestState;
    const gone = new AbortController();
    ctx.res.once("close", () => {
      if (!ctx.res.writableFinished) gone.abort(new Problem("Cancelled", "The client has gone"));
    });
    const input = await fieldsOf(ctx);
    const dryRun = wantsDryRun(ctx);
    try {
      const { output, receiptId, limit, governance } = await invoke(operation, {
        door: "rest",
        as: operationId,
        requestId: state.requestId,
        credential: ctx.get("x-api-key") || undefined,
        token: ctx.get("x-a2a-token") || undefined,
        address: state.address,
        input,
        dryRun,
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
      if (governance?.earlier) ctx.set(EARLIER_HEADER, governance.earlier);
      if (governance) tellDecision(ctx, governance);
      const { kind } = governance?.answer ?? {};
      ctx.status = kind === "held" ? 202 : kind === "dry_run" ? 200 : operation.status ?? 200;
      if (operation.immutable) ctx.set("cache-control", FOR_EVER);
      give(ctx, output, operation.media);
    } catch (error) {
      if (error instanceof Problem && error.receiptId) ctx.set("x-receipt-id", error.receiptId);
      if (error instanceof Problem && error.governance) tellDecision(ctx, error.governance);
      throw error instanceof InvalidInput ? withLocations(error, places) : withHint(error, ctx);
    }
  };
}

/** Tells what governance decided on the call, as GET /v1/governance/decisions lists it. */
function tellDecision(
  ctx: Context,
  { id, decision, rule }: { readonly id: string; readonly decision: string; readonly rule: string },
): void {
  ctx.set({
    "x-governance-decision": decision,
    "x-governance-decision-id": id,
    "x-governance-rule": rule,
  });
}

/** @throws {Problem} `InvalidInput`: who misspells that would have it done */
function wantsDryRun({ req: { headers } }: Context): boolean {
  const given = headers["x-dry-run"];
  const { dryRun, dryRunError } = parseDryRunHeader(given?.toString(), Object.keys(headers));
  if (dryRunError === undefined) return dryRun;
  const detail = [{ loc: ["header", "x-dry-run"], msg: dryRunError, type: "value_error" }];
  throw new Problem("InvalidInput", dryRunError, { body: { detail } });
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

/** Reads the fields of one door's requests. */
interface Reader {
  /** As sent; not checked yet. @throws {Problem} `InvalidInput`: a field is where it can't be told of */
  fieldsOf(ctx: Context): Promise<Record<string, unknown>>;
  readonly places: Places;
}

function reader<C>(
  { input }: Operation<C>,
  method: string,
  path: string,
  { ignoreUnknownQuery = false }: QueryOptions,
): Reader {
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!));
  const inQuery = method === "GET" || method === "DELETE";
  const places: Places = {
    names: Object.keys(input.shape),
    placeOf: (name) => inPath.has(String(name)) ? "path" : inQuery ? "query" : "body",
  };
  const isRead = (name: string) => inQuery && !inPath.has(name);
  const isKnown = (name: string) => isRead(name) && places.names.includes(name);

  function queryOf(ctx: Context): Record<string, unknown> {
    const sent = Object.entries(ctx.query).filter(([name]) => !ignoreUnknownQuery || isKnown(name));
    // What the operation would not see is refused here, the rest with all else that is wrong.
    const unseen = sent.map(([name]) => name).filter((name) => !isRead(name));
    if (unseen.length > 0) throw unknownFieldsProblem(unseen, "query", places);
    const twice = sent.find(([name, value]) => isKnown(name) && Array.isArray(value));
    if (twice) throw givenTwice(twice[0]);
    return parseStrings(input, Object.fromEntries(sent) as Record<string, string>);
  }

  return {
    places,
    async fieldsOf(ctx) {
      const query = queryOf(ctx);
      const body = inQuery ? {} : await bodyOf(ctx);
      return { ...query, ...body, ...parseStrings(input, ctx.params) };
    },
  };
}

function givenTwice(name: string): Problem {
  const detail = [{ loc: ["query", name], msg: "Given more than once", type: "value_error" }];
  return new Problem("InvalidInput", `${name} is given more than once`, { body: { detail } });
}

async function bodyOf(ctx: Context): Promise<Record<string, unknown>> {
  const body = await readJson(ctx) ?? {};
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    return body as Record<string, unknown>;
  }
  const detail = [{ loc: ["body"], msg: "Expected a JSON object", type: "object_type" }];
  throw new Problem("InvalidInput", "The body is not a JSON object", { body: { detail } });
}
