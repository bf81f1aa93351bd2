/** Groups of approvals: what asks for the same, of one target or another. */
import { createHash } from "node:crypto";
import { canonicalize } from "../../ledger/mod.ts";
import { targetFieldOf } from "../governance/mod.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An action in two parts. */
interface SplitAction {
  /** Act. */
  readonly act: Fields;
  /** Object of the act; null: the action does not say. */
  readonly target: string | null;
}

/**
 * Returns the group of an action: SHA-256 of the action without its target. Actions of one group differ in nothing but what
 * they are done to. It tells what is alike, and proves nothing: what people approve is each action as a whole.
 *
 * @param action of a call with its arguments as they were sent, so that secrets count
 */
export function groupOf(action: Fields): string {
  return createHash("sha256").update(canonicalize(splitAction(action).act)).digest("hex");
}

/** Returns what an action is done to; null: it does not say. */
export function targetOfAction(action: Fields): string | null {
  return splitAction(action).target;
}

/**
 * Takes an action apart. The target of a repair is its service, with what the service's entry says of how it is restarted
 * and checked; that of a call is in its arguments.
 */
function splitAction(action: Fields): SplitAction {
  const { runbook, version, service, exceeds, sources } = action;
  if (typeof runbook === "string" && typeof service === "string" && isFields(sources)) {
    const { runbook_sha256, commands_sha256, values_sha256 } = sources;
    const from = { runbook_sha256, commands_sha256, values_sha256 };
    return { act: { runbook, version, exceeds, sources: defined(from) }, target: service };
  }
  const { tool, operation, arguments: given, key_id, tenant } = action;
  if (typeof tool === "string" && typeof operation === "string" && isFields(given)) {
    const { act, target } = withoutTarget(given);
    return { act: defined({ tool, operation, arguments: act, key_id, tenant }), target };
  }
  return withoutTarget(action);
}

/** Leaves the target out, and the name of its field in: `service` and `host` of one name are not the same. */
function withoutTarget(fields: Fields): SplitAction {
  const name = targetFieldOf(fields);
  if (name === undefined) return { act: fields, target: null };
  const { [name]: target, ...act } = fields;
  return { act: { ...act, [name]: null }, target: target as string };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Leaves out what is undefined, which has no canonical form. */
function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
