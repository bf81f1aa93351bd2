import { createHash } from "node:crypto";
import type Router from "@koa/router";
import type { Context } from "koa";
import {
  type CallResult,
  EARLIER_HEADER,
  EventStream,
  FileOutput,
  InvalidInput,
  type Invoke,
  JsonText,
  type Operation,
  parseMarkHeaders,
  Problem,
  type RequestMarks,
  type SignedRequest,
  withLocations,
} from "../contract/mod.ts";
import { createDisconnectSignal, type RequestState } from "../runtime/web/mod.ts";
import { sendEvents } from "./_events.ts";
import type { BrowserCookies } from "./_cookies.ts";
import { readPasskey } from "./_passkey.ts";
import { createFieldReader, type FieldReader } from "./_fields.ts";

/**
 * Binds the REST routes of operations to a router.
 *
 * A field that the path names is read from the path; the others from the query of GET and DELETE, or from the JSON body of
 * other methods. An unknown field is refused.
 */
export function bindOperations<C>(
  router: Router<RequestState>,
  operations: readonly Operation<C>[],
  invoke: Invoke<C>,
  cookies: BrowserCookies,
): void {
  for (const operation of operations) {
    for (const [operationId, route] of Object.entries(operation.rest ?? {})) {
      const [method, path] = route.split(" ") as [string, string];
      const reader = createFieldReader(operation, method, path);
      const handle = createHandler(operation, operationId, reader, invoke, cookies);
      const pattern = path.replace(/\{(\w+)\}/g, ":$1");
      router.register(pattern, [method], [handle], { name: operationId });
    }
  }
}

function createHandler<C>(
  operation: Operation<C>,
  operationId: string,
  { readFields, places }: FieldReader,
  invoke: Invoke<C>,
  cookies: BrowserCookies,
) {
  return async (ctx: Context) => {
    const state = ctx.state as RequestState;
    const signal = createDisconnectSignal(ctx, new Problem("Cancelled", "The client has gone"));
    const body = createHash("sha256");
    const input = await readFields(
      ctx,
      operation.governance?.signedByDevice && ((bytes) => body.update(bytes)),
    );
    const { dryRun, idempotencyKey } = readMarks(ctx);
    try {
      const result = await invoke(operation, {
        door: "rest",
        as: operationId,
        requestId: state.requestId,
        credential: ctx.get("x-api-key") || undefined,
        passkey: readPasskey(ctx),
        ...cookies.read(ctx, operation),
        token: ctx.get("x-a2a-token") || undefined,
        signed: operation.governance?.signedByDevice && signedParts(ctx, body.digest()),
        address: state.address,
        input,
        dryRun,
        idempotencyKey,
        identified: ({ keyId }) => void (state.keyId = keyId),
        signal,
      });
      const output = cookies.keep(ctx, operation, result.output);
      sendResult(ctx, operation, { ...result, output });
    } catch (error) {
      if (error instanceof Problem && error.receiptId) ctx.set("x-receipt-id", error.receiptId);
      if (error instanceof Problem && error.governance) setGovernance(ctx, error.governance);
      throw error instanceof InvalidInput ? withLocations(error, places) : withKeyHint(error, ctx);
    }
  };
}

function signedParts(ctx: Context, bodySha256: Buffer): SignedRequest {
  const [path = "", ...rest] = ctx.url.split("?"); // as sent: not decoded, not normalized
  return {
    method: ctx.method,
    path,
    query: `?${rest.join("?")}`,
    contentDigest: ctx.get("content-digest"),
    signatureInput: ctx.get("signature-input"),
    signature: ctx.get("signature"),
    bodySha256,
  };
}

function sendResult<C>(
  ctx: Context,
  { presentation: { media, status = 200 } = {} }: Operation<C>,
  { output, receiptId, limit, governance, earlier }: CallResult,
): void {
  if (limit) {
    ctx.set({
      "ratelimit-limit": String(limit.limit),
      "ratelimit-remaining": String(limit.remaining),
      "ratelimit-reset": String(limit.resetSeconds),
    });
  }
  if (receiptId) ctx.set("x-receipt-id", receiptId);
  if (earlier) ctx.set(EARLIER_HEADER, earlier);
  if (governance) setGovernance(ctx, governance);
  const kind = governance?.answer?.kind;
  ctx.status = kind === "held" ? 202 : kind === "dry_run" ? 200 : status;
  sendOutput(ctx, output, media);
}

function sendOutput(ctx: Context, output: unknown, media = "application/octet-stream"): void {
  if (output instanceof FileOutput) {
    ctx.type = media;
    ctx.set({
      "content-disposition": `attachment; filename="${output.name}"`,
      ...output.headers,
    });
    ctx.body = Buffer.from(output.bytes);
    return;
  }
  if (output instanceof EventStream) return sendEvents(ctx, output);
  ctx.type = "application/json; charset=utf-8";
  ctx.body = output instanceof JsonText ? output.bytes : JSON.stringify(output);
}

/** Sets the headers of a governance decision; `GET /v1/governance/decisions` lists all decisions. */
function setGovernance(ctx: Context, governance: NonNullable<Problem["governance"]>): void {
  ctx.set({
    "x-governance-decision": governance.decision,
    "x-governance-decision-id": governance.id,
    "x-governance-rule": governance.rule,
  });
}

/** @throws {Problem} `InvalidInput`: a mark is misspelt; ignoring it would run the call */
function readMarks({ req: { headers } }: Context): RequestMarks {
  const { markError, ...marks } = parseMarkHeaders(headers);
  if (!markError) return marks;
  const { mark, message } = markError;
  const detail = [{ loc: ["header", mark], msg: message, type: "value_error" }];
  throw new Problem("InvalidInput", message, { body: { detail } });
}

/** Adds a hint for callers that send their key as the tool server takes it. */
function withKeyHint(error: unknown, ctx: Context): unknown {
  const isUnauthenticated = error instanceof Problem && error.name === "Unauthenticated";
  if (!isUnauthenticated || ctx.get("x-api-key") || !ctx.get("authorization")) return error;
  return new Problem(
    "Unauthenticated",
    `${error.message}; Authorization, which was sent, is for the tool server`,
  );
}
