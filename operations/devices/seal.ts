import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  commandChangedSignal,
  commandWorkflowId,
  REFUSAL_CODES,
} from "../../contract/domain/mod.ts";
import { sealStatement } from "./protocol/mod.ts";
import { getDevice, getDeviceCommand } from "../../store/devices/mod.ts";
import { Sha256 } from "../schemas/mod.ts";
import { CommandId } from "./_commands.ts";
import { DeviceId } from "./_schemas.ts";

const Count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const example = {
  device_id: "DEV-5b1e09c77a42",
  action: "command_execution",
  command_id: "CMD-2f9d01b3c7aa",
  phase: "begun",
  status: "begun",
  sequence: 7,
  nonce: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  signature: "ab".repeat(64),
} as const;

/** Seals what a device states about a command. */
export const sealDeviceStatement = operation({
  name: "devices.seal",
  group: "shield",
  summary:
    "Seal what a device states about a command: that it begins, how it ended, that output leaves it",
  description:
    "The request is signed by the device (RFC 9421), the statement by its runner, so that the half of the agent that talks " +
    "can't make one up. Device and sequence make the receipt, so that a retry is the same receipt; another statement under " +
    "the same number is 409 with the code `journal_rolled_back`, and quarantines the device. It answers once the receipt is " +
    "in the ledger. The tenant is the device's.",
  effect: "run",
  access: "device",
  input: z.strictObject({
    device_id: DeviceId,
    action: z.enum(["command_execution", "data_egress"]),
    command_id: CommandId.optional(),
    phase: z.enum(["begun", "ended"]),
    status: z.enum([
      "begun",
      "sending",
      "done",
      "failed",
      "timed_out",
      "refused",
      "expired",
      "unknown",
    ]),
    code: z.enum(REFUSAL_CODES).optional().describe("Why it was refused"),
    exit_code: z.number().int().min(0).max(255).optional(),
    bytes: Count.optional().describe("Of the output"),
    output_sha256: Sha256.optional().describe("SHA-256 of a salt and the output"),
    destination_class: z.string().max(40).optional(),
    sequence: Count.min(1).describe("Number of the statement in the runner's journal"),
    nonce: z.string().regex(/^[0-9a-f]{32}$/),
    signature: z.string().regex(/^[0-9a-f]{128}$/).describe(
      "The runner's, over the canonical form of all other fields of the body",
    ),
  }),
  output: z.object({
    ok: z.literal(true),
    receipt_id: z.string(),
    sha256: Sha256.describe("Hash of the receipt"),
    chain_position: Count,
    record: z.string().describe("The receipt as it is exported, which the device verifies"),
    salt: Sha256.describe("Salt of the receipt's commitment to the statement"),
    succession: z.array(z.string()).describe("Receipts that hand over to later keys of the ledger"),
  }),
  rest: { shield_seal: "POST /v1/shield/devices/{device_id}/seal" },
  presentation: {
    hints: { destructive: false, idempotent: true },
    errors: ["Unauthenticated", "Forbidden", "NotFound", "Conflict", "RateLimited", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    limits: { counted: false, perMinute: "statements" },
    signedByDevice: true,
  },
  durability: { sealsItself: true },
  example: {
    input: example,
    output: {
      ok: true,
      receipt_id: "1f0e4b7a01d3e8aa",
      sha256: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
      chain_position: 1030,
      record: '{"id":"1f0e4b7a01d3e8aa",…}',
      salt: "93f2c07a51be6d841d0f6a2b9c3e48575f0c21ab9d3e4820c17b0a5e4f1d22a9",
      succession: [],
    },
  },
  async run({ device_id, ...statement }, context) {
    const { store, sealer, caller, log } = context;
    const device = caller.keyId === device_id ? await getDevice(store.db, device_id) : undefined;
    if (!device) throw new Problem("NotFound", `${caller.keyId} seals its own statements alone`);
    const sealed = await sealStatement({ store, sealer }, device, statement);
    const command = statement.command_id && await getDeviceCommand(store.db, statement.command_id);
    if (command && command.deviceId === device_id) {
      await tellWorkflow(context, command.id)
        .catch((err) => log.debug({ err }, "The workflow of a command looks for itself"));
    }
    return {
      ok: true as const,
      receipt_id: sealed.receiptId,
      sha256: sealed.sha256,
      chain_position: sealed.position,
      record: sealed.record,
      salt: sealed.salt,
      succession: sealed.succession,
    };
  },
});

/** Tells a command's workflow that there is news. It may have ended, and it looks by itself now and then. */
async function tellWorkflow(
  { temporal }: Pick<Parameters<typeof sealDeviceStatement.run>[1], "temporal">,
  commandId: string,
): Promise<void> {
  const { workflow } = await temporal();
  await workflow.getHandle(commandWorkflowId(commandId)).signal(commandChangedSignal);
}
