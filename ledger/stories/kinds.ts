/**
 * Categories of receipts by what they are about. Calls of agents and people, and the platform's own book-keeping, are in
 * none of them: most of those only read.
 */
export const KINDS = {
  repairs: [
    "ticket_opened",
    "ticket_acknowledged",
    "ticket_taken",
    "ticket_handed_back",
    "ticket_closed",
    "guardrail_verdict",
    "repair_intended",
    "repair_held",
    "undo_intended",
    "undo_held",
    "silence_intended",
    "silence_ended",
    "self_heal",
    "escalation",
    "service_brought_back",
    "service_published",
    "platform_fix",
  ],
  approvals: ["approval", "governed_act", "governance_stop"],
  commands: [
    "device_command",
    "device_enrolled",
    "device_replaced",
    "device_quarantined",
    "device_released",
    "data_egress",
  ],
  publications: [
    "article_intended",
    "article_published",
    "article_ended",
    "media_published",
    "pipeline_item",
    "outside_act",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A kind of receipts. */
export type ReceiptKind = keyof typeof KINDS;
