import { z } from "zod";
import { WORKFLOW } from "../../domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { exampleRun, group } from "./_run_shapes.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { operation } from "../../calls/mod.ts";

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
  delegateTo(sent, { operations }) {
    const { success, data } = Input.safeParse(sent);
    if (!success) return undefined;
    const starter = [...operations.values()].find((one) => one.startsWorkflow === data.type);
    return starter && { operation: starter, input: data.input, field: "input" };
  },
  recover: recoverNothing,
  run: ({ type }) =>
    Promise.reject(
      Object.hasOwn(WORKFLOW, type)
        ? new Problem("Conflict", `Workflows of type ${type} can't be started by a caller`)
        : new Problem(
          "NotFound",
          `There is no workflow type ${type}; GET /v1/workflows/types lists them`,
        ),
    ),
});
