import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { beginModelCall, maskTexts, recoverModelCall, requireChat } from "./use/mod.ts";
import { EventStream } from "../../contract/mod.ts";
import { type ModelProvider, PRIVACY_MODES } from "../../contract/domain/mod.ts";
import { text } from "../schemas/mod.ts";
import { Answer, toOutput } from "./_output.ts";
import { beginStream } from "./_stream.ts";

/** Characters of one text; a request's body has a limit of its own. */
const MAX_CHARACTERS = 500_000;
const MAX_MESSAGES = 500;

const Input = z.object({
  messages: z.array(z.object({
    role: z.enum(["user", "assistant"]),
    content: text(1, MAX_CHARACTERS),
  })).min(1).max(MAX_MESSAGES),
  system: text(1, MAX_CHARACTERS).optional().describe("What the model is to be and to do"),
  model: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:\/@+-]{0,127}$/).optional()
    .describe("The provider's name of a model; left out: the one that the operator has set"),
  max_tokens: z.number().int().min(1).max(128_000).default(1_024)
    .describe("Most tokens of the answer; they are reserved in your budget until it has ended"),
  stream: z.boolean().default(false).describe(
    "True: the answer comes as server-sent events in the provider's form, and at last an event sealoop",
  ),
  pii: z.enum(PRIVACY_MODES).optional().describe(
    "What is done with private data: mask or block. The operator's policy holds where it is stricter",
  ),
});

/** The input of these operations. */
type Input = z.output<typeof Input>;

const EXAMPLE = {
  input: { messages: [{ role: "user", content: "What does ENOSPC mean?" }], max_tokens: 200 },
  answer: {
    id: "MDL-5b1e09c77a42",
    stop_reason: "end_turn",
    content: "A write failed because the file system has no space left.",
    usage: { input_tokens: 14, output_tokens: 15, estimated: false },
    redactions: { prompt: {}, answer: {} },
    injections: [],
    receipt_id: "9f2c4b7a01d3e8569f2c4b7a01d3e856",
  },
};

function askOperation(
  provider: ModelProvider,
  title: string,
  example: { readonly model: string; readonly cost_micro: number | null },
) {
  return operation({
    name: `ai.${provider}`,
    group: "people",
    summary: `Ask a model of ${title}`,
    description:
      "The guardrails look through the prompt. Private data (e-mail addresses, phone numbers, cards, bank accounts, secrets) " +
      "are masked in prompt and answer, or blocked, as the operator's policy says. Before the model is asked, the most that " +
      "it can cost is reserved in the budgets of your key and your organization; afterwards what it has used counts. " +
      "Whoever leaves early is billed for what was made.\n\n" +
      "With `stream`, the answer comes as server-sent events in the provider's own form, some 300 characters late, as " +
      "private data may begin in what came last. The last event, `sealoop`, has the fields of the answer without " +
      "`content`; an answer that fails ends with an event `error`.",
    effect: "run",
    access: "key",
    input: Input,
    output: Answer,
    rest: { [`ai_${provider}`]: `POST /v1/ai/${provider}` },
    presentation: {
      hints: { destructive: false, openWorld: true },
      untrusted: true,
      errors: ["NotConfigured", "Denied", "Forbidden", "Unavailable"],
    },
    governance: {
      rule: "models-within-budget",
      // A call that waits for people has nobody to stream to.
      resolveStableInput: (input: Input) =>
        Promise.resolve({
          input: { ...input, stream: false },
          about: `${input.messages.length} messages, at most ${input.max_tokens} tokens of answer`,
        }),
      check: (_, { config }) => {
        requireChat(config, provider);
        return Promise.resolve();
      },
    },
    durability: { sealsItself: true, asEvidence: maskTexts, recover: recoverModelCall },
    example: {
      input: EXAMPLE.input,
      output: { ...EXAMPLE.answer, provider, ...example },
    },
    run: (input, context) => ask(provider, input, context),
  });
}

async function ask(provider: ModelProvider, input: Input, context: Context) {
  const { messages, system, model, max_tokens: maxTokens, stream, pii: privacy } = input;
  const order = { provider, messages, system, model, maxTokens, privacy };
  const call = await beginModelCall(context, order);
  if (stream) return new EventStream(await beginStream(call, provider));
  let content = "";
  for (;;) {
    const piece = await call.answer.next();
    if (piece.done) return { ...toOutput(piece.value), content };
    content += piece.value;
  }
}

/** Asks a model of Anthropic. */
export const askAnthropic = askOperation("anthropic", "Anthropic", {
  model: "claude-haiku-5-5",
  cost_micro: 9,
});

/** Asks a model of OpenAI, or of a server that speaks its language. */
export const askOpenai = askOperation("openai", "OpenAI, or of a server that speaks its language", {
  model: "gpt-5.4-mini",
  cost_micro: 78,
});

/** Asks a model that Ollama serves. */
export const askOllama = askOperation("ollama", "the operator's own, served by Ollama", {
  model: "llama3.2",
  cost_micro: null,
});
