import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { describeUnknownName, Problem } from "../../contract/mod.ts";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID } from "../schemas/mod.ts";

const Input = z.strictObject({
  type: z.string().min(1).max(100).describe(
    "A startable type; GET /v1/workflows/types lists them",
  ),
  input: z.record(z.string(), z.unknown()).default({}).describe(
    "Input of the operation that starts the type",
  ),
});

/** Starts a workflow by a call of the operation that it belongs to. */
export const startWorkflow = operation({
  name: "workflows.start",
  group: "workflows",
  summary: "Start a workflow of a startable type, by the rules of its own operation",
  description:
    "The same as a call of the operation that GET /v1/workflows/types names for the type: its limits and governance apply.",
  effect: "run",
  access: "partner",
  input: Input,
  output: z.looseObject({ workflow_id: z.string(), run_id: z.string() }),
  rest: { workflow_start: "POST /v1/workflows/start" },
  presentation: { errors: ["NotFound", "Conflict", "Unavailable"] },
  governance: {
    rule: "tickets-and-loops",
    delegateTo(input, { operations }) {
      const { success, data } = Input.safeParse(input);
      if (!success) return undefined;
      const starter = [...operations.values()].find((one) =>
        one.durability?.startsWorkflow === data.type
      );
      return starter && { operation: starter.name, input: data.input, field: "input" };
    },
    check: ({ type }) => refuseType(type),
  },
  durability: { recover: recoverNothing },
  example: {
    input: { type: WORKFLOW.itsmTest, input: { scenario: "crash" } },
    output: { workflow_id: "test-5f0c21ab", run_id: EXAMPLE_RUN_ID },
  },
  /** Runs only where no operation starts the type. */
  run: ({ type }) => refuseType(type),
});

function refuseType(type: string): Promise<never> {
  const problem = Object.hasOwn(WORKFLOW, type)
    ? new Problem("Conflict", `Cannot start a workflow of type ${type}: only the platform does`)
    : new Problem(
      "NotFound",
      describeUnknownName(
        "workflow type",
        type,
        Object.keys(WORKFLOW),
        "GET /v1/workflows/types lists them",
      ),
    );
  return Promise.reject(problem);
}
