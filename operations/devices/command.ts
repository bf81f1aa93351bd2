import {
  approversOf,
  COMMAND_OPERATION,
  orderCommand,
  requireActiveDevice,
  resolveCommand,
  showArguments,
} from "./orders/mod.ts";
import { type Context, operation, type Platform } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { SHIPPED_RULES } from "../../contract/mod.ts";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import { type ApprovalGrounds, groundsOf } from "../../contract/records/mod.ts";
import { dropDeviceCommand, findDevice } from "../../store/devices/mod.ts";
import { CommandInput, exampleCommand, OrderedCommand } from "./_commands.ts";

/** Has a device run a command. */
export const commandDevice = operation({
  name: COMMAND_OPERATION,
  group: "devices",
  summary: "Have a device run a script of the catalogue, or arguments of your own",
  description:
    "The command waits for people where governance or the guardrails say so, and where the tenant's devices ask for their " +
    "approvers' own signatures; the answer then has `approval_id`. It is issued by a receipt in the public ledger, and the " +
    "device runs it only after it has proven that receipt by itself, and only once, until the command expires. A device " +
    "that is offline runs it when it is back in time. Text of the command stays private; the ledger gets ids and " +
    "commitments. `GET` on the same path tells what became of it.",
  effect: "run",
  access: "partner",
  input: CommandInput,
  output: OrderedCommand,
  rest: { device_command: "POST /v1/devices/{device_id}/command" },
  presentation: {
    hints: { openWorld: true },
    errors: ["Conflict", "Denied", "NotFound", "Unavailable"],
  },
  governance: {
    rule: ({ command }) => command ? "free-arguments" : "acts-on-the-outside",
    asksPeople: true,
    ownerOf: deviceOwner,
    async judgedAction(input, { store }) {
      const { description, argv } = await resolveCommand(store.db, input);
      return { description, command: showArguments(argv), target: input.device_id };
    },
    async changes(input, { store }) {
      return !(await resolveCommand(store.db, input)).read_only;
    },
    async check(input, context) {
      const device = await requireActiveDevice(context, input.device_id);
      await resolveCommand(context.store.db, input, device);
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.deviceCommand,
    receipt: (output) => {
      const { command_id, status } = output as { command_id: string; status: string };
      return { command_id, status };
    },
    startsRun: "ids",
    dropUnstarted: ({ command_id }, { store }) => dropDeviceCommand(store.db, command_id!),
  },
  example: {
    input: {
      device_id: "DEV-5b1e09c77a42",
      script_id: "service-restart",
      parameters: { unit: "nginx.service" },
    },
    output: exampleCommand,
  },
  async run({ device_id, ...request }, context) {
    const { caller, decisionId, callerApproves = false } = context;
    const isFree = request.command !== undefined;
    return await orderCommand(context, {
      ...request,
      id: `CMD-${idOfCall(decisionId, 12)}`,
      deviceId: device_id,
      needed: approversOf(isFree, {
        approvers: context.requiredApproval?.needed ?? 0,
        callerApproves,
      }),
      grounds: groundsOfCommand(isFree, context),
      askedBy: caller.principal,
      askedByKey: caller.keyId,
      call: { decisionId, tenant: caller.tenant },
    });
  },
});

function groundsOfCommand(isFree: boolean, context: Context): ApprovalGrounds {
  const { requiredApproval, decisionId } = context;
  const { rule, reasons, passkey } = requiredApproval ?? {
    passkey: false,
    rule: isFree ? "free-arguments" : "approvers-sign",
    reasons: [
      isFree
        ? SHIPPED_RULES["free-arguments"].reason
        : "The tenant's devices ask for their approvers' own signatures",
    ],
  };
  const evidence = decisionId ? [{ kind: "decision", id: decisionId } as const] : [];
  return groundsOf({ rule, reasons, evidence, passkey });
}

/** Returns the tenant that owns a device, for keys of tier admin. */
export async function deviceOwner(
  { device_id }: { readonly device_id: string },
  { store }: Pick<Platform, "store">,
): Promise<string | undefined> {
  return (await findDevice(store.asPlatform(), device_id))?.tenant;
}
