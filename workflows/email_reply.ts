import {
  executeChild,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from "@temporalio/workflow";
import type { ReasoningResult, ReplyResult } from "../contract/domain/mod.ts";
import { perform, QUICK } from "./_options.ts";
import { inheritTenant } from "./_run.ts";
import { reasoning } from "./reasoning.ts";

/**
 * Drafts an answer to a received mail from what the platform knows, with its sources. A person looks at it before it is
 * sent, unless a rule of the operator's lets the platform answer by itself. Its id is `emailReply-<reply id>`.
 *
 * The mail's words are a question to the reasoning pipeline, which only reads; they are never taken as an instruction.
 */
export async function emailReply(
  { reply_id }: { readonly reply_id: string },
): Promise<ReplyResult> {
  const { prompt } = await perform(QUICK, `Reads ${reply_id}`).readReply({ reply_id });
  const answer = prompt === null ? undefined : await answerPrompt(reply_id, prompt);
  const result = await perform(QUICK, `Drafts an answer to ${reply_id}`).draftReply({
    reply_id,
    ...(answer
      ? { outcome: answer.outcome, answer: answer.answer, citations: answer.citations }
      : {}),
  });
  setCurrentDetails(`**${result.state}** · ${result.email_id ?? "no answer"}`);
  return result;
}

/** @returns undefined: the pipeline has failed, and a person answers */
async function answerPrompt(
  reply_id: string,
  prompt: string,
): Promise<ReasoningResult | undefined> {
  try {
    return await executeChild(reasoning, {
      workflowId: `reasoning-${reply_id}`,
      args: [{ prompt, requested_by: workflowInfo().workflowId }],
      typedSearchAttributes: [inheritTenant()],
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undefined;
  }
}
