/** The right to read or cancel a run: runs are their tenant's, and some results are private to the key that asked. */
import {
  type WorkflowExecutionInfo,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { Problem } from "../contract/mod.ts";
import { ATTRIBUTE, PLATFORM_TENANT, WORKFLOW } from "../contract/domain/mod.ts";
import type { Store } from "../store/mod.ts";
import { readEnvelope } from "../runtime/temporal/mod.ts";
import { TOKEN_HOLDER } from "./authenticate.ts";
import type { Context, Platform } from "./platform.ts";
import { mapTemporalErrors } from "./temporal_errors.ts";

/** Conversations, and tasks over A2A. Only their own key and admins see that they exist. */
export const CONVERSATIONS = [WORKFLOW.conversation, WORKFLOW.a2aTask, WORKFLOW.a2aSkill] as const;
/** Types whose result answers free text. */
const PRIVATE: ReadonlySet<string> = new Set([
  ...CONVERSATIONS,
  WORKFLOW.reasoning,
  WORKFLOW.crew,
  WORKFLOW.peerMessage,
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
  { caller, store }: Pick<Context, "caller" | "store">,
  type: string,
  handle: WorkflowHandle,
): Promise<void> {
  if (!PRIVATE.has(type) || caller.tier === "admin") return;
  const key = await requestingKey(handle, store);
  if (key === caller.keyId || key === TOKEN_HOLDER) return;
  throw new Problem(
    "Forbidden",
    `Cannot read the result of ${handle.workflowId}: it is for the key that asked and for keys of tier admin`,
  );
}

/**
 * Refuses a run of another tenant as if there were none. A call of tier admin is made in the name of the run's tenant.
 *
 * @param run as Temporal describes it
 * @throws {Problem} `NotFound`
 */
export function refuseOtherTenants(
  { store }: Pick<Context, "store">,
  run: Pick<WorkflowExecutionInfo, "workflowId" | "typedSearchAttributes">,
): void {
  if (tenantOfRun(run) === store.tenant) return;
  throw new Problem("NotFound", `There is no workflow ${run.workflowId}`);
}

/** Returns the tenant of a workflow's latest run; undefined where there is none. */
export async function runOwner(
  { workflow_id }: { readonly workflow_id: string },
  { temporal }: Pick<Platform, "temporal">,
): Promise<string | undefined> {
  const handle = (await temporal()).workflow.getHandle(workflow_id);
  try {
    return tenantOfRun(await handle.describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    return await mapTemporalErrors(Promise.reject(error));
  }
}

/** Runs of the platform itself have no tenant's name. */
function tenantOfRun(
  { typedSearchAttributes }: Pick<WorkflowExecutionInfo, "typedSearchAttributes">,
): string {
  return typedSearchAttributes.get(ATTRIBUTE.tenant) ?? PLATFORM_TENANT;
}

/** Returns the condition of Temporal's list filter for the runs of a tenant. */
export function runsOfTenant(tenant: string): string {
  const { name } = ATTRIBUTE.tenant;
  const own = `${name} = ${JSON.stringify(tenant)}`;
  return tenant === PLATFORM_TENANT ? `(${own} OR ${name} IS NULL)` : own;
}

/** Returns the key that asked for a run, by the run's argument; undefined: no key did. */
async function requestingKey(
  { workflowId, client }: WorkflowHandle,
  store: Store,
): Promise<string | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1, // the first event has the argument
  });
  const [first] = history?.events ?? [];
  const [payload] = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const start = await readEnvelope(store, payload);
  if (!start) return undefined;
  const [argument] = start.args as readonly (Requester | string | undefined)[];
  const { key_id, requested_by = "" }: Requester = typeof argument === "string"
    ? { requested_by: argument }
    : argument ?? {};
  return key_id ?? /^key:(.+)$/.exec(requested_by)?.[1];
}
