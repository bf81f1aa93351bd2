import { isIP } from "node:net";
import { z } from "zod";
import { COMMAND_OPERATION, requireActiveDevice } from "./orders/mod.ts";
import { type Context, operation, runAlone } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  DISCOVERY_LIMITS,
  DISCOVERY_PORTS,
  type DiscoveryRequest,
  PLATFORM_TENANT,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { listTargets } from "../../integrations/discovery/mod.ts";
import { DeviceId } from "./_schemas.ts";
import { deviceOwner } from "./command.ts";
import { completedRun, exampleStartedRun, StartedRun, WaitSeconds } from "../schemas/mod.ts";

const Target = z.string().trim().min(2).max(50)
  .refine((text) => isIP(text.split("/")[0]!) !== 0, "Expected an address or a network")
  .describe("An address, or a network as 10.1.2.0/24");

const DiscoverInput = z.object({
  targets: z.array(Target).min(1).max(64),
  ports: z.array(z.number().int().min(1).max(65_535)).min(1).max(DISCOVERY_LIMITS.ports)
    .default([...DISCOVERY_PORTS]),
  via_device: DeviceId.optional().describe(
    "Device whose agent looks; left out: the platform's own host, for the operator's tenant alone",
  ),
  wait_seconds: WaitSeconds,
});

/** Looks for hosts in a network. */
export const discoverHosts = operation({
  name: "devices.discover",
  group: "devices",
  summary: "Look for hosts that accept TCP connections",
  description:
    "Tries each port of each address once, at most 200 attempts a second, and reads the table of neighbours. " +
    `At most ${DISCOVERY_LIMITS.addresses} addresses, and ${DISCOVERY_LIMITS.probes} addresses times ports. Loopback alone, ` +
    "unless SEALOOP_DISCOVERY_ALLOW names networks: other addresses are counted as `refused`. `via_device` looks by a " +
    "command, as POST /v1/devices/{device_id}/command gives it.",
  effect: "run",
  access: "partner",
  input: DiscoverInput,
  output: StartedRun,
  rest: { devices_discover: "POST /v1/devices/discover" },
  presentation: {
    hints: { destructive: false, openWorld: true },
    untrusted: true,
    errors: ["Forbidden", "NotFound", "Unavailable"],
  },
  governance: {
    rule: "acts-on-the-outside",
    ownerOf: async ({ via_device }, context) =>
      via_device === undefined ? undefined : await deviceOwner({ device_id: via_device }, context),
    actsAs: ({ via_device }) => via_device === undefined ? [] : [COMMAND_OPERATION],
    judgedAction: ({ targets, ports }) =>
      Promise.resolve({
        description: `Try to connect to the ports ${ports.join(", ")} of ${targets.join(", ")}`,
      }),
    check: checkPlace,
  },
  durability: {
    startsWorkflow: WORKFLOW.deviceDiscovery,
    longRunning: { outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: { targets: ["127.0.0.1"], ports: [22, 8080] },
    output: {
      ...exampleStartedRun,
      workflow_id: "discover-1d0f6a2b",
      result_url: "http://127.0.0.1:8080/v1/workflows/discover-1d0f6a2b/result",
    },
  },
  run: async ({ wait_seconds, ...input }, context) => {
    await checkPlace(input, context);
    const { targets, ports, via_device } = input;
    const request: DiscoveryRequest = {
      targets,
      ports: [...new Set(ports)],
      requested_by: `key:${context.caller.keyId}`,
      asked_by: context.caller.principal,
      ...(via_device === undefined ? {} : { via_device }),
    };
    return await runAlone(context, {
      type: WORKFLOW.deviceDiscovery,
      workflowId: `discover-${idOfCall(context.decisionId, 8)}`,
      request,
      summary: "Looks for hosts",
    }, wait_seconds);
  },
});

/** @throws {Problem} the caller may not look there from here */
async function checkPlace(
  { via_device, ...request }: Pick<
    z.output<typeof DiscoverInput>,
    "targets" | "ports" | "via_device"
  >,
  { store, config }: Pick<Context, "store" | "config">,
): Promise<void> {
  if (via_device !== undefined) {
    await requireActiveDevice({ store }, via_device);
  } else if (store.tenant !== PLATFORM_TENANT) {
    throw new Problem(
      "Forbidden",
      "Cannot look for hosts from the platform's own host, which is the operator's: name a device as via_device",
    );
  }
  listTargets(request, config.settings.SEALOOP_DISCOVERY_ALLOW);
}
