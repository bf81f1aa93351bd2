/** Answers by the reasoning pipeline, and diagnoses by the crew. @module */
import { answerQuestion } from "./answers.ts";
import { dispatchCrew } from "./crew.ts";

export { Source } from "./_authorship.ts";

/** Operations of this folder. */
export const reasoningOperations = [
  answerQuestion,
  dispatchCrew,
];
