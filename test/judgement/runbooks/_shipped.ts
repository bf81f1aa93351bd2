/** Runs shipped runbooks on this host. */
import {
  type ParameterValues,
  performStep,
  resolveRunbook,
  type StepContext,
  verifyStep,
} from "../../../judgement/runbooks/mod.ts";
import { createContext, newId, shipped } from "./_runbook.ts";

/** Result of a runbook: the code of each step, and of verifying it. */
interface RunbookResult {
  readonly codes: readonly string[];
  readonly seen: readonly string[];
  readonly messages: readonly string[];
}

/** Runs a shipped runbook. @param more with `maxBytes`, the disk of `values` is a folder with that bound */
export type RunRunbook = (
  name: string,
  values: ParameterValues,
  more?: Partial<StepContext> & { maxBytes?: number },
) => Promise<RunbookResult>;

/** Returns a function that runs shipped runbooks. */
export function createRunner(dataDir: string): RunRunbook {
  return async (name, values, more = {}) => {
    const runbook = shipped.runbooks.find((one) => one.runbook === name)!;
    const { maxBytes, ...rest } = more;
    const disk = typeof values.disk === "string" ? { path: values.disk, maxBytes } : undefined;
    const { steps } = resolveRunbook(runbook, {
      service: "svc",
      values,
      catalogue: shipped,
      isLocal: true,
      disk,
    });
    const ids = new Map(steps.map(({ step }) => [step, newId()]));
    const context = createContext(dataDir, { effectOf: (step) => ids.get(step)!, ...rest });
    const codes: string[] = [];
    const seen: string[] = [];
    for (const step of steps) {
      const outcome = await performStep(step, ids.get(step.step)!, context);
      codes.push(outcome.code);
      if (!outcome.ok) break;
      const { ok, code } = await verifyStep(step, context);
      seen.push(code);
      if (!ok) break;
    }
    return { codes, seen, messages: context.messages };
  };
}
