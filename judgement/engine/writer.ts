/** Has a model write from numbered evidence. The caller checks what it writes. */
import type { Logger } from "pino";
import type { z } from "zod";
import { findSecrets } from "../guard/mod.ts";
import { answerPrompt, diagnosisPrompt, hypothesesPrompt, planPrompt } from "./_write_prompts.ts";
import { type Model, NoAnswer, type Prompt } from "./providers/mod.ts";
import {
  DIAGNOSIS,
  HYPOTHESES,
  PLAN,
  type WriteRequest,
  type WriteResult,
  WRITTEN_ANSWER,
} from "./writing.ts";

/** Writes from evidence. Where the model gives no answer, the result says why. */
export type Writer = (request: WriteRequest, callerGone?: AbortSignal) => Promise<WriteResult>;

/** The parts of a writer. */
export interface WriterParts {
  /** The model, and its time limit in milliseconds; 0: it is not asked. Absent: none is configured. */
  readonly asking?: { readonly model: Model; readonly ms: number } | undefined;
  readonly log: Logger;
}

const NOTHING: WriteResult = {
  diagnosis: null,
  answer: null,
  plan: null,
  hypotheses: null,
  provider: null,
  model: null,
  asked: false,
  reason: null,
};

/** Opens a writer. */
export function openWriter({ asking, log }: WriterParts): Writer {
  return async (request, callerGone) => {
    if (!asking || asking.ms === 0) return NOTHING;
    const { model, ms } = asking;
    const author = { provider: model.provider, model: model.name };
    const ask = <T>(prompt: Prompt, shape: z.ZodType<T>) =>
      model.write(prompt, shape, ms, callerGone);
    try {
      return { ...NOTHING, ...author, ...await write(redactSecrets(request), ask), asked: true };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      log.warn({ ...author, task: request.task, reason: error.message }, "A model wrote nothing");
      return { ...NOTHING, ...author, asked: error.asked, reason: error.message };
    }
  };
}

async function write(
  request: WriteRequest,
  ask: <T>(prompt: Prompt, shape: z.ZodType<T>) => Promise<T>,
): Promise<Partial<WriteResult>> {
  switch (request.task) {
    case "diagnosis":
      return { diagnosis: await ask(diagnosisPrompt(request), DIAGNOSIS) };
    case "answer":
      return { answer: await ask(answerPrompt(request), WRITTEN_ANSWER) };
    case "plan":
      return { plan: await ask(planPrompt(request), PLAN) };
    case "hypotheses":
      return { hypotheses: await ask(hypothesesPrompt(request), HYPOTHESES) };
  }
}

/** Removes evidence that carries a secret. @throws {NoAnswer} the report carries one */
function redactSecrets(request: WriteRequest): WriteRequest {
  if (findSecrets(request.report).length > 0) {
    throw new NoAnswer("what it was to be told holds a secret", false);
  }
  const evidence = request.evidence.map((piece) =>
    findSecrets(piece.text).length > 0 ? { ...piece, text: "(it holds a secret)" } : piece
  );
  return { ...request, evidence };
}
