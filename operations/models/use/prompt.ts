/** Checks prompts before a model gets them: the guardrails' input rail, and private data. */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { Problem } from "../../../contract/mod.ts";
import type { PrivacyMode } from "../../../contract/domain/mod.ts";
import type { ChatMessage } from "../../../judgement/engine/mod.ts";
import { findInjection, findPromptInjection } from "../../../judgement/guard/mod.ts";
import type { TextMasker } from "./private_text.ts";

/** Characters that are looked through at once, and those of them that the next part begins with. */
const PART = 10_000;
const OVERLAP = 400;

/** A prompt. */
export interface Prompt {
  readonly system: string | undefined;
  readonly messages: readonly ChatMessage[];
}

/**
 * Returns the prompt as the model may get it.
 *
 * @throws {Problem} `Denied`: the rail refuses it, or it has private data and the policy is to block
 */
export async function checkPrompt(
  { system, messages }: Prompt,
  privacy: PrivacyMode,
  masker: TextMasker,
): Promise<Prompt> {
  const texts = [...(system === undefined ? [] : [system]), ...messages.map((one) => one.content)];
  const attempts = await inParts(texts, findPromptInjection);
  if (attempts.length > 0) {
    const message = `The guardrails refuse the prompt (input_safety): it ${attempts.join(", ")}`;
    throw new Problem("Denied", message);
  }
  const masked = {
    system: system === undefined ? undefined : masker.mask(system),
    messages: messages.map(({ role, content }) => ({ role, content: masker.mask(content) })),
  };
  const kinds = Object.keys(masker.counts);
  if (privacy === "block" && kinds.length > 0) {
    const message = `The prompt has private data, which may not be sent (${kinds.join(", ")})`;
    throw new Problem("Denied", message);
  }
  return masked;
}

/** Names the attempts in an answer to steer an agent that reads it. */
export async function findInjectionInAnswer(answer: string): Promise<readonly string[]> {
  return await inParts([answer], findInjection);
}

/** Looks through texts part by part, so that others have their turn meanwhile. */
async function inParts(
  texts: readonly string[],
  find: (text: string) => readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const text of texts) {
    for (let at = 0; at === 0 || at + OVERLAP < text.length; at += PART - OVERLAP) {
      if (at > 0) await endOfTurn();
      for (const name of find(text.slice(at, at + PART))) found.add(name);
    }
  }
  return [...found];
}
