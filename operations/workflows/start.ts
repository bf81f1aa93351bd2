import { z } from "zod";
import { WORKFLOW } from "../../domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { exampleRun, group } from "./_run_shapes.ts";
import { WORKFLOW_TYPES } from "./_workflow_types.ts";
import { nothingDone } from "../../calls/recover/traces.ts";
import { operation } from "../../calls/platform.ts";

const Input = z.strictObject({
  type: z.string().min(1).max(100),
  input: z.record(z.string(), z.unknown()).default({}).describe(
    "Input of the operation that starts it",
  ),
});

/** Starts a run through the operation that it belongs to. */
export const startRun = operation({
  name: "workflows.start",
  group,
  summary: "Start a workflow of a startable type, by the rules of its own operation",
  description:
    "The same as calling that operation, which GET /v1/workflows/types names: its limits and governance apply.",
  effect: "run",
  access: "partner",
  input: Input,
  output: z.looseObject({ workflow_id: z.string(), run_id: z.string() }),
  rest: { workflow_start: "POST /v1/workflows/start" },
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: {
    input: { type: WORKFLOW.itsmTest, input: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: exampleRun.run_id },
  },
  delegateTo(sent) {
    const { success, data } = Input.safeParse(sent);
    const known = success && WORKFLOW_TYPES.find(({ type }) => type === data.type);
    if (!known || !known.operation) return undefined;
    return { operation: known.operation, input: data.input, field: "input" };
  },
  recover: nothingDone,
  run: ({ type }) =>
    Promise.reject(
      WORKFLOW_TYPES.some((known) => known.type === type)
        ? new Problem("Conflict", `Workflows of type ${type} can't be started by a caller`)
        : new Problem(
          "NotFound",
          `There is no workflow type ${type}; GET /v1/workflows/types lists them`,
        ),
    ),
});
