import { SCAN_DETECTOR } from "../../compliance/scans/mod.ts";
import { type Action, type Diagnosis, type Finding, FLAPPING } from "../../domain/mod.ts";
import type { DeviceRemedy } from "../../detection/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import {
  matchRunbooks,
  NotApplicable,
  type ParameterValues,
  type ResolveContext,
  resolveRunbook,
  type Runbook,
  type RunbookIncident,
} from "../../runbooks/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { identifyAction, sourceHash } from "./_action.ts";
import type { RoundOrder } from "./_order.ts";
import { deviceScripts } from "./_device_scripts.ts";
import { isLocal } from "./_services.ts";

/** A fault to find an action against. */
interface Fault {
  readonly service: Service;
  readonly category: RunbookIncident["category"];
  /** The detector's record of the finding. */
  readonly record: FindingRecord | undefined;
}

/** Creates the function that finds the action against a fault. */
export function createActionFinder({ store, runbooks, temporal }: ActivityParts) {
  const { fillScripts } = deviceScripts({ store, temporal });

  /** Returns the action of the runbook that matches best; in the nth round, of the nth that can be used, or the last. */
  async function findAction(
    { finding, code, round, run }: RoundOrder,
    { service, category, record }: Fault,
  ): Promise<Pick<Diagnosis, "action" | "passed_over">> {
    const values = await getRunbookValues(store.db, service.name);
    const disk = diskOf(record);
    const matching = matchRunbooks(runbooks.runbooks, {
      service,
      finding: { check: finding.check, code },
      category,
      text: textOf(finding, record),
      gives: Object.keys(values),
      boundedFolder: disk?.maxBytes !== undefined,
      named: service.runbook ?? undefined,
    });
    const target = { service, disk, file: fileOf(record), remedy: remedyOf(record) };
    const passed_over: { readonly runbook: string; readonly code: string }[] = [];
    const usable: Omit<Action, "id" | "sha256">[] = [];
    for (const runbook of matching) {
      if (usable.length >= round) break;
      if (code === FLAPPING && !runbook.repairs_flapping) {
        passed_over.push({ runbook: runbook.runbook, code });
        continue;
      }
      try {
        usable.push(await createAction(runbook, target, values));
      } catch (error) {
        if (!(error instanceof NotApplicable)) throw error;
        passed_over.push({ runbook: runbook.runbook, code: error.code });
      }
    }
    const action = usable.at(-1);
    return { action: action ? await identifyAction(store, action, run, round) : null, passed_over };
  }

  async function createAction(
    runbook: Runbook,
    { service, disk, file, remedy }: {
      readonly service: Service;
      readonly disk: ResolveContext["disk"];
      readonly file: string | undefined;
      readonly remedy: DeviceRemedy | undefined;
    },
    values: ParameterValues,
  ): Promise<Omit<Action, "id" | "sha256">> {
    const { steps, exceeds } = resolveRunbook(runbook, {
      service: service.name,
      values,
      catalogue: runbooks,
      isLocal: isLocal(service),
      disk,
      file,
      remedy: remedy?.script,
    });
    return {
      runbook: runbook.runbook,
      version: runbook.version,
      service: service.name,
      steps: await fillScripts(steps, service.name, remedy?.parameters ?? {}),
      exceeds,
      source_sha256: sourceHash({ runbook, service, values, catalogue: runbooks }),
    };
  }

  return findAction;
}

/** Returns the full text of a person's report or a detector's finding. */
function textOf({ report = "" }: Finding, record: FindingRecord | undefined): string {
  return `${report}\n${record?.summary ?? ""}\n${JSON.stringify(record?.detail ?? {})}`;
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
