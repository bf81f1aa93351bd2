/**
 * The door of workflows: what a run takes and gives passes here. It takes what the platform has sent for this very call,
 * and parses its arguments. A start is refused by the failure of its run, before any activity; an update by its rejection; a
 * signal is dropped with a line in the log.
 */
import {
  ApplicationFailure,
  log,
  type WorkflowInboundCallsInterceptor,
  workflowInfo,
  type WorkflowInterceptorsFactory,
  type WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";
import {
  activityOf,
  enclose,
  type Envelope,
  type ExpectedEnvelope,
  isRefused,
  openEnvelope,
  tenantOfAttributes,
  UNAUTHENTICATED,
  type WorkflowName,
} from "../contract/domain/mod.ts";
import {
  type ArgumentsSchema,
  parseArguments,
  type SchemaOf,
} from "../contract/domain/schemas/mod.ts";
import { parseCall, WORKFLOW_ARGUMENTS } from "./_arguments.ts";
import { currentTenant } from "./_run.ts";
import type * as workflows from "./mod.ts";

/** Schemas of the arguments of workflows, each compared with the workflow's own. */
const SCHEMAS: Readonly<Record<string, ArgumentsSchema>> = WORKFLOW_ARGUMENTS satisfies {
  readonly [Name in WorkflowName]: SchemaOf<
    (typeof WORKFLOW_ARGUMENTS)[Name],
    Parameters<(typeof workflows)[Name]>
  >;
};

const INBOUND: WorkflowInboundCallsInterceptor = {
  async execute({ args, headers }, next) {
    const { workflowType, workflowId } = workflowInfo();
    const start = take(args, { envelope: "start", name: workflowType, of: workflowId });
    if (start.tenant !== currentTenant()) {
      throw unauthenticated(
        `Cannot begin ${workflowId}: it was started for ${start.tenant}, and its attribute names ${currentTenant()}`,
      );
    }
    const call = `start of ${workflowType}`;
    return await next({ headers, args: parseArguments(call, SCHEMAS[workflowType], start.args) });
  },

  async handleSignal({ signalName, args, headers }, next) {
    let parsed: unknown[];
    try {
      parsed = takeCall("signal", signalName, args);
    } catch (error) {
      log.warn("A signal is dropped", { signal: signalName, error });
      return;
    }
    await next({ signalName, headers, args: parsed });
  },

  validateUpdate: ({ args, ...rest }, next) =>
    next({ ...rest, args: takeCall("update", rest.name, args) }),
  handleUpdate: async ({ args, ...rest }, next) =>
    await next({ ...rest, args: takeCall("update", rest.name, args) }),

  // Queries change nothing, and none of them takes arguments.
  handleQuery: async (input, next) => await next({ ...input, args: [] }),
};

const OUTBOUND: WorkflowOutboundCallsInterceptor = {
  async scheduleActivity({ args, ...input }, next) {
    const { workflowId, firstExecutionRunId: run } = workflowInfo();
    const name = input.activityType;
    const of = activityOf(workflowId, input.options.activityId ?? String(input.seq));
    const call: Envelope = { envelope: "activity", name, of, run, tenant: currentTenant(), args };
    const result = await next({ ...input, args: [enclose(call)] });
    return take([result], { envelope: "result", name, of, run }).args[0];
  },

  async startChildWorkflowExecution(input, next) {
    const { workflowId, args, typedSearchAttributes } = input.options;
    const start = enclose({
      envelope: "start",
      name: input.workflowType,
      of: workflowId,
      tenant: tenantOfAttributes(typedSearchAttributes),
      args,
    });
    const options = { ...input.options, args: [start] };
    const [started, result] = await next({ ...input, options });
    const opened = result.then(takeResult);
    opened.catch(() => {}); // nobody may wait for it
    return [started, opened];
  },

  async signalWorkflow(input, next) {
    const { target, signalName: name, args } = input;
    const of = target.type === "child"
      ? target.childWorkflowId
      : target.workflowExecution.workflowId!;
    const call = enclose({ envelope: "signal", name, of, tenant: currentTenant(), args });
    await next({ ...input, args: [call] });
  },

  async continueAsNew(input, next) {
    const { workflowId: of } = workflowInfo();
    const name = input.options.workflowType;
    const call = enclose({
      envelope: "start",
      name,
      of,
      tenant: currentTenant(),
      args: input.args,
    });
    return await next({ ...input, args: [call] });
  },
};

/** Makes the interceptors of a run. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [INBOUND],
  outbound: [OUTBOUND],
});

function takeCall(envelope: "signal" | "update", name: string, args: readonly unknown[]) {
  const call = take(args, { envelope, name, of: workflowInfo().workflowId });
  return parseCall(envelope, name, call.args);
}

/** @throws {ApplicationFailure} non-retryable: the platform has not sent it for this call */
function take(decoded: readonly unknown[], expected: ExpectedEnvelope): Envelope {
  const opened = openEnvelope(decoded, expected);
  if (typeof opened === "string") throw unauthenticated(opened);
  return opened;
}

/** Returns the result of a child. Every child has one. */
function takeResult(result: unknown): unknown {
  if (result !== undefined && !isRefused(result)) return result;
  throw unauthenticated("Cannot take the result of a child: the platform has not sent it");
}

function unauthenticated(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, UNAUTHENTICATED);
}
