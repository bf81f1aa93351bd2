import { z } from "zod";
import { operation, unknownRecord } from "../../calls/mod.ts";
import { Problem, redactSecrets } from "../../contract/mod.ts";
import { type ApprovalRecord, getApproval } from "../../store/approvals/mod.ts";
import {
  countDeviceCommands,
  type DeviceCommandRecord,
  getDevice,
  listDeviceCommands,
} from "../../store/devices/mod.ts";
import { Limit, Sha256, Timestamp } from "../schemas/mod.ts";
import { CommandId, Status } from "./_commands.ts";
import { DeviceId } from "./_schemas.ts";
import { deviceOwner } from "./command.ts";

/** Characters of an output in a list; one command alone is shown with all of it. */
const MAX_LISTED_OUTPUT = 2_000;
/** Longest form in UTF-8 of a character of a text. */
const MAX_CHARACTER_BYTES = 3;

const Command = z.object({
  command_id: CommandId,
  script_id: z.string().nullable().describe("Null: arguments that no script has"),
  description: z.string(),
  argv: z.array(z.string()).describe("Program and arguments, with secrets left out"),
  status: Status,
  code: z.string().nullable().describe("Why it was refused, has expired, …"),
  requested_by: z.string(),
  approval_id: z.string().nullable(),
  approved_by: z.array(z.string()).describe("Principals"),
  receipts: z.object({
    issued: z.string().nullable(),
    begun: z.string().nullable(),
    ended: z.string().nullable(),
  }),
  exit_code: z.number().int().nullable(),
  output_sha256: Sha256.nullable().describe(
    "SHA-256 of a salt and the output, as the device has stated",
  ),
  output: z.string().optional().describe(
    `Output, once it has come; of several commands the first ${MAX_LISTED_OUTPUT} characters`,
  ),
  at: Timestamp.describe("When it was asked for"),
  expires_at: Timestamp,
});

/** Lists the commands of a device with their outcomes. */
export const commandHistory = operation({
  name: "devices.command_history",
  group: "devices",
  summary: "List the commands of a device, newest first, with their receipts and outputs",
  effect: "read",
  access: "key",
  input: z.object({
    device_id: DeviceId,
    command_id: CommandId.optional().describe("Only this one, with all of its output"),
    limit: Limit,
  }),
  output: z.object({
    device_id: DeviceId,
    total: z.number().int().describe("Commands that the device was ever to run"),
    commands: z.array(Command),
  }),
  rest: { device_command_history: "GET /v1/devices/{device_id}/command" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  governance: { ownerOf: deviceOwner },
  example: {
    input: { device_id: "DEV-5b1e09c77a42" },
    output: {
      device_id: "DEV-5b1e09c77a42",
      total: 1,
      commands: [{
        command_id: "CMD-2f9d01b3c7aa",
        script_id: "uptime",
        description: "Show the load",
        argv: ["uptime"],
        status: "done",
        code: null,
        requested_by: "ada",
        approval_id: "APR-2f9d01b3c7aa",
        approved_by: ["grace"],
        receipts: {
          issued: "9f2c4b7a01d3e856",
          begun: "1f0e4b7a01d3e8aa",
          ended: "770c4b7a01d3e8bc",
        },
        exit_code: 0,
        output_sha256: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
        output: " 12:00:00 up 12 days, load average: 0.01, 0.02, 0.00\n",
        at: "2026-07-01T12:00:00.000Z",
        expires_at: "2026-07-02T12:00:00.000Z",
      }],
    },
  },
  async run({ device_id, command_id: id = null, limit }, { store: { db } }) {
    if (!await getDevice(db, device_id)) {
      throw await unknownRecord(db, "device", device_id);
    }
    const outputBytes = id ? null : MAX_LISTED_OUTPUT * MAX_CHARACTER_BYTES;
    const commands = await listDeviceCommands(db, device_id, { limit, id, outputBytes });
    if (id && commands.length === 0) {
      throw new Problem("NotFound", `${device_id} has no command ${id}`);
    }
    const approvals = await Promise.all(
      commands.map(({ approvalId }) => approvalId ? getApproval(db, approvalId) : undefined),
    );
    return {
      device_id,
      total: await countDeviceCommands(db, device_id),
      commands: commands.map((command, n) =>
        toCommand(command, approvals[n], id ? undefined : MAX_LISTED_OUTPUT)
      ),
    };
  },
});

function toCommand(
  command: DeviceCommandRecord,
  approval: ApprovalRecord | undefined,
  maxOutput: number | undefined,
): z.input<typeof Command> {
  const { output } = command;
  return {
    command_id: command.id,
    script_id: command.script?.id ?? null,
    description: command.description,
    argv: redactSecrets([...command.argv]),
    status: command.status,
    code: command.code,
    requested_by: command.requestedBy,
    approval_id: command.approvalId,
    approved_by: (approval?.approvers ?? []).map(({ principal }) => principal),
    receipts: {
      issued: command.issuedReceipt,
      begun: command.begunReceipt,
      ended: command.endedReceipt,
    },
    exit_code: command.exitCode,
    output_sha256: command.outputSha256,
    ...(output ? { output: output.toString().slice(0, maxOutput) } : {}),
    at: command.createdAt.toISOString(),
    expires_at: command.expires_at,
  };
}
