import { z } from "zod";
import { parseInput, Problem } from "../contract/mod.ts";
import { ITSM_TEST } from "../workflows/mod.ts";
import { exampleRun, group } from "./_runs.ts";
import { WORKFLOW_TYPES } from "./_workflow_types.ts";
import { operation } from "./platform.ts";

/** Starts a run through the operation that it belongs to. */
export const startRun = operation({
  name: "workflows.start",
  group,
  summary: "Start a workflow of a startable type, by the rules of its own operation",
  effect: "run",
  access: "partner",
  input: z.object({
    type: z.string().min(1).max(100),
    input: z.record(z.string(), z.unknown()).default({}).describe(
      "Input of the operation that starts it",
    ),
  }),
  output: z.looseObject({ workflow_id: z.string(), run_id: z.string() }),
  rest: { workflow_start: "POST /v1/workflows/start" },
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: {
    input: { type: ITSM_TEST, input: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: exampleRun.run_id },
  },
  run: async ({ type, input }, context) => {
    const entry = WORKFLOW_TYPES.find((known) => known.type === type);
    if (!entry) {
      throw new Problem(
        "NotFound",
        `There is no workflow type ${type}; GET /v1/workflows/types lists them`,
      );
    }
    if (!entry.operation) {
      throw new Problem("Conflict", `Workflows of type ${type} can't be started by a caller`);
    }
    const checked = parseInput(entry.operation.input, input);
    return await entry.operation.run(checked, context) as { workflow_id: string; run_id: string };
  },
});
