import { isCancellation } from "@temporalio/workflow";
import type { Authorship, Draft, Review } from "../contract/domain/mod.ts";

/** Most calls of a model in one run: one more where the review objects to the first text. */
const MAX_CALLS = 2;

/** Authorship of a text for which no model was asked. */
export const BY_RULES: Authorship = {
  written_by: "rules",
  provider: "local",
  model_calls: 0,
  dropped: [],
  fallback: null,
};

/** Writing and review of a text. */
export interface Writing<Content, Kept> {
  write(objections: readonly string[]): Promise<Draft<Content>>;
  review(content: Content): Promise<Review<Kept>>;
  /** Calls of a model earlier in this run. */
  readonly calls?: number;
}

/**
 * Has a model write, and reviews its text. What does not hold is dropped; if too little is left, the model gets the
 * objections and writes once more.
 *
 * @returns null in place of the text if no model is configured, or its text does not hold; then the rules write it
 */
export async function writeAndReview<Content, Kept>(
  { write, review, calls = 0 }: Writing<Content, Kept>,
): Promise<[Kept | null, Authorship]> {
  const dropped: string[] = [];
  const byRules = (fallback: string | null): [null, Authorship] => [
    null,
    { ...BY_RULES, model_calls: calls, dropped, fallback },
  ];
  let objections: readonly string[] = [];
  for (let attempt = calls; attempt < MAX_CALLS; attempt++) {
    const draft = await resultOrReason(() => write(objections), "the model could not be asked");
    if (typeof draft === "string") return byRules(draft);
    const { content, provider, model, asked, reason } = draft;
    if (provider === null || model === null) return byRules(null);
    if (asked) calls++;
    if (content === null) return byRules(`${model} wrote nothing: ${reason}`);
    const reviewed = await resultOrReason(
      () => review(content),
      "what the model wrote could not be checked",
    );
    if (typeof reviewed === "string") return byRules(reviewed);
    objections = reviewed.objections;
    dropped.push(...objections);
    if (reviewed.kept !== null) {
      return [
        reviewed.kept,
        { written_by: model, provider, model_calls: calls, dropped, fallback: null },
      ];
    }
  }
  return byRules("what the model wrote did not hold against the evidence");
}

/** Returns a result, or the reason why there is none. */
export async function resultOrReason<T>(
  work: () => Promise<T>,
  reason: string,
): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return reason;
  }
}
