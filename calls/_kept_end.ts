/** The end of a call with an idempotency key, as it is kept and as a repetition gets it. */
import {
  EARLIER_HEADER,
  EventStream,
  FileOutput,
  InvalidInput,
  type Issue,
  JsonText,
  outputText,
  outputValue,
  Problem,
} from "../contract/mod.ts";
import { type ErrorName, ERRORS } from "../contract/domain/mod.ts";
import type { KeptCall, KeptEnd, KeptError } from "../store/calls/mod.ts";
import type { CallOutcome, CheckedCall } from "./run.ts";

/** Largest answer that is kept. */
const MAX_ANSWER_BYTES = 128 * 1024;

/**
 * Returns the part of a call's end that is kept; undefined: a repetition is to run it again. A refusal before the call has
 * begun is not kept: nothing was done, and whatever refused it may change.
 */
export function keptEnd(
  { presentation: { shownOnce = [] } = {} }: CheckedCall["operation"],
  { output, error, decision }: CallOutcome,
  hasBegun: boolean,
): KeptEnd | undefined {
  if (decision?.approvalId) return { approvalId: decision.approvalId };
  if (!hasBegun) return undefined;
  if (error) return isKept(error) ? { error: toKept(error) } : undefined;
  const value = outputValue(output) as Record<string, unknown> | undefined;
  const hasSecrets = shownOnce.some((name) => value?.[name] != null);
  const secrets = Object.fromEntries(shownOnce.map((name) => [name, null]));
  const text = hasSecrets ? JSON.stringify({ ...value, ...secrets }) : outputText(output);
  const isKeepable = !(output instanceof FileOutput) && !(output instanceof EventStream);
  if (isKeepable && Buffer.byteLength(text) <= MAX_ANSWER_BYTES) {
    return { output: text };
  }
  const why = output instanceof EventStream
    ? "was a stream, which is not kept"
    : "was too large to be kept";
  const message = `The call with this idempotency key was done; its answer ${why}`;
  return { error: toKept(new Problem("Conflict", message)) };
}

/** Returns whether a repetition gets this error again: not where the limit, the service or the connection was the cause. */
function isKept({ name, rule }: Problem): boolean {
  return rule.status < 500 && name !== "RateLimited" && name !== "Cancelled" &&
    name !== "StillRunning";
}

function toKept(error: Problem): KeptError {
  const { name, message, extra: { body, headers } } = error;
  const issues = error instanceof InvalidInput ? error.issues : undefined;
  return { name, message, body, headers, issues };
}

/** Returns the outcome that a repetition gets. */
export function keptOutcome({ output, error, changedAt }: KeptCall): CallOutcome {
  if (!error) return { output: new JsonText(output!) };
  const { name, message, body, headers, issues } = error;
  const earlier = { ...headers, [EARLIER_HEADER]: changedAt.toISOString() };
  if (issues) return { error: new InvalidInput(issues as Issue[], earlier) };
  const extra = { ...(body ? { body } : {}), headers: earlier };
  return { error: new Problem(errorName(name), message, extra) };
}

/** Returns the name of an error as it was noted; `Internal` where there is no such name. */
export const errorName = (name: string): ErrorName =>
  Object.hasOwn(ERRORS, name) ? name as ErrorName : "Internal";
