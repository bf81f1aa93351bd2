import type { Action, ActionSources, Finding } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { factsOf } from "../../judgement/observation/mod.ts";
import { NotApplicable, type Runbook } from "../../judgement/runbooks/mod.ts";
import { getOffer } from "../../store/approvals/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import { getFinding, listObservations } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { hashAction, sourcesOf } from "./_action.ts";
import { actionCreator, targetOf } from "./_create_action.ts";
import type { RoundOrder } from "./_order.ts";
import { findService } from "./_services.ts";

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

/** Creates the function that compares an action with what it would be now. */
export function createActionComparer(parts: ActivityParts) {
  const { store, runbooks: inForce } = parts;
  const createAction = actionCreator(parts);

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

  return compareAction;
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
