/** Has a model write from numbered evidence. What it writes is checked by whoever asked. */
import type { z } from "zod";
import type { Log } from "../web/mod.ts";
import { secretsIn } from "../guard/text/mod.ts";
import { type Model, newFence, NoAnswer, type Prompt } from "./providers/mod.ts";
import {
  DIAGNOSIS,
  NO_CAUSE,
  PLAN,
  type WriteRequest,
  type Writing,
  WRITTEN_ANSWER,
} from "./writing.ts";

/** Writes; throws nothing of the model's. */
export type Writer = (request: WriteRequest, gone?: AbortSignal) => Promise<Writing>;

const MOST_TOKENS = 1_500;
/** Of a choice. */
const FEW_TOKENS = 300;

/** What a writer writes by. */
export interface WriterParts {
  /** The model, and the milliseconds that it has; 0: it is not asked. Absent: none is configured. */
  readonly asking?: { readonly model: Model; readonly ms: number } | undefined;
  readonly log: Log;
}

/** Makes a writer. */
export function openWriter({ asking, log }: WriterParts): Writer {
  return async (given, gone) => {
    if (!asking || asking.ms === 0) return NOTHING;
    const { model, ms } = asking;
    const by = { provider: model.provider, model: model.name };
    try {
      const request = withoutSecrets(given);
      const ask = <T>(prompt: Prompt, shape: z.ZodType<T>) => model.write(prompt, shape, ms, gone);
      const said = request.task === "diagnosis"
        ? { diagnosis: await ask(diagnosisPrompt(request), DIAGNOSIS) }
        : request.task === "answer"
        ? { answer: await ask(answerPrompt(request), WRITTEN_ANSWER) }
        : { plan: await ask(planPrompt(request), PLAN) };
      return { ...NOTHING, ...by, ...said, asked: true };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      log.warn({ ...by, task: given.task, reason: error.message }, "A model wrote nothing");
      return { ...NOTHING, ...by, asked: error.asked, reason: error.message };
    }
  };
}

const NOTHING: Writing = {
  ...{ diagnosis: null, answer: null, plan: null },
  ...{ provider: null, model: null, asked: false, reason: null },
};

/** Secrets that were read or reported are no model's business. @throws {NoAnswer} */
function withoutSecrets(request: WriteRequest): WriteRequest {
  if (secretsIn(request.report).length > 0) {
    throw new NoAnswer("what it was to be told holds a secret", false);
  }
  const told = (text: string) => secretsIn(text).length > 0 ? "(it holds a secret)" : text;
  const evidence = request.evidence.map((piece) => ({ ...piece, text: told(piece.text) }));
  return { ...request, evidence };
}

const CLAIM = {
  type: "object",
  properties: {
    text: { type: "string" },
    evidence: { type: "array", items: { type: "integer" } },
  },
  required: ["text", "evidence"],
  additionalProperties: false,
};

const RULES =
  `Each text is one sentence in plain words, at most 300 letters. It says what is and why, and nothing that should be ` +
  `done: no commands, no addresses, no advice. Its evidence are the numbers of the pieces of evidence that it follows ` +
  `from, at least one, and no others than were given; they do not stand in the text. Write names, ids and numbers ` +
  `exactly as that evidence has them, names of services between backticks, and none that it does not have. Your texts ` +
  `are checked against it by rules.`;

function diagnosisPrompt(request: WriteRequest): Prompt {
  const { services } = request;
  const fence = newFence();
  return {
    name: "diagnose",
    tokens: MOST_TOKENS,
    system:
      `You diagnose an IT incident from what agents have measured and read. ${fence.warning}\n\n` +
      `cause is the service at which the fault began, by its name: one of those below, or ${NO_CAUSE} where the evidence ` +
      `names none. A service that answers its health check is not the cause. Where one that fails needs another that ` +
      `is down, the other is nearer to it. confidence is how likely that cause is right, from 0 to 1; it will be cut ` +
      `to what was measured. diagnosis says in one sentence what the cause is. steps lead to it: from what was ` +
      `reported, over what was measured, to the cause, and what speaks against it, 2 to 6 of them.\n\n${RULES}`,
    user: [
      ...partsOf(fence, "report of the incident", request),
      fence.around("services", services.join("\n")),
    ].join("\n\n"),
    schema: {
      type: "object",
      properties: {
        steps: { type: "array", items: CLAIM },
        diagnosis: CLAIM,
        cause: { type: "string", enum: [...services, NO_CAUSE] },
        confidence: { type: "number" },
      },
      required: ["steps", "diagnosis", "cause", "confidence"],
      additionalProperties: false,
    },
  };
}

function answerPrompt(request: WriteRequest): Prompt {
  const fence = newFence();
  return {
    name: "answer",
    tokens: MOST_TOKENS,
    system:
      `You answer a question about an IT platform from what was just read of it. ${fence.warning}\n\n` +
      `claims answer the question, the most important first, 1 to 6 of them. Where the evidence does not answer it, say ` +
      `so, and cite what comes nearest. Where an objection is among the evidence, don't claim what it speaks against.\n\n${RULES}`,
    user: partsOf(fence, "question", request).join("\n\n"),
    schema: {
      type: "object",
      properties: { claims: { type: "array", items: CLAIM } },
      required: ["claims"],
      additionalProperties: false,
    },
  };
}

function planPrompt({ report, services, tools = [] }: WriteRequest): Prompt {
  const fence = newFence();
  const offered = tools.map(({ name, about, of_service }) =>
    `${name}: ${about}${of_service ? ", of the service that `of` names" : ""}`
  );
  return {
    name: "plan",
    tokens: FEW_TOKENS,
    system:
      `You choose what to look at, so that a question about an IT platform can be answered. ${fence.warning}\n\n` +
      `looks are tools of these, at most 4, the most telling first; each only reads:\n${
        offered.join("\n")
      }\n\n` +
      `of is a service of those below, for tools that take one, and "" for the others. Where the question is about ` +
      `nothing that these tools show, as small talk or a question about something else, looks is empty.`,
    user: [fence.around("question", report), fence.around("services", services.join("\n"))]
      .join("\n\n"),
    schema: {
      type: "object",
      properties: {
        looks: {
          type: "array",
          items: {
            type: "object",
            properties: {
              tool: { type: "string", enum: tools.map(({ name }) => name) },
              of: { type: "string", enum: ["", ...services] },
            },
            required: ["tool", "of"],
            additionalProperties: false,
          },
        },
      },
      required: ["looks"],
      additionalProperties: false,
    },
  };
}

function partsOf(
  { around }: ReturnType<typeof newFence>,
  what: string,
  { report, evidence, objections }: WriteRequest,
): string[] {
  const pieces = evidence.map(({ n, from, text }) => `${n}. (${from}) ${text}`);
  return [
    around(what, report),
    around("evidence", pieces.join("\n")),
    ...objections.length > 0
      ? [around("objections to what you wrote before", objections.join("\n"))]
      : [],
  ];
}
