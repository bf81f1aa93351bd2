import { setCurrentDetails, setHandler } from "@temporalio/workflow";
import {
  type AgentReport,
  type Claim,
  type CrewRequest,
  type CrewResult,
  type CrewScope,
  type DiagnosisDraft,
  type DiagnosisRequest,
  reportsQuery,
  type ReviewedDiagnosis,
  type Source,
  type Suspect,
  type Verification,
} from "../domain/mod.ts";
import { evidenceOf } from "./_evidence.ts";
import { ONCE, perform, QUICK, SOON } from "./_options.ts";
import { written } from "./_drafts.ts";

/** Rounds in which the verifier may send the others to look elsewhere. */
const MOST_ROUNDS = 2;

/**
 * Six agents look at an incident, and give one diagnosis.
 *
 * Triage says what it is about; logs, metrics, topology and change look at that side by side, each with tools of its
 * own; the verifier objects, and may name services that have to be looked at as well. None of them changes anything.
 * Where a model is configured, it writes the diagnosis from what they found, and the verifier holds that against it.
 */
export async function crew({ incident }: CrewRequest): Promise<CrewResult> {
  const reports: AgentReport[] = [];
  setHandler(reportsQuery, () => reports);
  const triage = await perform(QUICK, "triage: what it is, and whom it concerns").crewTriage(
    incident,
  );
  reports.push(triage);

  let services = triage.services;
  let word: Verification | undefined;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const scene: CrewScope = { incident, services, round };
    const about = services.join(", ") || "the whole platform";
    setCurrentDetails(`**round ${round}** · ${about}`);
    reports.push(
      ...await Promise.all([
        perform(QUICK, `logs: what was written about ${about}`).crewLogs(scene),
        perform(QUICK, `metrics: how ${about} is, and was`).crewMetrics(scene),
        perform(QUICK, `topology: what ${about} needs`).crewTopology(scene),
        perform(QUICK, `change: what was changed on ${about}`).crewChange(scene),
      ]),
    );
    word = await perform(QUICK, "verifier: what speaks against it").crewVerify(scene, reports);
    reports.push(word);
    if (word.look_at.length === 0) break;
    services = word.look_at;
  }

  const suspects = suspectsOf(reports);
  const byRules = ruled(reports, suspects);
  const order: DiagnosisRequest = {
    incident,
    evidence: evidenceOf(reports.map(({ agent, says }) => ({ from: agent, says }))),
    support: Object.fromEntries(suspects.map(({ service, weight }) => [service, weight])),
    services: [...new Set([...triage.services, ...suspects.map(({ service }) => service)])],
  };
  const [kept, authorship] = await diagnosisOf(order);
  const found = kept ? { ...inMarkedWords(kept), evidence: order.evidence } : byRules;
  const its = triage.classification;
  setCurrentDetails(
    `**${found.cause ?? "no cause named"}** · ${reports.length} reports · ${authorship.written_by}`,
  );
  return {
    ...found,
    ...authorship,
    category: its?.category ?? null,
    severity: its?.severity ?? null,
    recommended_action: its?.recommended_action ?? null,
    citations: distinct(reports.flatMap(({ sources }) => sources)),
    objections: word?.objections ?? [],
    agents: reports,
  };
}

/** What a model makes of it, as far as the verifier lets that stand. */
function diagnosisOf(order: DiagnosisRequest) {
  return written({
    write: (objections) =>
      perform(ONCE, "Has a model write the diagnosis, where one is configured")
        .crewWrite(order, objections),
    judge: (said: DiagnosisDraft) =>
      perform(SOON, "verifier: what of the model's diagnosis holds").crewJudge(order, said),
  });
}

function inMarkedWords({ cause, confidence, diagnosis, steps }: ReviewedDiagnosis) {
  const text = [diagnosis, ...steps].map(marked).join("\n");
  return { diagnosis: text, cause, confidence, steps };
}

const marked = ({ text, evidence }: Claim) => `${text} ${evidence.map((n) => `[${n}]`).join("")}`;

/**
 * Of whom the agents together suspect most, the first the most. Several reasons count more than one, and never more than
 * all.
 */
function suspectsOf(reports: readonly AgentReport[]): Suspect[] {
  const sums = new Map<string, Suspect>();
  for (const { service, weight, why } of reports.flatMap(({ suspects }) => suspects)) {
    const known = sums.get(service);
    sums.set(service, {
      service,
      weight: known ? 1 - (1 - known.weight) * (1 - weight) : weight,
      why: known ? `${known.why}; ${why}` : why,
    });
  }
  return [...sums.values()].sort((a, b) => b.weight - a.weight || (a.service < b.service ? -1 : 1));
}

function ruled(reports: readonly AgentReport[], [first]: readonly Suspect[]) {
  const { service, weight, why } = first && first.weight > 0 ? first : {};
  return {
    diagnosis: inWords(reports, service, why),
    cause: service ?? null,
    confidence: Math.round((weight ?? 0) * 100) / 100,
    ...{ steps: [], evidence: [] },
  };
}

function inWords(reports: readonly AgentReport[], cause?: string, why?: string): string {
  const found = reports.flatMap(({ agent, says }) => says.map((one) => `${agent}: ${one}`));
  const head = cause
    ? `The cause is most likely ${cause}: ${why}.`
    : "No service can be named as the cause from what is known here.";
  return [head, ...new Set(found)].join("\n");
}

function distinct(sources: readonly Source[]): Source[] {
  return [...new Map(sources.map((source) => [`${source.kind} ${source.id}`, source])).values()];
}
