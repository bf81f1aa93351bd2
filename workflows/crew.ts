import { setCurrentDetails, setHandler } from "@temporalio/workflow";
import {
  type AgentReport,
  type Claim,
  type CrewRequest,
  type CrewResult,
  type CrewScope,
  type DiagnosisDraft,
  type DiagnosisRequest,
  type Examination,
  reportsQuery,
  type ReviewedDiagnosis,
  type Source,
  type Suspect,
  type Triage,
  type Verification,
} from "../contract/domain/mod.ts";
import { writeAndReview } from "./_drafts.ts";
import { evidenceOf } from "./_evidence.ts";
import { MODEL_CALL, MODEL_REVIEW, perform, QUICK } from "./_options.ts";

/** Least support by which a service is named as the cause. That it is named in the report is not enough. */
const MIN_WEIGHT = 0.3;
/** Rounds in which the verifier may name further services to examine. */
const MAX_ROUNDS = 2;

/**
 * Six agents examine an incident, and give one diagnosis. None of them changes anything.
 *
 * Triage finds what the incident concerns; logs, metrics, topology and change examine that in parallel; the verifier
 * objects, and may name services that have to be examined too. Where a model is configured, it writes the diagnosis from
 * the reports, and the verifier checks it against them.
 */
export async function crew({ incident }: CrewRequest): Promise<CrewResult> {
  const reports: AgentReport[] = [];
  setHandler(reportsQuery, () => reports);
  const triage = await perform(QUICK, "triage: what it is, and whom it concerns")
    .triageIncident({ incident });
  reports.push(triage);
  const examined: Examination[] = [];
  const verification = await examine(incident, triage, { reports, examined });

  const suspects = combineSuspects(reports);
  const request: DiagnosisRequest = {
    incident,
    evidence: evidenceOf(
      reports.map(({ agent, says }) => ({ from: agent, says: says.map(String) })),
    ),
    support: Object.fromEntries(suspects.map(({ service, weight }) => [service, weight])),
    services: [...new Set([...triage.services, ...suspects.map(({ service }) => service)])],
  };
  const [reviewed, authorship] = await writeDiagnosis(request);
  const diagnosis = reviewed
    ? { ...textOfReviewed(reviewed), evidence: request.evidence }
    : diagnosisByRules(reports, suspects[0], examined);
  const { cause } = diagnosis;
  setCurrentDetails(
    `**${cause ?? "no cause named"}** · ${reports.length} reports · ${authorship.written_by}`,
  );
  return {
    ...diagnosis,
    ...authorship,
    category: triage.classification?.category ?? null,
    severity: triage.classification?.severity ?? null,
    recommended_action: triage.classification?.recommended_action ?? null,
    citations: distinctSources(reports.flatMap(({ sources }) => sources)),
    objections: verification.objections,
    examined,
    agents: reports,
  };
}

/** Findings of the agents so far. */
interface Found {
  readonly reports: AgentReport[];
  readonly examined: Examination[];
}

/** Has the agents examine the services, and adds what they found. @returns the verifier's last report */
async function examine(
  incident: string,
  { services: concerned }: Triage,
  { reports, examined }: Found,
): Promise<Verification> {
  let services = concerned;
  for (let round = 1;; round++) {
    const scope: CrewScope = { incident, services, round };
    const subject = services.join(", ") || "the whole platform";
    setCurrentDetails(`**round ${round}** · ${subject}`);
    const seen = await perform(QUICK, `Looks at ${subject} as the loop does`)
      .examineServices(scope);
    examined.push(...seen);
    reports.push(
      ...await Promise.all([
        perform(QUICK, `logs: errors of ${subject}`).inspectLogs(scope, seen),
        perform(QUICK, `metrics: health of ${subject}`).inspectMetrics(scope, seen),
        perform(QUICK, `topology: dependencies of ${subject}`).inspectTopology(scope, seen),
        perform(QUICK, `change: changes to ${subject}`).inspectChanges(scope, seen),
      ]),
    );
    const verification = await perform(QUICK, "verifier: what speaks against it")
      .verifySuspects(scope, reports);
    reports.push(verification);
    if (verification.look_at.length === 0 || round === MAX_ROUNDS) return verification;
    services = verification.look_at;
  }
}

/** Has a model write the diagnosis, as far as it holds. */
function writeDiagnosis(request: DiagnosisRequest) {
  return writeAndReview({
    write: (objections) =>
      perform(MODEL_CALL, "Has a model write the diagnosis, where one is configured")
        .draftDiagnosis(request, objections),
    review: (draft: DiagnosisDraft) =>
      perform(MODEL_REVIEW, "verifier: what of the model's diagnosis holds")
        .reviewDiagnosis(request, draft),
  });
}

function textOfReviewed({ cause, confidence, diagnosis, steps }: ReviewedDiagnosis) {
  const text = [diagnosis, ...steps].map(withMarks).join("\n");
  return { diagnosis: text, cause, confidence, steps };
}

function withMarks({ text, evidence }: Claim): string {
  return `${text} ${evidence.map((n) => `[${n}]`).join("")}`;
}

/**
 * Combines the suspicions of all agents, strongest first. Several reasons add up to at most 1. One that was refuted, by a
 * weight below 0, stays so, whatever speaks for it.
 */
function combineSuspects(reports: readonly AgentReport[]): Suspect[] {
  const combined = new Map<string, Suspect>();
  for (const { service, weight, why } of reports.flatMap(({ suspects }) => suspects)) {
    const earlier = combined.get(service);
    combined.set(service, {
      service,
      weight: earlier ? addWeights(earlier.weight, weight) : weight,
      why: earlier ? `${earlier.why}; ${why}` : why,
    });
  }
  return [...combined.values()]
    .sort((a, b) => b.weight - a.weight || (a.service < b.service ? -1 : 1));
}

function addWeights(a: number, b: number): number {
  return a < 0 || b < 0 ? Math.min(a, b) : 1 - (1 - a) * (1 - b);
}

function diagnosisByRules(
  reports: readonly AgentReport[],
  strongest: Suspect | undefined,
  examined: readonly Examination[],
) {
  const suspect = strongest && strongest.weight >= MIN_WEIGHT ? strongest : undefined;
  const there = examined.find(({ service }) => service === suspect?.service);
  const head = suspect
    ? `The cause is most likely ${suspect.service}: ${suspect.why}.`
    : "No service can be named as the cause from what is known here.";
  const found = reports.flatMap(({ agent, says }) => says.map((text) => `${agent}: ${text}`));
  return {
    diagnosis: [head, ...(there ? [there.says] : []), ...new Set(found)].join("\n"),
    cause: suspect?.service ?? null,
    confidence: Math.round((suspect?.weight ?? 0) * 100) / 100,
    steps: [],
    evidence: [],
  };
}

function distinctSources(sources: readonly Source[]): Source[] {
  return [...new Map(sources.map((source) => [`${source.kind} ${source.id}`, source])).values()];
}
