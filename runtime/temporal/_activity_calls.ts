import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import {
  activityOf,
  enclose,
  isEnvelope,
  openEnvelope,
  UNAUTHENTICATED,
} from "../../contract/domain/mod.ts";
import { noteActivityTenant } from "./payloads.ts";

/**
 * The door of activities: each takes what a run of the platform's has sent to it, and encloses its result for that run.
 * Activities get the tenant in whose name they work before their arguments.
 */
export const openCalls: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute({ args, headers }, next) {
      const { activityType: name, activityId, workflowExecution } = activityInfo();
      const of = activityOf(workflowExecution?.workflowId ?? "", activityId);
      const run = isEnvelope(args[0]) ? args[0].run : undefined; // the run compares it with its own
      const call = openEnvelope(args, { envelope: "activity", name, of, run });
      if (typeof call === "string") throw ApplicationFailure.nonRetryable(call, UNAUTHENTICATED);
      noteActivityTenant(call.tenant);
      const result = await next({ headers, args: [call.tenant, ...call.args] });
      const values = result === undefined ? [] : [result];
      return enclose({ ...call, envelope: "result", args: values });
    },
  },
});
