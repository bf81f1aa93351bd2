import type { CompiledWorkflowOptions, WorkflowClientInterceptor } from "@temporalio/client";
import { enclose, type Envelope, tenantOfAttributes } from "../../contract/domain/mod.ts";

/**
 * Returns the interceptor by which a client encloses what it sends, so that workers can tell it from what others send.
 *
 * @param tenant in whose name the client signals and updates; starts name theirs as an attribute
 */
export function encloseCalls(tenant: string): WorkflowClientInterceptor {
  const enclosed = (
    envelope: Envelope["envelope"],
    name: string,
    of: string | null | undefined,
    args: readonly unknown[],
  ) => [enclose({ envelope, name, of: of!, tenant, args })];

  function enclosedStart(
    name: string,
    options: CompiledWorkflowOptions,
  ): CompiledWorkflowOptions {
    const { workflowId: of, args, typedSearchAttributes } = options;
    const owner = tenantOfAttributes(typedSearchAttributes);
    return { ...options, args: [enclose({ envelope: "start", name, of, tenant: owner, args })] };
  }

  return {
    startWithDetails: (input, next) =>
      next({ ...input, options: enclosedStart(input.workflowType, input.options) }),

    signal(input, next) {
      const { signalName, workflowExecution: { workflowId }, args } = input;
      return next({ ...input, args: enclosed("signal", signalName, workflowId, args) });
    },

    startUpdate(input, next) {
      const { updateName, workflowExecution: { workflowId }, args } = input;
      return next({ ...input, args: enclosed("update", updateName, workflowId, args) });
    },

    startUpdateWithStart(input, next) {
      const { workflowType, workflowStartOptions, updateName, updateArgs } = input;
      const { workflowId } = workflowStartOptions;
      return next({
        ...input,
        workflowStartOptions: enclosedStart(workflowType, workflowStartOptions),
        updateArgs: enclosed("update", updateName, workflowId, updateArgs),
      });
    },
  };
}

/** Returns the argument of the runs that a schedule starts. The schedule makes their ids from its own. */
export function scheduledStart(name: string, scheduleId: string): unknown[] {
  const tenant = tenantOfAttributes(undefined);
  return [enclose({ envelope: "schedule", name, of: scheduleId, tenant, args: [] })];
}
