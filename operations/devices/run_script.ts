import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import {
  orderAct,
  type OrderedAct,
  type OutsideAct,
  recoverAct,
  requireSystem,
  unlessAway,
} from "../integrations/acts/mod.ts";
import { ScriptId } from "../../judgement/catalogue/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { COMMAND_STATUSES } from "../../contract/domain/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";
import { FULL } from "../scopes.ts";
import { exampleCommand, OrderedCommand, Parameters } from "./_commands.ts";
import { DeviceId } from "./_schemas.ts";
import { commandDevice } from "./command.ts";

const FLEET = "fleet:";
const UNNAMED = { name: "not named now" };

const FleetHostId = z.string().regex(/^fleet:[1-9][0-9]{0,14}$/, "Expected fleet: and a number")
  .describe("fleet: and the id of a host of Fleet's");
const FleetScriptId = z.string().regex(/^[1-9][0-9]{0,14}$/, "Expected a number")
  .describe("Id of a script of Fleet's");

const Input = z.object({
  agent_id: z.union([DeviceId, FleetHostId]),
  script_id: z.union([ScriptId, FleetScriptId]),
  parameters: Parameters.optional(),
});

/** Has a device run a script, by the name that AI agents know. */
export const runScript = operation({
  name: "devices.run_script",
  group: "devices",
  summary: "Have a device run a script of the catalogue, or a host of Fleet one of Fleet's",
  description:
    "For a device the same as POST /v1/devices/{device_id}/command, by the same rules. Fleet is asked once; its result " +
    "of the script proves what became of it, and the answer comes with that, or after five seconds. Where nothing shows " +
    "it, it is `unknown`, people are told how to find out, and it is not repeated.",
  effect: "run",
  access: "partner",
  input: Input,
  output: OrderedCommand.extend({
    command_id: z.string().describe(
      "CMD- and 12 hex characters; of Fleet: ACT- and 12 hex characters",
    ),
    status: z.enum([...COMMAND_STATUSES, "not_done"]).describe(
      "As of a command; of Fleet: begun, done, not_done or unknown",
    ),
    execution_id: z.string().optional().describe("Of Fleet"),
    code: z.string().optional().describe("Of Fleet: exit_0, scripts_disabled, timeout, …"),
  }),
  tool: { rmm_run_script: FULL },
  presentation: {
    toolText: {
      rmm_run_script:
        "A script of the catalogue alone, run at most once; rmm_agents lists the machines. Where nothing shows what became of it, the state is `unknown`, and it is not repeated.",
    },
    hints: { openWorld: true },
    errors: ["Conflict", "Denied", "NotConfigured", "NotFound", "Unavailable"],
  },
  governance: {
    rule: "acts-on-the-outside",
    delegateTo(input) {
      const { success, data } = Input.safeParse(input);
      if (!success || data.agent_id.startsWith(FLEET)) return undefined;
      const { agent_id: device_id, ...rest } = data;
      return { operation: commandDevice.name, input: { device_id, ...rest }, field: null };
    },
    async resolveStableInput(input, { outside: { rmm } }) {
      const { host, script } = fleetActOf(input);
      const [machine, file] = await Promise.all([
        unlessAway(rmm?.findHost(host), UNNAMED),
        unlessAway(rmm?.findScript(script), UNNAMED),
      ]);
      return {
        input,
        about: `Fleet's script ${script} (${file.name}) on host ${host} (${machine.name})`,
      };
    },
    check: (input, context) => requireRunnable(fleetActOf(input), context),
  },
  durability: { recover: (call, platform) => recoverAct(platform, call, toAnswer) },
  example: {
    input: { agent_id: "DEV-5b1e09c77a42", script_id: "disk-usage" },
    output: exampleCommand,
  },
  /** Runs for Fleet alone. */
  async run(input, context) {
    const act = fleetActOf(input);
    await requireRunnable(act, context);
    return toAnswer(await orderAct(context, act));
  },
});

type FleetAct = Extract<OutsideAct, { readonly system: "fleet" }>;

/** @throws {InvalidInput} it is a script of the catalogue, or has parameters */
function fleetActOf({ agent_id, script_id, parameters }: z.output<typeof Input>): FleetAct {
  const refuse = (name: string, msg: string) =>
    new InvalidInput([{ path: [name], msg, type: "value_error" }]);
  if (!FleetScriptId.safeParse(script_id).success) {
    throw refuse("script_id", "Expected the number of a script of Fleet's, as the host is Fleet's");
  }
  if (parameters) throw refuse("parameters", "Scripts of Fleet take none");
  return {
    system: "fleet",
    host: Number(agent_id.slice(FLEET.length)),
    script: Number(script_id),
  };
}

/** @throws {Problem} Fleet has no such host or script */
async function requireRunnable({ host, script }: FleetAct, context: Context): Promise<void> {
  const fleet = requireSystem("rmm", context, "SEALOOP_FLEET_URL");
  const named = async (work: Promise<unknown>, what: string) => {
    await work.catch((error: unknown) => {
      if (!(error instanceof RemoteFailed) || error.code !== "refused") throw error;
      throw new Problem("NotFound", `Fleet has no ${what}`);
    });
  };
  await Promise.all([
    named(fleet.findHost(host), `host ${host}`),
    named(fleet.findScript(script), `script ${script}`),
  ]);
}

function toAnswer({ act_id, state, ...rest }: OrderedAct) {
  return { command_id: act_id, status: state, ...rest };
}
