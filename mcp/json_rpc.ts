import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import { readJson } from "../runtime/web/mod.ts";
import { tidyMessage } from "./_tidy_message.ts";

/** A request of JSON-RPC, in contrast to a notification or a response. */
export interface JsonRpcRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params?: unknown;
}

/** Codes of errors. @see JSON-RPC 2.0 §5.1 */
export const JSON_RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** First of the codes that servers may define. */
  serverError: -32000,
} as const;

/**
 * Reads a posted message. A body that is no JSON, or no single message, is answered here with a JSON-RPC error.
 *
 * @returns undefined where it was refused
 * @throws {Problem} `TooLarge` above 1 MiB, `UnsupportedMediaType`
 */
export async function readMessage(ctx: Context): Promise<object | undefined> {
  const body = await readBody(ctx);
  if (body === undefined) return undefined;
  const { json } = body;
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return json;
  const kind = Array.isArray(json) ? "a batch" : json === undefined ? "nothing" : "a value";
  refuseMessage(
    ctx,
    JSON_RPC.invalidRequest,
    `Expected one JSON-RPC message, and this is ${kind}`,
  );
  return undefined;
}

/** Revisions with batches. The first one's clients send no version. */
const BATCH_VERSIONS = new Set(["", "2025-03-26"]);

/** Reads a message posted to Streamable HTTP, as {@linkcode readMessage}; or a batch, in revisions that have them. */
export async function readMessages(ctx: Context): Promise<object | undefined> {
  if (!BATCH_VERSIONS.has(ctx.get("mcp-protocol-version"))) return await readMessage(ctx);
  const body = await readBody(ctx);
  if (body === undefined) return undefined;
  const { json } = body;
  const isEmptyBatch = Array.isArray(json) && json.length === 0;
  if (typeof json === "object" && json !== null && !isEmptyBatch) return json;
  refuseMessage(ctx, JSON_RPC.invalidRequest, "Expected a JSON-RPC message, or a batch of some");
  return undefined;
}

async function readBody(ctx: Context): Promise<{ readonly json: unknown } | undefined> {
  try {
    const json = await readJson(ctx);
    return { json: typeof json === "object" && json !== null ? tidyMessage(json) : json };
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
    refuseMessage(ctx, JSON_RPC.parseError, error.message);
    return undefined;
  }
}

/** Sends an error for a message that can't be answered on the stream, as the id of its request is unknown. */
export function refuseMessage(ctx: Context, code: number, message: string): void {
  ctx.status = 400;
  ctx.body = { jsonrpc: "2.0", id: null, error: { code, message } };
}

/** Returns true where a value has the form of JSON-RPC 2.0. */
export function isMessage(message: object): boolean {
  const { jsonrpc, method, id } = message as { jsonrpc?: unknown; method?: unknown; id?: unknown };
  if (jsonrpc !== "2.0") return false;
  if (method === undefined) return "result" in message || "error" in message;
  return typeof method === "string" && (id === undefined || /^(string|number)$/.test(typeof id));
}

/** Returns true for a request, in contrast to a notification or a response. */
export function isRequest(message: object): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}

/** Returns the requests in a message or batch. */
export function requestsOf(body: object): readonly JsonRpcRequest[] {
  return (Array.isArray(body) ? body : [body]).filter((message) =>
    typeof message === "object" && message !== null && isRequest(message)
  );
}

/** Returns true where a message opens a session. */
export function isInitialize(body: object): boolean {
  return "method" in body && body.method === "initialize";
}

/** Returns true where a request asks for progress notifications, which need a stream. */
export function asksForProgress({ params }: JsonRpcRequest): boolean {
  return (params as { _meta?: { progressToken?: unknown } } | undefined)?._meta?.progressToken !==
    undefined;
}
