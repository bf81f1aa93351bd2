/** The parts of a postmortem about the fault: its cause, what was looked at, and what had changed before. */
import type { NumberedObservation } from "../../../contract/domain/mod.ts";
import { code, count, escape, join, sentence, words } from "./_markdown.ts";
import { type DiagnosisEvent, type PostmortemFacts, readDiagnoses } from "./_postmortem_facts.ts";

/** A cause that was considered. */
export interface Alternative {
  readonly cause: string;
  readonly observations: readonly number[];
  readonly because: string;
}

const MAX_OBSERVATIONS = 100;
/** Matches why a cause that nothing speaks against was not named. */
export const WEAKER = /^(?:less|too little) speaks for it/;

/**
 * Formats the cause. The first one that was named stays, whatever later diagnoses say: they follow it. A symptom is never
 * called a cause.
 */
export function formatCause(facts: PostmortemFacts): string {
  const diagnoses = readDiagnoses(facts);
  const main = diagnoses.find(({ cause }) => cause !== null) ?? diagnoses[0];
  if (!main) return "Nothing was diagnosed.";
  return [
    formatNamed(main),
    ...diagnoses.filter((one) => one !== main).map(formatOther),
    formatAlternatives(main),
    formatHypotheses(main),
    formatCategory(main),
  ].filter((part) => part !== "").join("\n\n");
}

function formatNamed({ cause, symptom, round, data }: DiagnosisEvent): string {
  const seen = `The symptom is ${code(symptom)}.`;
  if (cause === null) return `The cause is not known. ${seen}`;
  const says = typeof data.cause_says === "string" ? `${sentence(data.cause_says)} ` : "";
  const { cause_confidence: confidence } = data;
  const sure = typeof confidence === "number"
    ? ` with a confidence of ${confidence.toFixed(2)}`
    : "";
  return `${says}The diagnosis of round ${round} named the cause ${code(cause)}${sure}, ${
    supportOf(data.observations)
  }. ${seen}`;
}

function supportOf(observations: unknown): string {
  const numbers = Array.isArray(observations) ? observations.map(String) : [];
  if (numbers.length === 0) return "by the code of the check alone";
  return numbers.length === 1 ? `by observation ${numbers[0]}` : `by observations ${join(numbers)}`;
}

/** Formats another diagnosis than the one that named the cause first. */
function formatOther({ at, round, cause, symptom, data }: DiagnosisEvent): string {
  const named = cause === null
    ? "named no cause"
    : `named ${code(cause)}, ${supportOf(data.observations)}`;
  return `The diagnosis at ${at} (round ${round}) ${named}. Its symptom was ${code(symptom)}.`;
}

function formatAlternatives({ data }: DiagnosisEvent): string {
  const all = Array.isArray(data.alternatives) ? data.alternatives as Alternative[] : [];
  const format = ({ cause, observations, because }: Alternative) =>
    `- ${code(cause)} (${supportOf(observations)}): ${escape(because)}`;
  const against = all.filter(({ because }) => !WEAKER.test(because));
  const weaker = all.filter(({ because }) => WEAKER.test(because));
  return [
    ...against.length > 0 ? ["Ruled out:\n", ...against.map(format)] : [],
    ...against.length > 0 && weaker.length > 0 ? [""] : [],
    ...weaker.length > 0 ? ["Considered, and left open:\n", ...weaker.map(format)] : [],
  ].join("\n");
}

/** Formats the order of a model, which is told as such: it decides nothing. */
function formatHypotheses({ data }: DiagnosisEvent): string {
  const { written_by, hypotheses = [] } = (data.hypotheses ?? {}) as {
    readonly written_by?: string;
    readonly hypotheses?: readonly { cause: string; text: string; evidence: number[] }[];
  };
  if (written_by === undefined || hypotheses.length === 0) return "";
  const lines = hypotheses.map(({ cause, text, evidence }) =>
    `- ${code(cause)} (${supportOf(evidence)}): ${escape(text)}`
  );
  return [
    `The model ${
      code(written_by)
    } put what nothing rules out in this order, which decided nothing:\n`,
    ...lines,
  ].join("\n");
}

/** Formats the kind of the fault, and who judged it by what. */
function formatCategory({ data }: DiagnosisEvent): string {
  const { says, because, basis, classification, reading, citations } = data;
  const sentences: string[] = [];
  if (typeof says === "string") sentences.push(`What was measured: ${sentence(says)}`);
  const judged = describeClass(classification);
  if (judged) sentences.push(`${JUDGES[String(basis)] ?? "Its kind"}: ${judged}.`);
  if (basis === "measured" && typeof because === "string") sentences.push(sentence(because));
  const read = basis === "words" ? undefined : describeClass(reading);
  if (read) sentences.push(`Its words alone: ${read}.`);
  if (Array.isArray(citations) && citations.length > 0) {
    sentences.push(`Citations: ${citations.map(code).join(", ")}.`);
  }
  return sentences.join(" ");
}

const JUDGES: Readonly<Record<string, string>> = {
  observed: "Its kind, by the cause",
  measured: "Its kind, by what was measured",
  words: "Its kind, by its words",
};

/** Describes a category with its confidence; undefined: there is none. */
function describeClass(value: unknown): string | undefined {
  const { category, confidence } = (value ?? {}) as { category?: string; confidence?: number };
  return category && confidence !== undefined
    ? `${escape(category)} with a confidence of ${confidence.toFixed(2)}`
    : undefined;
}

/** Formats what was looked at, and what was seen there, by the numbers that diagnoses use. */
export function formatObservations({ observations }: PostmortemFacts): string {
  const runs = [...observations.values()].filter((seen) => seen.length > 0);
  if (runs.length === 0) return "Nothing that was looked at is on record.";
  return runs.map((seen, n) => {
    const heading = runs.length > 1 ? `Run ${n + 1}:\n\n` : "";
    const lines = seen.slice(0, MAX_OBSERVATIONS).map(formatObservation);
    const more = seen.length - lines.length;
    return heading + [...lines, ...more > 0 ? [`- and ${more} more`] : []].join("\n");
  }).join("\n\n");
}

function formatObservation({ number, round, source, code, figures, says }: NumberedObservation) {
  const seen = code === "not_had"
    ? `could not be looked at (${words(figures?.reason ?? "unknown")}).`
    : sentence(says);
  return `- Observation ${number}, ${source} in round ${round}: ${seen}`;
}

/** Formats what is known to have changed before the fault, as it was seen when it was diagnosed first. */
export function formatChanges(facts: PostmortemFacts): string {
  const [first] = readDiagnoses(facts);
  const looks = (first?.observations ?? [])
    .filter(({ source, round }) => source === "changes" && round === first!.round);
  const seen = looks.filter(({ code }) => code !== "not_had");
  if (seen.length > 0) {
    return seen.map(({ number, says, text }) =>
      [
        `- ${sentence(says)} (Observation ${number})`,
        ...(text ?? "").split("\n").filter(Boolean).map((line) => `  - ${escape(line)}`),
      ].join("\n")
    ).join("\n");
  }
  return looks.length > 0
    ? "The platform could not look for changes."
    : "No change before it is on record. That does not show that nothing was changed.";
}

/** Formats how often the same fault was there before. */
export function formatEarlier({ earlier, ticket }: PostmortemFacts): string {
  if (earlier.count > 0) {
    return `The same fault had ${
      count(earlier.count, "incident")
    } before, the last one opened at ${earlier.last_opened_at}.`;
  }
  return ticket.workflow_id === null
    ? "No detector found it, so that it can't be compared with earlier faults."
    : "No earlier incident of the same fault is on record.";
}
