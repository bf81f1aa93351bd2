import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import { readJson } from "../web/mod.ts";
import { COMPLETED } from "./resources.ts";

/** A request of JSON-RPC: it has an id, under which its answer goes out on the stream. */
export interface JsonRpcRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params?: unknown;
}

/**
 * Reads a posted message. What is no JSON, or no single message, is answered here as JSON-RPC has it.
 *
 * @returns undefined where it was refused
 * @throws {Problem} `TooLarge` above 1 MiB, `UnsupportedMediaType`
 */
export async function readMessage(ctx: Context): Promise<object | undefined> {
  try {
    const message = await readJson(ctx);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
    const what = Array.isArray(message) ? "a batch" : message === undefined ? "nothing" : "a value";
    return refused(ctx, INVALID_REQUEST, `Expected one JSON-RPC message, and this is ${what}`);
  } catch (error) {
    return malformed(ctx, error);
  }
}

/**
 * Reads what was posted to the one address of Streamable HTTP: as {@linkcode readMessage}, and a batch besides, where
 * the revision has those.
 */
export async function readMessages(ctx: Context): Promise<object | undefined> {
  if (!BATCHES.has(ctx.get("mcp-protocol-version"))) return await readMessage(ctx);
  try {
    const message = await readJson(ctx);
    if (typeof message === "object" && message !== null && !isEmpty(message)) return message;
    return refused(ctx, INVALID_REQUEST, "Expected a JSON-RPC message, or a batch of some");
  } catch (error) {
    return malformed(ctx, error);
  }
}

/** Revisions with batches. Clients of the first one, which has, don't name it. */
const BATCHES = new Set(["", "2025-03-26"]);
const isEmpty = (message: object) => Array.isArray(message) && message.length === 0;

function malformed(ctx: Context, error: unknown): undefined {
  if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
  return refused(ctx, PARSE_ERROR, error.message);
}

/** Requests that are counted on their way, as calls of operations are; and the parameter that names what is asked for. */
const COUNTED_LATER: ReadonlyMap<string, string | null> = new Map([
  ["tools/call", "name"],
  ["resources/list", null],
  ["resources/read", "uri"],
  ["prompts/get", "name"],
]);

/** Whether a request is counted on its way. What the SDKs refuse for its parameters never gets that far. */
export function isCountedLater({ method, params }: JsonRpcRequest): boolean {
  if (method === "completion/complete") return isCompletedByName(params);
  const field = COUNTED_LATER.get(method);
  if (field === undefined || field === null) return field === null;
  const { [field]: name, arguments: given = {} } = Object(params) as Record<string, unknown>;
  if (typeof name !== "string" || typeof given !== "object" || given === null) return false;
  if (method === "prompts/get") {
    return Object.values(given).every((value) => typeof value === "string");
  }
  return !Array.isArray(given);
}

/** Whether a completion reads the list of resources, by which it is counted. */
function isCompletedByName(params: unknown): boolean {
  const { ref, argument, context } = Object(params) as Record<string, unknown>;
  const { type, name, uri } = Object(ref) as Record<string, unknown>;
  const { name: completed, value } = Object(argument) as Record<string, unknown>;
  const isReference = type === "ref/prompt" && typeof name === "string" ||
    type === "ref/resource" && typeof uri === "string";
  return isReference && isGiven(context) && typeof value === "string" &&
    typeof completed === "string" && COMPLETED.has(completed);
}

/** Whether this is what a completion may say of the other arguments: nothing, or a text for each of some. */
function isGiven(context: unknown): boolean {
  const given = context === undefined ? undefined : (context as { arguments?: unknown })?.arguments;
  const isObject = (value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  return (context === undefined || isObject(context)) &&
    (given === undefined ||
      isObject(given) && Object.values(given!).every((value) => typeof value === "string"));
}

/** Whether a value has the form of JSON-RPC 2.0. */
export function isMessage(message: object): boolean {
  const { jsonrpc, method, id } = message as { jsonrpc?: unknown; method?: unknown; id?: unknown };
  if (jsonrpc !== "2.0") return false;
  if (method === undefined) return "result" in message || "error" in message;
  return typeof method === "string" && (id === undefined || /^(string|number)$/.test(typeof id));
}

/** The requests within a message or batch. */
export function requestsOf(body: object): readonly JsonRpcRequest[] {
  return (Array.isArray(body) ? body : [body]).filter((message) =>
    typeof message === "object" && message !== null && wantsAnswer(message)
  );
}

/** Whether a request wants to be told how far it is, which takes a stream. */
export function asksForProgress({ params }: JsonRpcRequest): boolean {
  return (params as { _meta?: { progressToken?: unknown } } | undefined)?._meta?.progressToken !==
    undefined;
}

/** Whether a message opens a session. */
export function isHandshake(body: object): boolean {
  return "method" in body && body.method === "initialize";
}

/** @see JSON-RPC 2.0 §5.1 */
const PARSE_ERROR = -32700;
/** The text is JSON and no message. @see JSON-RPC 2.0 §5.1 */
export const INVALID_REQUEST = -32600;

/** Answers a message that can't be answered on the stream, as nobody knows which request it was. */
export function refused(ctx: Context, code: number, message: string): undefined {
  ctx.status = 400;
  ctx.body = { jsonrpc: "2.0", id: null, error: { code, message } };
}

/** Whether a message is a request, in contrast to a notification or a response. */
export function wantsAnswer(message: object): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}
