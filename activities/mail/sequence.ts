import { createHash } from "node:crypto";
import { sendMail } from "../../operations/mail/sending/mod.ts";
import { mayStillAct, receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { RunId, SequenceOrder, SequenceResult } from "../../contract/domain/mod.ts";
import type { Sequence } from "../../integrations/mail/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { addActivity, getContact } from "../../store/crm/mod.ts";
import { getPrincipal } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { requireMailRules } from "./_rules.ts";
import { hasReplied } from "../../store/mail/mod.ts";

/** A step of a contact's sequence. */
export interface SequenceStep {
  readonly order: SequenceOrder;
  readonly run: RunId;
  /** From 1. */
  readonly step: number;
  /** When the sequence began: a reply since then ends it. */
  readonly started_at: string;
}

/** Creates the activities of sequences. */
export function sequenceActivities(parts: ActivityParts) {
  const { store, config } = parts;
  const { db } = store;

  /** Tells the contact's activities that a sequence begins. Safe to repeat: it has one receipt. */
  async function beginSequence(
    { order, run }: Pick<SequenceStep, "order" | "run">,
  ): Promise<{ readonly started_at: string }> {
    return await db.transaction(async (trx) => {
      await seal(trx, { order, run }, "BEGIN", "started", {});
      const row = await trx.first<{ now: Date }>("SELECT now() AS now");
      return { started_at: row!.now.toISOString() };
    });
  }

  /** Returns how long to wait before a step; null: there is none. Safe to repeat: it only reads. */
  function planSequenceStep(
    { order, step }: Pick<SequenceStep, "order" | "step">,
  ): Promise<{ readonly wait_seconds: number | null }> {
    const planned = findStep(order, step);
    return Promise.resolve({ wait_seconds: planned?.after ?? null });
  }

  /**
   * Sends the mail of a step, unless the contact has answered or opted out. `held`: it waits for people; the step is run
   * again later. Safe to repeat: the run and the step name the mail.
   */
  async function runSequenceStep(
    { order, run, step, started_at }: SequenceStep,
  ): Promise<
    { readonly outcome: "sent" | "held" | Exclude<SequenceResult["outcome"], "completed"> }
  > {
    const planned = findStep(order, step);
    const contact = await getContact(db, order.contact_id);
    if (!planned || !contact) return { outcome: "gone" };
    if (contact.consent.email === "opt_out") return { outcome: "opted_out" };
    if (await hasReplied(db, order.contact_id, new Date(started_at))) return { outcome: "replied" };
    const fill = (text: string) => text.replaceAll("{name}", contact.name.replace(/\p{Cc}/gu, " "));
    if (!await mayStillAct(db, order.key_id)) return { outcome: "key_revoked" };
    const principal = order.key_id ? await getPrincipal(db, order.key_id) : undefined;
    try {
      const { state } = await sendMail(parts, {
        id: emailIdOf(run, step),
        kind: "mail",
        to: contact.email,
        subject: fill(planned.subject),
        body: fill(planned.body),
        askedBy: principal ?? "mail",
        askedByKey: order.key_id,
      });
      return { outcome: state === "held" || state === "not_sent" ? state : "sent" };
    } catch (error) {
      const name = error instanceof Problem ? error.name : undefined;
      if (name === "Denied") return { outcome: "opted_out" };
      if (name === "NotConfigured") return { outcome: "not_sent" };
      throw error;
    }
  }

  /** Seals the end of a sequence. Safe to repeat: it has one receipt. */
  async function endSequence(
    { order, run, outcome, steps }: Pick<SequenceStep, "order" | "run"> & {
      readonly outcome: SequenceResult["outcome"];
      readonly steps: number;
    },
  ): Promise<SequenceResult> {
    const receipt_id = await db.transaction((trx) =>
      seal(trx, { order, run }, "END", outcome, { steps })
    );
    return { contact_id: order.contact_id, outcome, steps, receipt_id };
  }

  function findStep(
    { sequence }: SequenceOrder,
    step: number,
  ): Sequence["steps"][number] | undefined {
    const found = requireMailRules(config).sequences.find((one) => one.sequence === sequence);
    return found?.steps[step - 1];
  }

  return { beginSequence, planSequenceStep, runSequenceStep, endSequence };
}

async function seal(
  trx: Parameters<typeof requestSeal>[0],
  { order, run }: Pick<SequenceStep, "order" | "run">,
  word: "BEGIN" | "END",
  outcome: string,
  details: Readonly<Record<string, number>>,
): Promise<string> {
  const { contact_id, sequence, key_id } = order;
  const id = receiptIdOf(run, word);
  const actor = key_id ? `key:${key_id}` : "mail";
  const kind = word === "BEGIN" ? "sequence.started" : "sequence.ended";
  const request = {
    id,
    category: "email_sequence",
    actor,
    subject: contact_id,
    action: kind,
    outcome,
    details: { ...details, ...run },
    evidence: { sequence },
  };
  const known = await trx.first("SELECT FROM crm_activities WHERE receipt_id = $1", [id]);
  if (known) return id;
  await addActivity(trx, { kind, contactId: contact_id, actor, summary: outcome, receiptId: id });
  await requestSeal(trx, request);
  return id;
}

function emailIdOf({ workflow_id, run_id }: RunId, step: number): string {
  const hash = createHash("sha256").update(JSON.stringify([workflow_id, run_id, step]));
  return `EML-${hash.digest("hex").slice(0, 12)}`;
}
