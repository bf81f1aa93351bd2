import type { WorkflowHandle } from "@temporalio/client";
import { WORKFLOW } from "../../domain/mod.ts";
import { defaultPayloadConverter } from "@temporalio/common";
import { Problem } from "../../contract/mod.ts";
import { getTenant } from "../../store/mod.ts";
import { type Context, TOKEN_HOLDER } from "../../calls/mod.ts";

/** Types whose result answers what somebody asked in words of their own. */
const PRIVATE: ReadonlySet<string> = new Set([
  WORKFLOW.a2aSkill,
  WORKFLOW.a2aTask,
  WORKFLOW.reasoning,
  WORKFLOW.crew,
]);
/** Conversations and tasks over A2A: to others there are none. */
export const CONVERSATIONS = [WORKFLOW.a2aTask, WORKFLOW.a2aSkill] as const;

/**
 * What somebody asked is answered to that key, and to admins. What was asked with the shared token is for every key, as
 * no key has asked.
 *
 * @throws {Problem} `Forbidden`
 */
export async function refuseOthers(
  { caller }: Pick<Context, "caller">,
  type: string,
  handle: WorkflowHandle,
): Promise<void> {
  if (!PRIVATE.has(type) || caller.tier === "admin") return;
  const by = await keyThatAsked(handle);
  if (by === caller.keyId || by === TOKEN_HOLDER) return;
  throw new Problem(
    "Forbidden",
    `What ${handle.workflowId} gave is for the key that has asked it`,
  );
}

/**
 * What a tenant's key has started is that tenant's, and admins'. What the platform runs by itself is everybody's; so is
 * reading of a loop, whoever started it, as its ticket is.
 *
 * @param type of the run, where it is to be read
 * @throws {Problem} `Forbidden`
 */
export async function refuseOtherTenants(
  { caller, store }: Pick<Context, "caller" | "store">,
  handle: WorkflowHandle,
  what: "cancel" | "read",
  type?: string,
): Promise<void> {
  if (caller.tier === "admin") return;
  if (what === "read" && type === WORKFLOW.itsmLoop) return;
  const by = await keyThatAsked(handle);
  if (by === undefined || by === caller.keyId) return;
  const tenant = await getTenant(store.asPlatform(), by);
  if (tenant === undefined || tenant === caller.tenant) return;
  throw new Problem(
    "Forbidden",
    `${handle.workflowId} was started by a key of another tenant; that tenant's keys and those of tier admin can ` +
      `${what} it`,
  );
}

/** The key that asked for a run, by what it was started with; undefined: none did. */
async function keyThatAsked({ workflowId, client }: WorkflowHandle): Promise<string | undefined> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1, // it is in the first event
  });
  const [first] = history?.events ?? [];
  const [payload] = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const asked: Asked | string | null = payload
    ? defaultPayloadConverter.fromPayload(payload)
    : null;
  const [key, by] = typeof asked === "string"
    ? [undefined, asked]
    : [asked?.key_id, asked?.requested_by];
  return key ?? /^key:(.+)$/.exec(by ?? "")?.[1];
}

/** What such a run is started with, as far as it says who asks. */
interface Asked {
  readonly key_id?: string;
  readonly requested_by?: string;
}
