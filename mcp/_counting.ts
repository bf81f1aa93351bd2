import type { JsonRpcRequest } from "./json_rpc.ts";
import { COMPLETED_ARGUMENTS } from "./resources.ts";

/** Requests that call an operation, which counts them, and the parameter that names what is called. */
const OPERATION_CALLS: ReadonlyMap<string, string | undefined> = new Map([
  ["tools/call", "name"],
  ["resources/list", undefined],
  ["resources/read", "uri"],
  ["prompts/get", "name"],
]);

/**
 * Returns true where handling a request counts it against the key's limit, as it calls an operation. All others must be
 * counted on arrival, among them requests that the SDKs refuse for their parameters.
 */
export function isCountedByOperation({ method, params }: JsonRpcRequest): boolean {
  if (method === "completion/complete") return isCompletionByName(params);
  if (!OPERATION_CALLS.has(method)) return false;
  const field = OPERATION_CALLS.get(method);
  if (field === undefined) return true;
  const { [field]: name, arguments: input = {} } = Object(params) as Record<string, unknown>;
  if (typeof name !== "string" || typeof input !== "object" || input === null) return false;
  return method === "prompts/get" ? hasTextsOnly(input) : !Array.isArray(input);
}

/** Returns true where a completion reads the list of resources, by which it is counted. */
function isCompletionByName(params: unknown): boolean {
  const { ref, argument, context } = Object(params) as Record<string, unknown>;
  const { type, name, uri } = Object(ref) as Record<string, unknown>;
  const { name: completed, value } = Object(argument) as Record<string, unknown>;
  const isReference = type === "ref/prompt" && typeof name === "string" ||
    type === "ref/resource" && typeof uri === "string";
  return isReference && isCompletionContext(context) && typeof value === "string" &&
    typeof completed === "string" && COMPLETED_ARGUMENTS.has(completed);
}

/** Returns true where a completion's context is valid: absent, or with a text for each argument it names. */
function isCompletionContext(context: unknown): boolean {
  if (context === undefined) return true;
  if (!isObject(context)) return false;
  const { arguments: input } = context as { arguments?: unknown };
  return input === undefined || isObject(input) && hasTextsOnly(input);
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasTextsOnly = (value: object) =>
  Object.values(value).every((text) => typeof text === "string");
