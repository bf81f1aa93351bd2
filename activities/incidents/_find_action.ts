import { SCAN_DETECTOR } from "../../judgement/compliance/scans/mod.ts";
import {
  type Action,
  type ActionSources,
  COMES_BACK,
  type Finding,
  FLAPPING,
  RESTART_ASKED,
} from "../../contract/domain/mod.ts";
import type { DeviceRemedy } from "../../judgement/detection/mod.ts";
import { checkKind, redactLine, type Service } from "../../integrations/host/mod.ts";
import { factsOf } from "../../judgement/observation/mod.ts";
import {
  type Catalogue,
  fillHolders,
  isUnfit,
  matchRunbooks,
  NotApplicable,
  type ObservedFacts,
  type ParameterValues,
  type ResolveContext,
  type ResolvedStep,
  resolveRunbook,
  type Runbook,
  type RunbookIncident,
} from "../../judgement/runbooks/mod.ts";
import { findOpenOffer, getOffer, type StoredOffer } from "../../store/approvals/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import {
  type FindingRecord,
  getFinding,
  getRepairHistory,
  listObservations,
  listRepairsOfTicket,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { hashAction, sourcesOf } from "./_action.ts";
import type { RoundOrder } from "./_order.ts";
import { deviceScripts } from "./_device_scripts.ts";
import { findService, isLocal } from "./_services.ts";

/** Codes of why an action is not repeated, by what became of it. */
const TRIED = {
  intended: "under_way",
  done: "did_not_help",
  not_done: "could_not_be_done",
  unknown: "unknown_effect",
} as const;

/** The reasons of this file for people, by their codes. */
const REASONS: Readonly<Record<string, string>> = {
  [FLAPPING]: "the service is up, and it acts on none that goes up and down",
  unfit: "it does not help against this cause",
  under_way: "it is under way",
  did_not_help: "it was done, and did not help",
  could_not_be_done: "it could not be carried out",
  unknown_effect: "it was begun, and nobody knows what it did",
  [COMES_BACK]:
    "it has healed the service four times within an hour, and the fault comes back: its cause is another one",
};
/** How often a runbook may heal a service within an hour, unless somebody asks for it. */
const MAX_CURES = 4;
const CURES_MS = 3_600_000;
const MAX_REPAIRS_READ = 50;

/** A fault to find an action against. */
interface Fault {
  readonly service: Service;
  readonly category: RunbookIncident["category"];
  /** Cause that was observed; null: none is known. */
  readonly cause: string | null;
  /** The detector's record of the finding. */
  readonly record: FindingRecord | undefined;
  /** What was observed in this round. */
  readonly facts: ObservedFacts;
}

/** An action that has no id yet, and the runbooks that could not be used instead. */
interface FoundAction {
  readonly action: Omit<Action, "id"> | null;
  readonly passed_over: readonly PassedOver[];
}

/** An action that was made before, as far as it can be compared. */
export interface MadeAction extends Pick<RoundOrder, "ticket_id" | "run"> {
  readonly finding: Pick<Finding, "fingerprint">;
  /** Absent: the last round of the run. */
  readonly round?: number;
  readonly action: Pick<
    Action,
    "runbook" | "version" | "service" | "exceeds" | "sources" | "sha256" | "instead_of"
  >;
}

/** An action beside what it would be now. */
type Comparison =
  | { readonly service: Service; readonly changed?: undefined }
  | { readonly service?: undefined; readonly changed: string };

/** A runbook that matches and is not used. */
interface PassedOver {
  readonly runbook: string;
  readonly code: string;
  /** The same for people. */
  readonly why: string;
}

/** The service, disk or device that a runbook is resolved for. */
interface Target {
  readonly service: Service;
  readonly disk: ResolveContext["disk"];
  readonly file: string | undefined;
  readonly remedy: DeviceRemedy | undefined;
  readonly facts: ObservedFacts;
}

/** What an action is made from, besides its runbook and its target. */
interface Given {
  readonly values: ParameterValues;
  readonly catalogue: Catalogue;
  /** Bounds that the same action exceeded before; absent: it is found now. */
  readonly exceeded?: readonly string[];
}

/** Creates the functions that find the action against a fault. */
export function createActionFinder({ config, store, runbooks: inForce, temporal }: ActivityParts) {
  const { fillScripts } = deviceScripts({ store, temporal });

  /**
   * Returns the action of the runbook that matches best, is fit for the cause, and was not tried in vain on this ticket: what
   * did not help, or could not be done, is not repeated, and neither is what helps again and again for a short time. It may be
   * where somebody has asked for another try since, or where people have approved it since.
   */
  async function findAction(
    { finding, code, ticket_id }: RoundOrder,
    { service, category, cause, record, facts }: Fault,
  ): Promise<FoundAction> {
    const [values, repairs, worn] = await Promise.all([
      getRunbookValues(store.db, service.name),
      listRepairsOfTicket(store.db, ticket_id),
      finding.requested_by === undefined ? listWorn(service.name) : new Set<string>(),
    ]);
    const since = finding.requested_by === undefined ? "" : finding.observed_at;
    const target = targetOf(service, record, facts);
    const offer = await findOpenOffer(store.db, ticket_id);
    if (offer) return await offeredAction(offer, target, values);
    const isAsked = finding.code === RESTART_ASKED; // then no fault is to be mended, and no words say which
    const incident: RunbookIncident = {
      service,
      finding: { check: isAsked ? checkKind(service.check!) : finding.check, code },
      category: isAsked ? null : category,
      cause: isAsked ? null : cause,
      text: isAsked ? "" : textOf(finding, record),
      gives: Object.keys(values),
      boundedFolder: target.disk?.maxBytes !== undefined,
      named: service.runbook ?? undefined,
    };
    const passed_over: PassedOver[] = [];
    const pass = (runbook: Runbook, code: string, why = REASONS[code] ?? code) => {
      passed_over.push({ runbook: runbook.runbook, code, why });
    };
    const catalogue = inForce();
    const fit = isAsked ? catalogue.runbooks.filter(restarts) : catalogue.runbooks;
    for (const runbook of matchRunbooks(fit, incident)) {
      const obstacle = worn.has(runbook.runbook) ? COMES_BACK : obstacleTo(runbook, incident);
      if (obstacle !== undefined) {
        pass(runbook, obstacle);
        continue;
      }
      try {
        const action = hashAction(await createAction(runbook, target, { values, catalogue }));
        const tried = repairs.findLast(({ action_sha256, intended_at }) =>
          action_sha256 === action.sha256 && intended_at >= since
        );
        if (!tried || finding.resumes?.action_sha256 === action.sha256) {
          return { action, passed_over };
        }
        pass(runbook, TRIED[tried.state]);
      } catch (error) {
        if (!(error instanceof NotApplicable)) throw error;
        pass(runbook, error.code, error.message);
      }
    }
    return { action: null, passed_over };
  }

  /** Returns the repair that a person offers; where it can't be used here, no other one takes its place. */
  async function offeredAction(
    { approvalId, runbook: name, values: offered }: StoredOffer,
    target: Target,
    values: ParameterValues,
  ): Promise<FoundAction> {
    const nothing = (code: string, why: string) => ({
      action: null,
      passed_over: [{ runbook: name, code, why }],
    });
    const catalogue = inForce();
    const runbook = catalogue.runbooks.find((one) => one.runbook === name);
    if (!runbook) return nothing("not_in_force", "it is not in force any more");
    if (runbook.needs.some((need) => !target.service[need])) {
      return nothing("not_fit", "the service has not what it needs");
    }
    try {
      const filled = { ...values, ...offered };
      const made = await createAction(runbook, target, { values: filled, catalogue });
      return { action: hashAction({ ...made, instead_of: approvalId }), passed_over: [] };
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      return nothing(error.code, error.message);
    }
  }

  /** Returns the runbooks that have healed a service so often lately that the fault must have another cause. */
  async function listWorn(service: string): Promise<Set<string>> {
    const since = new Date(Date.now() - CURES_MS);
    const { remediations } = await getRepairHistory(store.db, {
      service,
      since,
      limit: MAX_REPAIRS_READ,
    });
    const cures = remediations.filter(({ verified }) => verified).map(({ runbook }) => runbook);
    return new Set(
      cures.filter((one): one is string =>
        one !== null && cures.filter((other) => other === one).length >= MAX_CURES
      ),
    );
  }

  /**
   * Looks whether the runbook in force gives exactly this action, resolved again.
   *
   * @param isBegun true: its steps were compared before the first of them, which may have changed what they are made from
   * @returns the service, or what has changed: a sentence without its end
   */
  async function compareAction(
    { action, finding, ticket_id, run, round }: MadeAction,
    isBegun: boolean,
  ): Promise<Comparison> {
    const { instead_of } = action;
    const [service, record, given, all, offer] = await Promise.all([
      findService(store.db, action.service),
      getFinding(store.db, finding.fingerprint),
      getRunbookValues(store.db, action.service),
      listObservations(store.db, ticket_id, run.run_id),
      instead_of === undefined ? undefined : getOffer(store.db, instead_of),
    ]);
    const values = { ...given, ...offer?.values };
    const catalogue = inForce();
    const runbook = catalogue.runbooks.find(({ runbook }) => runbook === action.runbook);
    if (!service) return { changed: `${action.service} is not listed any more` };
    if (!runbook) return { changed: `The runbook ${action.runbook} is not in force any more` };
    const current = sourcesOf({ runbook, service, values, catalogue });
    const changed = describeChange(action, current, runbook);
    if (changed !== undefined) return { changed };
    if (isBegun) return { service };
    try {
      const seenIn = round ?? Math.max(0, ...all.map((one) => one.round));
      const target = targetOf(service, record, factsOf(all.filter((one) => one.round === seenIn)));
      const { exceeds } = action;
      const made = await createAction(runbook, target, { values, catalogue, exceeded: exceeds });
      const again = hashAction({ ...made, ...(instead_of === undefined ? {} : { instead_of }) });
      if (again.sha256 === action.sha256) return { service };
      return { changed: "What it acts on has changed, so that it would do something else now" };
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      return {
        changed: `The runbook ${runbook.runbook} can't be used here any more: ${error.message}`,
      };
    }
  }

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

  return { findAction, compareAction };
}

/** Tells which source of an action is another one now; undefined: none is. */
function describeChange(
  { sources, runbook: name, version, service }: MadeAction["action"],
  current: ActionSources,
  runbook: Runbook,
): string | undefined {
  const differs = (source: keyof ActionSources) => sources[source] !== current[source];
  if (differs("runbook_sha256")) {
    return runbook.version === version
      ? `The runbook ${name} was edited`
      : `The runbook ${name} has version ${runbook.version} now, and ${version} was asked about`;
  }
  if (differs("restart_sha256")) return `The entry of ${service} restarts it in another way now`;
  if (differs("check_sha256")) return `The entry of ${service} has another check now`;
  if (differs("commands_sha256")) return "The list of allowed commands was edited";
  return differs("values_sha256")
    ? `The values of runbooks for ${service} have changed`
    : undefined;
}

/** Returns whether a runbook starts its service again. */
function restarts({ steps }: Runbook): boolean {
  return steps.some(({ restart }) => restart !== undefined);
}

/** Returns the code of why a runbook that matches is not used; undefined: it may be. */
function obstacleTo(runbook: Runbook, incident: RunbookIncident): string | undefined {
  const { code } = incident.finding;
  if (code === FLAPPING && !runbook.repairs_flapping) return code;
  return isUnfit(runbook, incident) ? "unfit" : undefined;
}

/** Returns what a restart by the services file runs, without secrets. */
function runOf({ restart }: Service): Pick<ResolvedStep, "runs"> {
  if (!restart) return {};
  const { command, cwd } = "process" in restart ? restart.process : { ...restart, cwd: undefined };
  const argv = command.map((argument) => redactLine(argument));
  return { runs: { argv, ...(cwd === undefined ? {} : { cwd }) } };
}

function targetOf(
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
