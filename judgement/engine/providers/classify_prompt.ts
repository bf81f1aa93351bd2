import { z } from "zod";
import { SEVERITIES } from "../../../contract/domain/mod.ts";
import { CATEGORIES } from "../classifier/mod.ts";
import { createFence } from "./fence.ts";
import type { Prompt } from "./provider.ts";

/** A question about a report. */
export interface Question {
  readonly description: string;
  readonly source: string;
  /** Retrieved passages. Past incidents are withheld from models that do not run on this machine. */
  readonly passages: readonly {
    readonly id: string;
    readonly kind: string;
    readonly text: string;
  }[];
}

/** A model's classification of a report. Its citations are ids of passages that it was given. */
export type Answer = Readonly<z.output<typeof ANSWER>>;

const MAX_TOKENS = 700;

const MAX_ADVICE_LENGTH = 1_000;
/** Control characters, invisible characters and halves of characters. */
// deno-lint-ignore no-control-regex -- these are what must not be there
export const INVISIBLE: RegExp = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\p{Cf}|\p{Cs}/u;

/** Schema of an answer. Anything else is no answer. */
export const ANSWER = z.strictObject({
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1),
  recommended_action: z.string().trim().min(1).max(MAX_ADVICE_LENGTH)
    .refine((text) => !INVISIBLE.test(text)),
  citations: z.array(z.string()).max(10),
});

/** Returns a question as a prompt. Untrusted text stands between marks that its writer could not know. */
export function classifyPrompt({ description, source, passages }: Question): Prompt {
  const fence = createFence();
  return {
    name: "classify",
    tokens: MAX_TOKENS,
    system: `You classify reports of IT incidents. ${fence.warning}\n\n` +
      `category is where the fault lies: network (links, routing, VPN, Wi-Fi, DHCP), dns, certificate, database, ` +
      `storage, compute (hosts, CPU, memory, nodes), application (a fault in our own software), deployment (a release ` +
      `or pipeline), configuration, security (attack or weakness), identity (log-in, accounts, permissions), ` +
      `dependency (someone else's service), messaging (mail, queues, streams), hardware (power, cooling, parts, ` +
      `printers), backup, other.\n` +
      `severity is critical (a core service down or an attack under way, for many), high (badly degraded or soon ` +
      `down), medium (some users or a workaround) or low (cosmetic, request, no hurry).\n` +
      `confidence is how likely the category is right, from 0 to 1. recommended_action is what to check first and ` +
      `what to do then, in at most two sentences, and rests on the passages. citations are the ids of the passages ` +
      `that it rests on, and of no others.`,
    user: [
      fence.enclose("report", description),
      fence.enclose("source of the report", source),
      ...passages.map(({ id, text }) => fence.enclose(`passage ${id}`, text)),
    ].join("\n\n"),
    schema: {
      type: "object",
      properties: {
        category: { type: "string", enum: CATEGORIES },
        severity: { type: "string", enum: SEVERITIES },
        confidence: { type: "number" },
        recommended_action: { type: "string" },
        citations: { type: "array", items: { type: "string" } },
      },
      required: ["category", "severity", "confidence", "recommended_action", "citations"],
      additionalProperties: false,
    },
  };
}
