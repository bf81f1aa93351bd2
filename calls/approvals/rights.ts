import type { Caller } from "../../contract/mod.ts";
import type { ApprovalRecord } from "../../store/mod.ts";

type Asked = Pick<ApprovalRecord, "id" | "requestedByTenant">;

/** Whether somebody is of the tenant that asks, or of tier admin. What a loop asks is everybody's. */
export function concerns(caller: Caller, { requestedByTenant }: Asked): boolean {
  return requestedByTenant === null || requestedByTenant === caller.tenant ||
    caller.tier === "admin";
}
