import {
  type Action,
  COMES_BACK,
  type Finding,
  FLAPPING,
  RESTART_ASKED,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { checkKind, type Service } from "../../integrations/host/mod.ts";
import {
  isUnfit,
  matchRunbooks,
  NotApplicable,
  type ObservedFacts,
  type ParameterValues,
  type Runbook,
  type RunbookIncident,
} from "../../judgement/runbooks/mod.ts";
import { findOpenOffer, type StoredOffer } from "../../store/approvals/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import {
  type FindingRecord,
  getRepairHistory,
  listEffectsOfAction,
  listRepairsOfTicket,
  type Repair,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { hashAction, hashOf } from "./_action.ts";
import { actionCreator, type Target, targetOf } from "./_create_action.ts";
import type { RoundOrder } from "./_order.ts";

/** Codes of why an action is not repeated, by what became of it. */
const TRIED = {
  intended: "under_way",
  done: "did_not_help",
  not_done: "could_not_be_done",
  unknown: "unknown_effect",
} as const;

/** The reasons of this file for people, by their codes. */
const REASONS: Readonly<Record<string, Text>> = {
  [FLAPPING]: say`the service is up, and it acts on none that goes up and down`,
  unfit: say`it does not help against this cause`,
  under_way: say`it is under way`,
  did_not_help: say`it was done, and did not help`,
  could_not_be_done: say`it could not be carried out`,
  unknown_effect: say`it was begun, and nobody knows what it did`,
  [COMES_BACK]:
    say`it has healed the service four times within an hour, and the fault comes back: its cause is another one`,
};
/** Kinds of steps that look, or only tell people and tickets. */
const LOOKING_KINDS = new Set(["look", "wait", "notify", "join"]);
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
  /** Facts that were observed in this round. */
  readonly facts: ObservedFacts;
}

/** An action that has no id yet, and the runbooks that could not be used instead. */
interface FoundAction {
  readonly action: Omit<Action, "id"> | null;
  readonly passed_over: readonly PassedOver[];
}

/** A runbook that matches and is not used. */
interface PassedOver {
  readonly runbook: string;
  readonly code: string;
  /** The same for people. */
  readonly why: Text;
}

/** Creates the function that finds the action against a fault. */
export function createActionFinder(parts: ActivityParts) {
  const { store, runbooks: inForce } = parts;
  const createAction = actionCreator(parts);

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
    const vain = await listVainActs(
      repairs.filter((one) => one.verified === false && one.intended_at >= finding.observed_at),
    );
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
    const pass = (runbook: Runbook, code: string, why: Text = REASONS[code] ?? code) => {
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
        const tried = repairs.findLast((one) =>
          one.action_sha256 === action.sha256 && one.intended_at >= since ||
          one.runbook === runbook.runbook && one.verified === false &&
            one.intended_at >= finding.observed_at // what it was given differs by what was measured since
        );
        const isNew = !tried && !repeats(action.steps, vain);
        if (isNew || finding.resumes?.action_sha256 === action.sha256) {
          return { action, passed_over };
        }
        pass(runbook, TRIED[tried?.state ?? "done"]);
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
    const nothing = (code: string, why: Text) => ({
      action: null,
      passed_over: [{ runbook: name, code, why }],
    });
    const catalogue = inForce();
    const runbook = catalogue.runbooks.find((one) => one.runbook === name);
    if (!runbook) return nothing("not_in_force", say`it is not in force any more`);
    if (runbook.needs.some((need) => !target.service[need])) {
      return nothing("not_fit", say`the service has not what it needs`);
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

  /** Returns what repairs have done that did not help, whichever runbook did it. */
  async function listVainActs(repairs: readonly Repair[]): Promise<Set<string>> {
    const effects = await Promise.all(repairs.map(({ id }) => listEffectsOfAction(store.db, id)));
    return new Set(
      effects.flat().filter(({ state, undoes }) => state === "done" && undoes === null)
        .flatMap(({ action: { order } }) => order ? [actOf(order as Action["steps"][number])] : []),
    );
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

  return findAction;
}

/** Returns whether all that steps change was done before. */
function repeats(steps: Action["steps"], done: ReadonlySet<string>): boolean {
  const changing = steps.filter(({ kind }) => !LOOKING_KINDS.has(kind));
  return changing.length > 0 && changing.every((step) => done.has(actOf(step)));
}

/** Names what a step does: the same for the same act in another runbook. */
function actOf(step: Action["steps"][number]): string {
  return hashOf([step.kind, step[step.kind] ?? null, step.runs ?? null]);
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

/** Returns the full text of a person's report or a detector's finding. */
function textOf({ report = "" }: Finding, record: FindingRecord | undefined): string {
  return `${report}\n${record?.summary ?? ""}\n${JSON.stringify(record?.detail ?? {})}`;
}
