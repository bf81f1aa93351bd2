import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { type ChildWorkflowHandle, ParentClosePolicy, startChild } from "@temporalio/workflow";
import type { PlaceActivities } from "../activities/mod.ts";
import {
  type Finding,
  type LoopResult,
  startAttributes,
  type SweepResult,
  tenantAttribute,
} from "../contract/domain/mod.ts";
import { LONG, perform, QUICK, SEAL } from "./_options.ts";
import { at, ifPresent, unlessAway } from "./_place.ts";
import { currentRun, currentTenant } from "./_run.ts";
import { itsmLoop } from "./itsm_loop.ts";

/** What all places have seen. */
type Sighting = Omit<Awaited<ReturnType<PlaceActivities["runDetectors"]>>, "incidents"> & {
  readonly incidents: readonly Finding[];
};

/**
 * Runs every detector at each place, and starts a loop for each incident: for its probable root, with all that the root probably
 * causes, at whichever place.
 *
 * A sweep of the schedule looks at the services of all tenants, leaves out faults whose ticket is escalated, and doesn't
 * wait for its loops. A requested sweep looks at the services of the tenant that asks, waits for the loops that it started,
 * and returns the result of the first.
 *
 * @param requestedBy requesting key; absent: the schedule
 */
export async function itsmSweep(requestedBy?: string): Promise<SweepResult & Partial<LoopResult>> {
  const { probed, findings, incidents, escalated } = await look(!requestedBy);
  const started: ChildWorkflowHandle<typeof itsmLoop>[] = [];
  const loops: string[] = [];
  for (const incident of incidents) {
    if (!requestedBy && escalated.includes(incident.fingerprint)) continue;
    const finding = requestedBy ? { ...incident, requested_by: requestedBy } : incident;
    loops.push(loopId(finding));
    const child = await startOrJoin(finding);
    if (child) started.push(child);
  }
  const result = { probed, findings, incidents: incidents.length, loops };
  if (!requestedBy) return result;
  if (started.length > 0) {
    const [first] = await Promise.all(started.map((child) => child.result()));
    return { ...result, ...first! };
  }
  return loops.length > 0 ? result : { ...result, ...await sealNothingFound(requestedBy, probed) };
}

/**
 * Runs the detectors of all places side by side. A place without a worker has seen nothing. A sweep of the schedule does not
 * wait for one whose workers do not begin, as the other places would not be looked at meanwhile.
 */
async function look(everyTenant: boolean): Promise<Sighting> {
  const places = await perform(QUICK, "Lists the places").listSweepPlaces();
  const summary = "Runs every detector";
  const all = await Promise.all(places.map(({ place, shared }) => {
    const work = (here: PlaceActivities) => here.runDetectors({ everyTenant, shared });
    return everyTenant && places.length > 1
      ? ifPresent(place, LONG, summary, work)
      : at(place, LONG, summary, work).catch(unlessAway);
  }));
  const seen = all.filter((one) => one !== undefined);
  const found: (readonly Finding[])[] = seen.map(({ incidents }) => incidents)
    .filter(({ length }) => length > 0);
  return {
    probed: seen.reduce((sum, one) => sum + one.probed, 0),
    findings: seen.reduce((sum, one) => sum + one.findings, 0),
    incidents: found.length < 2 ? found.flat() : await perform(
      QUICK,
      "Joins the incidents of all places",
    ).joinPlaces(found.flat()),
    escalated: seen.flatMap(({ escalated }) => escalated),
  };
}

function loopId({ fingerprint }: Finding): string {
  return `loop-${fingerprint}`;
}

/** Starts a loop. @returns undefined: one runs already; the detectors have counted the sighting for it */
async function startOrJoin(
  finding: Finding,
): Promise<ChildWorkflowHandle<typeof itsmLoop> | undefined> {
  try {
    return await startChild(itsmLoop, {
      workflowId: loopId(finding),
      args: [finding],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: [
        ...startAttributes(finding),
        tenantAttribute(finding.tenant_id ?? currentTenant()),
      ],
      staticSummary: `${finding.service ?? finding.check}: ${finding.code}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return undefined;
  }
}

async function sealNothingFound(requestedBy: string, probed: number): Promise<LoopResult> {
  const finding: Finding = {
    service: null,
    check: "report",
    code: "swept",
    fingerprint: "",
    observed_at: new Date().toISOString(),
    requested_by: requestedBy,
  };
  const receipt_id = await perform(SEAL, "Seals that nothing was found")
    .sealClear({ finding, run: currentRun() });
  const says = `${probed} ${
    probed === 1 ? "thing was" : "things were"
  } looked at by the detectors, and no fault was found.`;
  return { outcome: "clear", steps: [], ticket_id: null, receipt_id, says };
}
