/** Prompts by which a model writes from numbered evidence. */
import { createFence, type Fence, type Prompt } from "./providers/mod.ts";
import { NO_CAUSE, type WriteRequest } from "./writing.ts";

const MAX_TOKENS = 1_500;
const MAX_PLAN_TOKENS = 300;

const CLAIM = {
  type: "object",
  properties: {
    text: { type: "string" },
    evidence: { type: "array", items: { type: "integer" } },
  },
  required: ["text", "evidence"],
  additionalProperties: false,
};

/** Rules for every text that a model writes. */
const RULES =
  `Each text is one sentence in plain words, at most 300 letters. It says what is and why, and nothing that should be ` +
  `done: no commands, no addresses, no advice. Its evidence are the numbers of the pieces of evidence that it follows ` +
  `from, at least one, and no others than were given; they do not stand in the text. Write names, ids and numbers ` +
  `exactly as that evidence has them, names of services between backticks, and none that it does not have. Your texts ` +
  `are checked against it by rules.`;

/** Returns the prompt for a diagnosis. */
export function diagnosisPrompt(request: WriteRequest): Prompt {
  const { services } = request;
  const fence = createFence();
  return {
    name: "diagnose",
    tokens: MAX_TOKENS,
    system:
      `You diagnose an IT incident from what agents have measured and read. ${fence.warning}\n\n` +
      `cause is the service at which the fault began, by its name: one of those below, or ${NO_CAUSE} where the evidence ` +
      `names none. A service that answers its health check is not the cause. Where one that fails needs another that ` +
      `is down, the other is nearer to it. confidence is how likely that cause is right, from 0 to 1; it will be cut ` +
      `to what was measured. diagnosis says in one sentence what the cause is. steps lead to it: from what was ` +
      `reported, over what was measured, to the cause, and what speaks against it, 2 to 6 of them.\n\n${RULES}`,
    user: [
      ...sections(fence, "report of the incident", request),
      fence.enclose("services", services.join("\n")),
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

/** Returns the prompt for an answer. */
export function answerPrompt(request: WriteRequest): Prompt {
  const fence = createFence();
  return {
    name: "answer",
    tokens: MAX_TOKENS,
    system:
      `You answer a question about an IT platform from what was just read of it. ${fence.warning}\n\n` +
      `claims answer the question, the most important first, 1 to 6 of them. Where the evidence does not answer it, say ` +
      `so, and cite what comes nearest. Where an objection is among the evidence, don't claim what it speaks against.\n\n${RULES}`,
    user: sections(fence, "question", request).join("\n\n"),
    schema: {
      type: "object",
      properties: { claims: { type: "array", items: CLAIM } },
      required: ["claims"],
      additionalProperties: false,
    },
  };
}

/** Returns the prompt for an order of hypotheses. */
export function hypothesesPrompt(request: WriteRequest): Prompt {
  const { hypotheses = [] } = request;
  const fence = createFence();
  const offered = hypotheses.map(({ cause, says, evidence }) =>
    `${cause}: ${says} (${evidence.length > 0 ? evidence.join(", ") : "by the code of the check"})`
  );
  return {
    name: "hypotheses",
    tokens: MAX_TOKENS,
    system:
      `You weigh hypotheses about the cause of an IT incident, by what was observed. ${fence.warning}\n\n` +
      `order has the hypotheses below, the likeliest first; leave out those that nothing speaks for, and add none. ` +
      `why says in one sentence what was observed that speaks for it.\n\n${RULES}`,
    user: [
      ...sections(fence, "symptom", request),
      fence.enclose("hypotheses", offered.join("\n")),
    ].join("\n\n"),
    schema: {
      type: "object",
      properties: {
        order: {
          type: "array",
          items: {
            type: "object",
            properties: {
              cause: { type: "string", enum: hypotheses.map(({ cause }) => cause) },
              why: CLAIM,
            },
            required: ["cause", "why"],
            additionalProperties: false,
          },
        },
      },
      required: ["order"],
      additionalProperties: false,
    },
  };
}

/** Returns the prompt for a choice of tools. */
export function planPrompt({ report, services, tools = [] }: WriteRequest): Prompt {
  const fence = createFence();
  const offered = tools.map(({ name, about, of_service }) =>
    `${name}: ${about}${of_service ? ", of the service that `of` names" : ""}`
  );
  return {
    name: "plan",
    tokens: MAX_PLAN_TOKENS,
    system:
      `You choose what to look at, so that a question about an IT platform can be answered. ${fence.warning}\n\n` +
      `looks are tools of these, at most 4, the most telling first; each only reads:\n${
        offered.join("\n")
      }\n\n` +
      `of is a service of those below, for tools that take one, and "" for the others. Where the question is about ` +
      `nothing that these tools show, as small talk or a question about something else, looks is empty.`,
    user: [fence.enclose("question", report), fence.enclose("services", services.join("\n"))]
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

function sections(
  { enclose }: Fence,
  reportName: string,
  { report, evidence, objections }: WriteRequest,
): string[] {
  const pieces = evidence.map(({ n, from, text }) => `${n}. (${from}) ${text}`);
  return [
    enclose(reportName, report),
    enclose("evidence", pieces.join("\n")),
    ...(objections.length > 0
      ? [enclose("objections to what you wrote before", objections.join("\n"))]
      : []),
  ];
}
