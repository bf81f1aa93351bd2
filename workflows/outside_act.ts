import { setCurrentDetails, sleep, upsertSearchAttributes } from "@temporalio/workflow";
import {
  type ActAttempt,
  type ActOrder,
  type ActProof,
  type ActResult,
  ATTRIBUTE,
} from "../contract/domain/mod.ts";
import { actToTheEnd } from "./_act.ts";
import { LONG, ONE_ATTEMPT, perform, SEAL } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** First and longest pause between looks at what the system shows; each is twice the one before. */
const MIN_PAUSE_SECONDS = 1;
const MAX_PAUSE_SECONDS = 120;
const LOST: ActAttempt = { state: "unknown", code: "answer_lost", execution_id: null };

/**
 * Does one act in a system of the operator's, once. Its id is `act-<act id>`.
 *
 * The intent is sealed first, and there is one attempt. What the system then shows by itself proves what became of it; where
 * it shows nothing, the end is unknown and people are told how to find out.
 */
export async function outsideAct(order: ActOrder): Promise<ActResult> {
  const { act_id } = order;
  const since_ms = Date.now();
  let wait_seconds = 0;
  return await actToTheEnd({
    async intend() {
      const intent = await perform(SEAL, `Seals the intent of ${act_id}`)
        .intendAct(order, currentRun());
      ({ wait_seconds } = intent);
      return intent.is_first;
    },
    act: () => perform(ONE_ATTEMPT, `Does ${act_id}, once`).attemptAct(order),
    async prove(attempt = LOST) {
      setCurrentDetails(`**${attempt.state}** · ${attempt.code}`);
      const known = { execution_id: attempt.execution_id, since_ms };
      const mayBeDone = attempt.state !== "not_done";
      return endOf(attempt, mayBeDone ? await findProof(order, known, wait_seconds) : undefined);
    },
    async end(end) {
      const result = await perform(SEAL, `Seals the end of ${act_id}`)
        .sealAct(order, currentRun(), end);
      setCurrentDetails(`**${result.state}** · ${result.code}`);
      upsertSearchAttributes([
        { key: ATTRIBUTE.outcome, value: result.state },
        { key: ATTRIBUTE.receipt, value: result.receipt_id },
      ]);
      return result;
    },
  });
}

/** Looks at what the system shows until the act has ended there. @returns undefined: nothing shows that it began */
async function findProof(
  order: ActOrder,
  known: { readonly execution_id: string | null; readonly since_ms: number },
  wait_seconds: number,
): Promise<ActProof | undefined> {
  const end = Date.now() + wait_seconds * 1_000;
  let proof: ActProof | null = null;
  for (let seconds = MIN_PAUSE_SECONDS; !proof?.has_ended && Date.now() < end; seconds *= 2) {
    await sleep(Math.min(seconds, MAX_PAUSE_SECONDS) * 1_000);
    proof = await perform(LONG, `Looks what became of ${order.act_id}`)
      .readAct(order, known) ?? proof;
  }
  return proof ?? undefined;
}

function endOf(
  { state, code, execution_id }: ActAttempt,
  proof: ActProof | undefined,
): Omit<ActResult, "act_id" | "receipt_id"> {
  if (proof && proof.state !== "unknown") {
    return { state: proof.state, code: proof.code, execution_id: proof.execution_id };
  }
  if (state === "sent") return { state: "unknown", code: "not_shown", execution_id };
  return { state, code, execution_id };
}
