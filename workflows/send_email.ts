import {
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import { ATTRIBUTE, type EmailResult } from "../contract/domain/mod.ts";
import { askPeople } from "./_ask_people.ts";
import { perform, SEAL, TRANSMISSION } from "./_options.ts";
import { currentRun } from "./_run.ts";

/** Random part of a pause, so that mails that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Sends one mail whose bytes are stored, once. Its id is `sendEmail-<email id>`.
 *
 * A mail that the review has flagged waits for people. Its intent is sealed before the first attempt. There is another
 * attempt only where the one before provably sent nothing; a mail whose end nobody can tell is left to people.
 */
export async function sendEmail(
  { email_id }: { readonly email_id: string },
): Promise<EmailResult> {
  try {
    await prepare(email_id);
    await transmit(email_id);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return await CancellationScope.nonCancellable(async () => {
      await perform(SEAL, `Stops ${email_id}`).stopEmail({ email_id });
      return await seal(email_id);
    });
  }
  return await seal(email_id);
}

async function prepare(email_id: string): Promise<void> {
  const { held } = await perform(SEAL, `Prepares ${email_id}`)
    .prepareEmail({ email_id, run: currentRun() });
  if (!held) return;
  setCurrentDetails(`**held** · waits for people: ${held.approval_id}`);
  const { status } = await askPeople({ ...held, subject: email_id }, `Send ${email_id}?`);
  setCurrentDetails(`**${status}** by people: ${held.approval_id}`);
  await perform(SEAL, `Takes over that ${held.approval_id} is ${status}`)
    .decideEmail({ email_id, run: currentRun() });
}

async function transmit(email_id: string): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const { state, code, retry_in_seconds } = await perform(TRANSMISSION, `Attempt ${attempt}`)
      .transmitEmail({ email_id, attempt });
    setCurrentDetails(`**${state}** · attempt ${attempt} · ${code}`);
    if (retry_in_seconds === null) return;
    await sleep(retry_in_seconds * 1_000 * (1 + JITTER * Math.random()));
  }
}

async function seal(email_id: string): Promise<EmailResult> {
  const result = await perform(SEAL, `Seals the end of ${email_id}`)
    .sealEmail({ email_id, run: currentRun() });
  const { state, code, receipt_id } = result;
  setCurrentDetails(`**${state}** · ${code}`);
  upsertSearchAttributes([
    { key: ATTRIBUTE.outcome, value: state },
    { key: ATTRIBUTE.receipt, value: receipt_id },
  ]);
  return result;
}
