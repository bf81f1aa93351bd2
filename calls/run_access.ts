/** The right to read or cancel a run: some results are private to the key that asked, others to its tenant. */
import type { WorkflowHandle } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import { WORKFLOW } from "../domain/mod.ts";
import { getTenant } from "../store/mod.ts";
import { TOKEN_HOLDER } from "./authenticate.ts";
import type { Context } from "./platform.ts";

/** Conversations and tasks over A2A. Only their own key and admins see that they exist. */
export const CONVERSATIONS = [WORKFLOW.a2aTask, WORKFLOW.a2aSkill] as const;
/** Types whose result answers free text. */
const PRIVATE: ReadonlySet<string> = new Set([
  ...CONVERSATIONS,
  WORKFLOW.reasoning,
  WORKFLOW.crew,
]);

/** The argument of a run, as far as it names the requesting key. */
interface Requester {
  readonly key_id?: string;
  readonly requested_by?: string;
}

/**
 * Refuses the result of a run that answers free text, unless the caller's key asked for it or is of tier admin. A result
 * that was asked for with the shared token is for every key, as no key asked.
 *
 * @throws {Problem} `Forbidden`
 */
export async function refuseOtherKeys(
  { caller }: Pick<Context, "caller">,
  type: string,
  handle: WorkflowHandle,
): Promise<void> {
  if (!PRIVATE.has(type) || caller.tier === "admin") return;
  const key = await requestingKey(handle);
  if (key === caller.keyId || key === TOKEN_HOLDER) return;
  throw new Problem(
    "Forbidden",
    `Cannot read the result of ${handle.workflowId}: it is for the key that asked and for keys of tier admin`,
  );
}

/**
 * Refuses a run that a key of another tenant has started, except to keys of tier admin. Runs that the platform has started
 * are for everybody. Loops can be read by everybody, as their tickets can.
 *
 * @param type of the run, where it is to be read
 * @throws {Problem} `Forbidden`
 */
export async function refuseOtherTenants(
  { caller, store }: Pick<Context, "caller" | "store">,
  handle: WorkflowHandle,
  act: "cancel" | "read",
  type?: string,
): Promise<void> {
  if (caller.tier === "admin") return;
  if (act === "read" && type === WORKFLOW.itsmLoop) return;
  const key = await requestingKey(handle);
  if (key === undefined || key === caller.keyId) return;
  const tenant = await getTenant(store.asPlatform(), key);
  if (tenant === undefined || tenant === caller.tenant) return;
  throw new Problem(
    "Forbidden",
    `${handle.workflowId} was started by a key of another tenant; that tenant's keys and those of tier admin can ` +
      `${act} it`,
  );
}

/** Returns the key that asked for a run, by the run's argument; undefined: no key did. */
async function requestingKey({ workflowId, client }: WorkflowHandle): Promise<string | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1, // the first event has the argument
  });
  const [first] = history?.events ?? [];
  const [payload] = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (!payload) return undefined;
  const argument: Requester | string | null = defaultPayloadConverter.fromPayload(payload);
  const { key_id, requested_by = "" }: Requester = typeof argument === "string"
    ? { requested_by: argument }
    : argument ?? {};
  return key_id ?? /^key:(.+)$/.exec(requested_by)?.[1];
}
