/** Requests of A2A as they are received, and their errors in JSON-RPC. */
import type { Context } from "koa";
import { Problem, similarNames } from "../../contract/mod.ts";
import { MAX_BODY, readJson } from "../../runtime/web/mod.ts";
import { JSON_RPC } from "../json_rpc.ts";
import { describeWrongParams, METHODS } from "./request_schemas.ts";

/** A protocol version that is served. */
export type Version = "0.3" | "1.0";

/** A request of either version. */
export interface A2aRequest {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: unknown;
  readonly version: Version;
}

/** A response of JSON-RPC. */
export type Envelope = Record<string, unknown>;

/** Maximum of bytes that are read: more than a request may have, so that too large a one gets an answer in JSON-RPC. */
export const MAX_A2A_BODY = 2 * MAX_BODY;
/** Longer names are similar to no method's. */
const MAX_METHOD_LENGTH = 100;

/** Codes of A2A. @see A2A 0.3, 8.2, and 1.0, 5.4 */
export const PUSH_NOT_SUPPORTED = -32003;
const VERSION_NOT_SUPPORTED = -32009;

/** Creates an error response. */
export const errorEnvelope = (
  id: unknown,
  code: number,
  message: string,
  data?: readonly unknown[],
): Envelope => ({
  jsonrpc: "2.0",
  id: typeof id === "string" || (typeof id === "number" && Number.isInteger(id)) ? id : null,
  error: { code, message, ...(data ? { data } : {}) },
});

/** @see A2A 1.0, 5.4 */
const VERSION_INFO = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "VERSION_NOT_SUPPORTED",
  domain: "a2a-protocol.org",
};

/**
 * Reads a request.
 *
 * @returns the error response in its place where it is invalid
 * @throws {Problem} `TooLarge`, `UnsupportedMediaType`
 */
export async function readRequest(
  ctx: Context,
): Promise<{ readonly request: A2aRequest } | { readonly error: Envelope }> {
  let body: unknown;
  try {
    body = await readJson(ctx, MAX_A2A_BODY);
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
    return { error: errorEnvelope(null, JSON_RPC.parseError, `Parse error: ${error.message}`) };
  }
  const id = (body as { id?: unknown } | null)?.id;
  const wrong = describeWrongShape(body) ?? describeWrongSize(ctx, body);
  if (wrong) return { error: errorEnvelope(id, JSON_RPC.invalidRequest, wrong) };
  const sentVersion = ctx.get("a2a-version") || `${ctx.query["A2A-Version"] ?? ""}`;
  const version = parseVersion(sentVersion);
  if (version === undefined) {
    const why = `A2A ${sentVersion} is not supported; supported: 0.3.0, 1.0`;
    return { error: errorEnvelope(id, VERSION_NOT_SUPPORTED, why, [VERSION_INFO]) };
  }
  const request = { ...body as Omit<A2aRequest, "version">, version };
  const error = version === "0.3" ? checkRequest(request) : undefined;
  return error ? { error } : { request };
}

function describeWrongShape(body: unknown): string | undefined {
  if (Array.isArray(body)) return "Invalid request: batches are not taken; send one request";
  if (typeof body !== "object" || body === null) return "Invalid request: expected an object";
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== "2.0") return 'Invalid request: jsonrpc has to be "2.0"';
  if (typeof method !== "string" || method === "") return "Invalid request: method is required";
  const isId = id === undefined || id === null || typeof id === "string" ||
    (typeof id === "number" && Number.isInteger(id));
  if (!isId) return "Invalid request: id has to be a string or an integer";
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return "Invalid request: params has to be an object";
  }
  return undefined;
}

function describeWrongSize(ctx: Context, body: unknown): string | undefined {
  const size = Number(ctx.get("content-length")) || Buffer.byteLength(JSON.stringify(body));
  if (size <= MAX_BODY) return undefined;
  return `Invalid request: ${size} bytes, and at most ${MAX_BODY} are taken`;
}

/** @returns undefined where the version is not served */
function parseVersion(text: string): Version | undefined {
  if (/^(0\.3(\.\d+)?)?$/.test(text)) return "0.3";
  return /^1\.0(\.\d+)?$/.test(text) ? "1.0" : undefined;
}

/** Checks a request of version 0.3, with clearer messages than its SDK's. @returns the error response */
function checkRequest({ id, method, params }: A2aRequest): Envelope | undefined {
  if (!Object.hasOwn(METHODS, method)) {
    const message = `Method not found: ${method}${adviceFor(method)}`;
    return errorEnvelope(id, JSON_RPC.methodNotFound, message);
  }
  const wrong = Array.isArray(params)
    ? "Invalid params: expected an object"
    : describeWrongParams(method, params ?? {});
  return wrong === undefined ? undefined : errorEnvelope(id, JSON_RPC.invalidParams, wrong);
}

const MCP_METHOD =
  /^(?:initialize|ping|(?:notifications|tools|resources|prompts|completion|logging)\/)/;

/** Returns what may be meant by a method that version 0.3 does not have. */
function adviceFor(method: string): string {
  if (MCP_METHOD.test(method)) return "; MCP is at /mcp";
  if (/^[A-Z][A-Za-z]{1,60}$/.test(method)) {
    return "; methods of protocol 1.0 are taken with the header A2A-Version: 1.0";
  }
  const [similar] = similarNames(method.slice(0, MAX_METHOD_LENGTH), Object.keys(METHODS));
  return similar ? `; did you mean ${similar}?` : "";
}
