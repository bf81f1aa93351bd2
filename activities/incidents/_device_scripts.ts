/** Repairs on devices: scripts of the catalogue, run as commands. */
import { setTimeout as sleep } from "node:timers/promises";
import { cancellationSignal } from "@temporalio/activity";
import { orderCommand, resolveCommand } from "../../operations/devices/orders/mod.ts";
import type { ScriptDocument, ScriptValues } from "../../judgement/catalogue/mod.ts";
import { type CommandStatus, hasCommandEnded, LOOP_ACTOR } from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import {
  NotApplicable,
  type ReleasedScript,
  type ResolvedStep,
  type StepOutcome,
} from "../../judgement/runbooks/mod.ts";
import { currentShieldPolicy, desiredFirewall } from "../../judgement/shield/mod.ts";
import { getScript } from "../../store/catalogue/mod.ts";
import { type DeviceRecord, getDevice, getDeviceCommand } from "../../store/devices/mod.ts";
import type { ActivityParts } from "../parts.ts";

const POLL_MS = 500;
/** Time for a device to state what it did, after the command has expired. */
const GRACE_MS = 15_000;

/** Returns a device as a service, so that its faults can be repaired like those of a host. */
export function deviceAsService({ id }: Pick<DeviceRecord, "id">): Service {
  return {
    name: id,
    type: "device",
    host: id,
    owner: null,
    origin: "discovered",
    check: null,
    restart: null,
    watched: false,
    dependsOn: [],
  };
}

/** Creates the functions that fill in and run the scripts of devices. */
export function deviceScripts(parts: Pick<ActivityParts, "store" | "temporal">) {
  const { store } = parts;
  const { db } = store;

  /**
   * Fills in which script is run, with which arguments, and its opposite, so that people approve exactly this.
   *
   * @param values of parameters by name; those that a script does not have are left out
   * @throws {NotApplicable} there is no such script for this device
   */
  async function fillScripts(
    steps: readonly ResolvedStep[],
    deviceId: string,
    values: ScriptValues,
  ): Promise<ResolvedStep[]> {
    return await Promise.all(steps.map(async (step): Promise<ResolvedStep> => {
      if (!step.script) return step;
      const { id } = step.script;
      const undo = "script" in step.undo ? await findOpposite(id, deviceId, values) : step.undo;
      return { ...step, script: await release(id, deviceId, values), undo };
    }));
  }

  /** Returns how a script is undone, as the catalogue has it. */
  async function findOpposite(
    id: string,
    deviceId: string,
    values: ScriptValues,
  ): Promise<ResolvedStep["undo"]> {
    const script = await getScript(db, id);
    const { undo = { none: "It changes nothing." } } = (script?.document ?? {}) as ScriptDocument;
    return "none" in undo ? undo : { script: await release(undo.script, deviceId, values) };
  }

  async function release(
    id: string,
    deviceId: string,
    values: ScriptValues,
  ): Promise<ReleasedScript> {
    const [device, script] = await Promise.all([getDevice(db, deviceId), getScript(db, id)]);
    if (!device || !script) throw new NotApplicable("no_script", `There is no script ${id}`);
    const parameters = await parametersOf(script.document as ScriptDocument, values);
    try {
      const { argv, user } = await resolveCommand(db, { script_id: id, parameters }, device);
      const { version, sha256 } = script;
      return { id, version, sha256, parameters, argv: [...argv], user };
    } catch (error) {
      throw new NotApplicable("script_does_not_fit", (error as Error).message);
    }
  }

  /** Returns the values that are given, and those that the platform itself knows: the rules that a firewall is to have. */
  async function parametersOf(
    { parameters }: ScriptDocument,
    values: ScriptValues,
  ): Promise<Record<string, string>> {
    const own = Object.entries(values).filter(([name]) => Object.hasOwn(parameters, name));
    const given = Object.fromEntries(own);
    if (!Object.hasOwn(parameters, "rules")) return given;
    const { policy } = await currentShieldPolicy(db);
    const rules = desiredFirewall(policy, store.tenant);
    return rules === undefined ? given : { ...given, rules };
  }

  /**
   * Orders the command of a step on a device, once for an effect, and waits for its end.
   *
   * @throws {Error} `AbortError`: the activity was cancelled; another attempt finds the command again
   */
  async function runScript(
    deviceId: string,
    script: ReleasedScript,
    effectId: string,
    withinMs: number,
  ): Promise<StepOutcome> {
    const id = `CMD-${effectId.slice(0, 12)}`;
    if (!await getDeviceCommand(db, id)) {
      const released = await getScript(db, script.id);
      if (released?.sha256 !== script.sha256) return outcomeOf("cancelled", "script_changed");
    }
    await orderCommand(parts, {
      id,
      deviceId,
      script_id: script.id,
      parameters: script.parameters,
      expires_in_seconds: Math.ceil(withinMs / 1_000),
      needed: 0, // the repair as a whole was permitted
      grounds: groundsOf({ rule: "repair", reasons: ["A repair of the incident loop"] }),
      askedBy: LOOP_ACTOR,
      askedByKey: null,
    });
    const deadline = performance.now() + withinMs + GRACE_MS;
    while (true) {
      const { status, code } = (await getDeviceCommand(db, id))!;
      if (hasCommandEnded(status)) return outcomeOf(status, code);
      if (performance.now() > deadline) return outcomeOf("unknown", "no_statement");
      await sleep(POLL_MS, undefined, { signal: cancellationSignal() });
    }
  }

  return { fillScripts, runScript };
}

function outcomeOf(status: CommandStatus, code: string | null): StepOutcome {
  if (status === "done") return { state: "done", ok: true, code: "exit_0" };
  const reason = code ?? status;
  if (status === "failed" || status === "timed_out") {
    return { state: "done", ok: false, code: reason };
  }
  return { state: status === "unknown" ? "unknown" : "not_done", ok: false, code: reason };
}
