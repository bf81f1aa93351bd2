import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { cancellationSignal } from "@temporalio/activity";
import { type MailParts, reviewText, sendMail } from "../../operations/mail/sending/mod.ts";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import type { SendResult } from "../../integrations/channels/mod.ts";
import type { Message } from "../../store/notices/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import { getEmail } from "../../store/mail/mod.ts";

/** Longest wait for a mail's end. After it, the next channel is tried. */
const WAIT_MS = 60_000;
const POLL_MS = 200;
const STATES = { sent: "delivered", not_sent: "not_delivered", unknown: "unknown" } as const;

/**
 * Tells one of the operator's people of a message by e-mail, by the workflow that sends all mail. Again it is the same
 * mail, and its end is waited for. People's own words that the review flags are not sent.
 *
 * @param number of the delivery
 */
export async function mailNotice(
  parts: MailParts,
  { id, kind, subject, text, from, link }:
    & Pick<Message, "id" | "kind" | "subject" | "text" | "from">
    & { readonly link: string | null },
  number: number,
  to: string,
): Promise<SendResult> {
  // Hosts of the network inside are no secret from the operator's own people.
  const flagged = kind === "said" &&
    reviewText(subject, text).find(({ code }) => code !== "internal_address");
  if (flagged) return { state: "not_delivered", code: `review_${flagged.code}`, isFinal: true };
  const hash = createHash("sha256").update(JSON.stringify([parts.store.tenant, id, number]));
  try {
    const { email_id } = await sendMail(parts, {
      id: `EML-${hash.digest("hex").slice(0, 12)}`,
      kind: "notice",
      to,
      subject: escapeInvisible(subject || "Message").replace(/\s+/g, " ").slice(0, 400),
      body: [escapeInvisible(text), "", ...(link ? [link] : []), `${escapeInvisible(from)}, ${id}`]
        .join("\n"),
      automatic: "generated",
      askedBy: "feed",
      askedByKey: null,
    });
    return await waitForEnd(parts, email_id);
  } catch (error) {
    if (!(error instanceof Problem) || error.rule.retryable) throw error;
    return { state: "not_delivered", code: error.name, isFinal: true };
  }
}

async function waitForEnd({ store }: MailParts, emailId: string): Promise<SendResult> {
  const deadline = Date.now() + WAIT_MS;
  while (Date.now() < deadline) {
    const email = await getEmail(store.db, emailId);
    const state = STATES[email?.state as keyof typeof STATES];
    if (state) return { state, code: email!.code ?? state, isFinal: true };
    if (await isFlagSet(store.db, "pause_mail")) break; // it goes later, and others are told over other channels
    await sleep(POLL_MS, undefined, { signal: cancellationSignal() });
  }
  return { state: "unknown", code: "queued", isFinal: true };
}
