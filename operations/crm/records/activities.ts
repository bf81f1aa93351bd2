import { randomHex, requestSeal } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import type { Activity } from "../../../contract/records/mod.ts";
import { addActivity } from "../../../store/crm/mod.ts";

/** A change of a contact or a deal. */
export interface CrmChange {
  readonly kind: Activity["kind"];
  readonly contactId?: string | null;
  readonly dealId?: string | null;
  /** `key:<id>`, `operator`, or the part of the platform that made it. */
  readonly actor: string;
  /** Name of the operation or workflow. */
  readonly action: string;
  /**
   * Public subject in place of the contact, which becomes evidence: of what somebody without a key causes, who would learn
   * by the receipt whose contact it is.
   */
  readonly subject?: string | undefined;
  /** Names of fields and stages, ids; never what people are called or have written. */
  readonly summary: string;
  /** Public, like those of all receipts: ids, codes, counts. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Private; it is erased with the contact. */
  readonly evidence?: Readonly<Record<string, unknown>>;
}

const CATEGORIES: Readonly<Record<string, string>> = {
  contact: "contact_changed",
  deal: "deal_changed",
};

/**
 * Adds a change to the activities and requests its receipt, in the transaction of the change.
 *
 * @returns id of the receipt
 */
export async function recordChange(trx: Db, change: CrmChange): Promise<string> {
  const { kind, contactId, dealId, actor, action, summary, details = {} } = change;
  const evidence = change.subject === undefined
    ? change.evidence
    : { ...change.evidence, contact_id: contactId };
  const receiptId = randomHex(16);
  await addActivity(trx, { kind, contactId, dealId, actor, summary, receiptId });
  const [about] = kind.split(".") as [string];
  const isConsent = kind === "contact.consent" || kind === "contact.opted_out";
  await requestSeal(trx, {
    id: receiptId,
    category: isConsent ? "consent_changed" : CATEGORIES[about]!,
    actor,
    subject: change.subject ?? (about === "deal" ? dealId : contactId)!,
    action,
    outcome: kind.split(".")[1]!,
    details: {
      ...(about === "deal" && contactId ? { contact_id: contactId } : {}),
      ...details,
    },
    ...(evidence ? { evidence } : {}),
  });
  return receiptId;
}
