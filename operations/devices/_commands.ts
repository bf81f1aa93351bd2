import { z } from "zod";
import { ScriptId } from "../../judgement/catalogue/mod.ts";
import { COMMAND_STATUSES, DEVICE_LIMITS } from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID } from "../schemas/mod.ts";
import { DeviceId } from "./_schemas.ts";

/** Id of a command. */
export const CommandId = z.string()
  .regex(/^CMD-[0-9a-f]{12}$/, "Expected CMD- and 12 hex characters")
  .describe("Id of the command, such as CMD-2f9d01b3c7aa");

/** State of a command. */
export const Status = z.enum(COMMAND_STATUSES).describe(
  "queued: about to be issued; sealed: its receipt is in the log; delivered: the device has it; begun: the device has had " +
    "sealed that it begins; refused: by people or by the device; unknown: it has begun, and its end was not heard of",
);

/** Values of a script's parameters. */
export const Parameters = z.record(z.string().max(64), z.string().max(1_000)).describe(
  "Values of the script's parameters, by name",
);

const MAX_EXPIRY_SECONDS = 30 * 86_400;

/** A command for a device, and its time limits. */
export const CommandInput = z.object({
  device_id: DeviceId,
  script_id: ScriptId.optional(),
  parameters: Parameters.optional(),
  command: z.array(z.string().max(16_384)).min(1).max(DEVICE_LIMITS.argumentCount).optional()
    .describe(
      "Instead of a script: program and arguments, not a shell line. Two people must approve it",
    ),
  reason: z.string().trim().min(1).max(1_000).optional().describe(
    "Why, for people; needed with command",
  ),
  timeout_seconds: z.number().int().min(1).max(DEVICE_LIMITS.timeoutSeconds).optional().describe(
    "Longest time that it may run; default: the script's, or a minute",
  ),
  expires_in_seconds: z.number().int().min(1).max(MAX_EXPIRY_SECONDS).optional().describe(
    "Longest time until it begins, approvals included; default: a day",
  ),
});

/** A command as its caller is told of it. */
export const OrderedCommand = z.object({
  command_id: CommandId,
  status: Status,
  workflow_id: z.string(),
  run_id: z.string(),
  approval_id: z.string().optional().describe("What people decide about, where they must"),
  receipt_id: z.string().optional().describe("Receipt by which it was issued"),
});

/** A command, in examples. */
export const exampleCommand = {
  command_id: "CMD-2f9d01b3c7aa",
  status: "waiting_approval",
  workflow_id: "command-CMD-2f9d01b3c7aa",
  run_id: EXAMPLE_RUN_ID,
  approval_id: "APR-2f9d01b3c7aa",
} as const;
