import { isCancellation } from "@temporalio/workflow";
import type { Authorship, Draft, Review } from "../domain/mod.ts";

/** Times that a model is asked: once more where the verifier objects to what carries the rest. */
const MOST_CALLS = 2;

/** Who wrote what no model was asked for. */
export const BY_RULES: Authorship = {
  ...{ written_by: "rules", provider: "local", model_calls: 0, dropped: [], fallback: null },
};

/**
 * Has a model write, and the verifier hold that against the evidence. What does not hold is dropped; where too little is
 * left, the model is told why and writes once more; then the rules' own stands.
 *
 * @returns null in place of what it wrote: it wrote nothing that holds, or none is configured
 */
export async function written<Said, Kept>({ write, judge, calls = 0 }: {
  write(objections: readonly string[]): Promise<Draft<Said>>;
  judge(said: Said): Promise<Review<Kept>>;
  /** Times that a model was asked in this run before. */
  calls?: number;
}): Promise<[Kept | null, Authorship]> {
  const dropped: string[] = [];
  const rules = (fallback: string | null): [null, Authorship] => [
    null,
    { ...BY_RULES, model_calls: calls, dropped, fallback },
  ];
  let objections: readonly string[] = [];
  for (let attempt = calls; attempt < MOST_CALLS; attempt++) {
    const draft = await orWhyNot(() => write(objections), "the model could not be asked");
    if (typeof draft === "string") return rules(draft);
    const { content, provider, model, asked, reason } = draft;
    if (provider === null || model === null) return rules(null);
    if (asked) calls++;
    if (content === null) return rules(`${model} wrote nothing: ${reason}`);
    const judged = await orWhyNot(
      () => judge(content),
      "what the model wrote could not be checked",
    );
    if (typeof judged === "string") return rules(judged);
    dropped.push(...judged.objections);
    objections = judged.objections;
    if (judged.kept !== null) {
      const by = { written_by: model, provider, model_calls: calls, dropped, fallback: null };
      return [judged.kept, by];
    }
  }
  return rules("what the model wrote did not hold against the evidence");
}

/** What it gives, or in its place a word on why there is nothing. */
export async function orWhyNot<T>(work: () => Promise<T>, why: string): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return why;
  }
}
