/** Requests as they come in, and what of JSON-RPC and protocol 0.3 is wrong with them. */
import type { Context } from "koa";
import { similarNames, Problem } from "../../contract/mod.ts";
import { MAX_BODY, readJson } from "../../web/mod.ts";
import { PROTOCOLS } from "./card.ts";
import { METHODS, wrongParams } from "./params.ts";

/** A request of either protocol. */
export interface Request {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: unknown;
  /** Whether it is of protocol 1.0. */
  readonly current: boolean;
}

/** An envelope of JSON-RPC. */
export type Envelope = Record<string, unknown>;

/** Most bytes that are read of a request: more than it may have, so that who sends too much is told so in its terms. */
export const MOST_READ = 2 * MAX_BODY;
/** Longest that names of methods are, in letters; what is longer is like none. */
const MOST_METHOD = 100;
/** Codes of JSON-RPC, and of A2A for a version that is not spoken. */
export const CODES = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  version: -32009,
};
/** Of a request for what the agent does not do. @see A2A 0.3, 8.2 */
export const NO_PUSH = -32003;

/** An answer that is an error. */
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

/** As 1.0 wants it told beside the code. @see A2A 1.0, 5.4 */
const VERSION_INFO = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "VERSION_NOT_SUPPORTED",
  domain: "a2a-protocol.org",
};

/**
 * Reads a request, or gives the answer to what is none: of JSON-RPC's errors none has a status of HTTP of its own, and
 * none depends on who asks.
 */
export async function readRequest(
  ctx: Context,
): Promise<{ readonly request: Request } | { readonly fault: Envelope }> {
  let body: unknown;
  try {
    body = await readJson(ctx, MOST_READ);
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
    return { fault: errorEnvelope(null, CODES.parse, `Parse error: ${error.message}`) };
  }
  const wrong = shapeFault(body) ?? sizeFault(ctx, body);
  const id = (body as { id?: unknown } | null)?.id;
  if (wrong) return { fault: errorEnvelope(id, CODES.request, wrong) };
  const version = versionOf(ctx);
  const current = isCurrent(version);
  if (current === undefined) {
    const spoken = Object.values(PROTOCOLS).join(", ");
    const why = `A2A ${version} is not supported; supported: ${spoken}`;
    return { fault: errorEnvelope(id, CODES.version, why, [VERSION_INFO]) };
  }
  const request = { ...body as Omit<Request, "current">, current };
  const fault = current ? undefined : faultOf(request);
  return fault ? { fault } : { request };
}

function shapeFault(body: unknown): string | undefined {
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

function sizeFault(ctx: Context, body: unknown): string | undefined {
  const size = Number(ctx.get("content-length")) || Buffer.byteLength(JSON.stringify(body));
  if (size <= MAX_BODY) return undefined;
  return `Invalid request: ${size} bytes, and at most ${MAX_BODY} are taken`;
}

const versionOf = (ctx: Context) => ctx.get("a2a-version") || `${ctx.query["A2A-Version"] ?? ""}`;

/** Whether a version is that of protocol 1.0; undefined: it is not spoken. */
function isCurrent(version: string): boolean | undefined {
  if (/^(0\.3(\.\d+)?)?$/.test(version)) return false;
  return /^1\.0(\.\d+)?$/.test(version) ? true : undefined;
}

/** Methods of MCP, whose clients are at the wrong address here. */
const OF_MCP =
  /^(?:initialize|ping|(?:notifications|tools|resources|prompts|completion|logging)\/)/;

/** What may be meant by a method that protocol 0.3 has not. */
function hint(method: string): string {
  if (OF_MCP.test(method)) return "; MCP is at /mcp";
  if (/^[A-Z][A-Za-z]{1,60}$/.test(method)) {
    return "; methods of protocol 1.0 are taken with the header A2A-Version: 1.0";
  }
  const [near] = similarNames(method.slice(0, MOST_METHOD), Object.keys(METHODS));
  return near ? `; did you mean ${near}?` : "";
}

/** What is wrong with a request of protocol 0.3, as its SDK would not say it. */
function faultOf({ id, method, params }: Request): Envelope | undefined {
  if (!Object.hasOwn(METHODS, method)) {
    return errorEnvelope(id, CODES.method, `Method not found: ${method}${hint(method)}`);
  }
  const wrong = Array.isArray(params)
    ? "Invalid params: expected an object"
    : wrongParams(method, params ?? {});
  return wrong === undefined ? undefined : errorEnvelope(id, CODES.params, wrong);
}
