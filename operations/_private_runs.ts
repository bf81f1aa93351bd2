import type { WorkflowHandle } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { Problem } from "../contract/mod.ts";
import { A2A_SKILL, A2A_TASK, CREW, REASONING } from "../workflows/mod.ts";
import { TOKEN_HOLDER } from "./_authentication.ts";
import type { Context } from "./platform.ts";

/** Types whose result answers what somebody asked in words of their own. */
const PRIVATE: ReadonlySet<string> = new Set([A2A_SKILL, A2A_TASK, REASONING, CREW]);

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
  const { events } = await handle.fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const asked: Asked = payload ? defaultPayloadConverter.fromPayload(payload) : {};
  const by = asked.key_id ?? asked.requested_by?.replace(/^key:/, "");
  if (by === caller.keyId || by === TOKEN_HOLDER) return;
  throw new Problem(
    "Forbidden",
    `What ${handle.workflowId} gave is for the key that has asked it`,
  );
}

/** What such a run is started with, as far as it says who asks. */
interface Asked {
  readonly key_id?: string;
  readonly requested_by?: string;
}
