import type { Action } from "../../contract/domain/mod.ts";
import { redactLine, type Service } from "../../integrations/host/mod.ts";
import { SCAN_DETECTOR } from "../../judgement/compliance/scans/mod.ts";
import type { DeviceRemedy } from "../../judgement/detection/mod.ts";
import {
  type Catalogue,
  fillHolders,
  type ObservedFacts,
  type ParameterValues,
  type ResolveContext,
  type ResolvedStep,
  resolveRunbook,
  type Runbook,
} from "../../judgement/runbooks/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { sourcesOf } from "./_action.ts";
import { deviceScripts } from "./_device_scripts.ts";
import { isLocal } from "./_services.ts";

/** The service, disk or device that a runbook is resolved for. */
export interface Target {
  readonly service: Service;
  readonly disk: ResolveContext["disk"];
  readonly file: string | undefined;
  readonly remedy: DeviceRemedy | undefined;
  readonly facts: ObservedFacts;
}

/** Values and runbooks that an action is made from, besides its runbook and its target. */
interface Given {
  readonly values: ParameterValues;
  readonly catalogue: Catalogue;
  /** Bounds that the same action exceeded before; absent: it is found now. */
  readonly exceeded?: readonly string[];
}

/** Returns the function that makes an action of a runbook. It throws `NotApplicable` where the runbook can't be used. */
export function actionCreator({ config, store, temporal }: ActivityParts) {
  const { fillScripts } = deviceScripts({ store, temporal });

  async function createAction(
    runbook: Runbook,
    { service, disk, file, remedy, facts }: Target,
    { values, catalogue, exceeded }: Given,
  ): Promise<Omit<Action, "id" | "sha256">> {
    const { steps, exceeds } = resolveRunbook(runbook, {
      service: service.name,
      values,
      catalogue,
      isLocal: isLocal(service),
      disk,
      file,
      remedy: remedy?.script,
      facts,
      exceeded,
    });
    const held = await fillHolders(steps, { dataDir: config.dataDir, service: service.name });
    const filled = await fillScripts(held, service.name, remedy?.parameters ?? {});
    return {
      runbook: runbook.runbook,
      version: runbook.version,
      service: service.name,
      steps: filled.map((step) =>
        step.restart === "service" ? { ...step, ...runOf(service) } : step
      ),
      exceeds,
      sources: sourcesOf({ runbook, service, values, catalogue }),
    };
  }

  return createAction;
}

/** Returns what a restart by the services file runs, without secrets. */
function runOf({ restart }: Service): Pick<ResolvedStep, "runs"> {
  if (!restart) return {};
  const { command, cwd } = "process" in restart ? restart.process : { ...restart, cwd: undefined };
  const argv = command.map((argument) => redactLine(argument));
  return { runs: { argv, ...(cwd === undefined ? {} : { cwd }) } };
}

/** Returns what a runbook is resolved for, by the record of its finding and what was observed. */
export function targetOf(
  service: Service,
  record: FindingRecord | undefined,
  facts: ObservedFacts,
): Target {
  const { full_folder } = facts;
  const full = typeof full_folder === "string" ? { path: full_folder } : undefined;
  return {
    service,
    disk: diskOf(record) ?? full,
    file: fileOf(record),
    remedy: remedyOf(record),
    facts,
  };
}

/** Returns the disk that a finding is about; undefined if it is about none. */
function diskOf(record: FindingRecord | undefined): ResolveContext["disk"] {
  const { kind, path, max_bytes } = record?.target ?? {};
  if (kind !== "disk" || typeof path !== "string") return undefined;
  return { path, ...(typeof max_bytes === "number" ? { maxBytes: max_bytes } : {}) };
}

/** Returns the script that mends a fault of a device; undefined if none does. */
function remedyOf(record: FindingRecord | undefined): DeviceRemedy | undefined {
  const { kind, remedy_script_id: script, remedy_parameters = {} } = record?.target ?? {};
  if (kind !== "device" || typeof script !== "string") return undefined;
  return { script, parameters: remedy_parameters as DeviceRemedy["parameters"] };
}

/** Returns the file that a security scan found; undefined if it found none. */
function fileOf(record: FindingRecord | undefined): string | undefined {
  const { path } = record?.target ?? {};
  return record?.detector === SCAN_DETECTOR && typeof path === "string" ? path : undefined;
}
