import {
  type AnswerInput,
  joinTexts,
  type LookupResult,
  type Retrieved,
  say,
  type Source,
  type Text,
} from "../../contract/domain/mod.ts";

/** Confidence below which the engine's advice is more likely to mislead. */
const MIN_ADVICE_CONFIDENCE = 0.6;

/** An answer with the sources that its sentences cite by number, from 1. */
export interface Answer {
  readonly answer: Text;
  readonly citations: readonly Source[];
}

/** A sentence with its sources. */
interface Sentence {
  readonly text: Text;
  readonly sources: readonly Source[];
}

/** Returns an answer: the sentences of a model's draft, or else of the lookups, then advice and objections. */
export function composeAnswerText(
  { plan, retrieved, results, objections, draft }: AnswerInput,
): Answer {
  const citations: Source[] = [];
  const cite = (source: Source): string => {
    const at = citations.findIndex(({ id, kind }) => id === source.id && kind === source.kind);
    return `[${at >= 0 ? at + 1 : citations.push(source)}]`;
  };
  const found = results.flatMap(sentencesOf);
  const sentences = draft ? draftSentences(draft, found) : found;
  const lines: Text[] = sentences.map(({ text, sources }) =>
    sources.length === 0 ? text : say`${text} ${[...new Set(sources.map(cite))].join("")}`
  );
  if (plan.kind === "incident") lines.push(...adviceOf(retrieved, results, cite));
  lines.push(...objections.objections);
  const answer = lines.length > 0
    ? joinTexts(lines, "\n")
    : say`Nothing was found that answers this.`;
  return { answer, citations };
}

/** Returns the sentences of a lookup. Where it has several sources, there is one for each sentence. */
function sentencesOf({ says, sources }: LookupResult): Sentence[] {
  return says.map((text, n) => ({
    text,
    sources: sources.length === 1 ? sources : sources.slice(n, n + 1),
  }));
}

/** Returns a model's sentences, with the sources of the evidence that they cite. */
function draftSentences(
  { claims, evidence }: NonNullable<AnswerInput["draft"]>,
  found: readonly Sentence[],
): Sentence[] {
  const sourcesOf = (n: number): readonly Source[] => {
    const { text } = evidence.find((piece) => piece.n === n)!;
    const whole = found.find((sentence) => String(sentence.text) === text);
    if (whole) return whole.sources;
    if (!text.endsWith("…")) return [];
    const beginning = text.slice(0, -1); // evidence is cut to a length
    return found.find((sentence) => String(sentence.text).startsWith(beginning))?.sources ?? [];
  };
  return claims.map((claim) => ({ text: claim.text, sources: claim.evidence.flatMap(sourcesOf) }));
}

/** Returns the kind of fault by the engine, and what to do about it. */
function adviceOf(
  { classification, articles, provider }: Retrieved,
  results: readonly LookupResult[],
  cite: (source: Source) => string,
): Text[] {
  const service = results.find(({ lookup, says }) => lookup.tool === "service" && says.length > 0)
    ?.lookup.arguments.of;
  const repair = service
    ? say`itsm_run_loop with service ${service} looks at it, and repairs it under governance where a runbook fits.`
    : say`It names no service that is known here; itsm_run_loop with these words opens a ticket for people.`;
  if (!classification) {
    return [say`The engine is away, so nothing can be said of what kind of fault this is.`, repair];
  }
  const { category, severity, recommended_action } = classification;
  const confidence = classification.confidence.toFixed(2);
  if (classification.confidence < MIN_ADVICE_CONFIDENCE) {
    const unsure =
      say`By its words it may be ${category}, which is too unsure (${confidence}) to recommend anything.`;
    return [unsure, repair];
  }
  const sources = articles.length > 0 ? say` ${articles.map(cite).join("")}` : "";
  const kind =
    say`By its words this is ${category}, ${severity} (confidence ${confidence}, judged by ${provider})${sources}`;
  return [kind, say`Recommended: ${recommended_action}`, repair];
}
