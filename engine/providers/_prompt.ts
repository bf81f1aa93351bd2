import { z } from "zod";
import { SEVERITIES } from "../../domain/mod.ts";
import { CATEGORIES } from "../labels.ts";
import { newFence } from "./_fence.ts";
import type { Question } from "./mod.ts";

/** A question in the form in which every model is asked. */
export interface Prompt {
  /** Of what is asked for, in small letters and underscores. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  /** JSON Schema of the answer, in the part of it that all providers know. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Most tokens of the answer. */
  readonly tokens: number;
}

const MOST_TOKENS = 700;

/** Most letters of an answer's advice. */
const LONGEST_ADVICE = 1_000;
/** Control characters, what is there without being seen, and halves of characters. */
// deno-lint-ignore no-control-regex -- these are what must not be there
export const UNSEEN: RegExp = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\p{Cf}|\p{Cs}/u;

/** What a model has to answer; what is not that is no answer. */
export const ANSWER = z.strictObject({
  category: z.enum(CATEGORIES),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1),
  recommended_action: z.string().trim().min(1).max(LONGEST_ADVICE).refine((text) =>
    !UNSEEN.test(text)
  ),
  citations: z.array(z.string()).max(10),
});

/** Puts a question as a prompt. What others wrote stands between marks that they could not know. */
export function promptOf({ description, source, passages }: Question): Prompt {
  const fence = newFence();
  return {
    name: "classify",
    tokens: MOST_TOKENS,
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
      fence.around("report", description),
      fence.around("source of the report", source),
      ...passages.map(({ id, text }) => fence.around(`passage ${id}`, text)),
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
