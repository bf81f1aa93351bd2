import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { ScriptId } from "../../catalogue/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { FULL } from "../scopes.ts";
import { exampleCommand, OrderedCommand, Parameters } from "./_commands.ts";
import { DeviceId } from "./_schemas.ts";
import { commandDevice } from "./command.ts";

const Input = z.object({
  agent_id: DeviceId,
  script_id: ScriptId,
  parameters: Parameters.optional(),
});

/** Has a device run a script, by the name that AI agents know. */
export const runScript = operation({
  name: "devices.run_script",
  group: "devices",
  summary: "Have a device run a script of the catalogue",
  description: "The same as POST /v1/devices/{device_id}/command, by the same rules.",
  effect: "run",
  shippedRule: "acts-on-the-outside",
  hints: { openWorld: true },
  access: "partner",
  input: Input,
  output: OrderedCommand,
  tool: { rmm_run_script: FULL },
  errors: ["Conflict", "Denied", "NotFound", "Unavailable"],
  example: {
    input: { agent_id: "DEV-5b1e09c77a42", script_id: "disk-usage" },
    output: exampleCommand,
  },
  delegateTo(input) {
    const { success, data } = Input.safeParse(input);
    if (!success) return undefined;
    const { agent_id: device_id, ...rest } = data;
    return { operation: commandDevice, input: { device_id, ...rest }, field: null };
  },
  recover: recoverNothing,
  /** Never runs: an input that can't be delegated is refused by its schema. */
  run: () => Promise.reject(new Problem("Internal", "There is nothing to run")),
});
