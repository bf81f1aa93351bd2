import type { ComposedText } from "../../../contract/domain/mod.ts";
import { code, compose, escape, words } from "./_markdown.ts";
import { formatActions } from "./_postmortem_actions.ts";
import {
  formatCause,
  formatChanges,
  formatEarlier,
  formatObservations,
} from "./_postmortem_cause.ts";
import type { PostmortemFacts } from "./_postmortem_facts.ts";
import { formatNext } from "./_postmortem_next.ts";
import { formatDetection, formatImpact, formatSummary } from "./_postmortem_summary.ts";
import { formatTimeline } from "./_postmortem_timeline.ts";

export type { PostmortemFacts };

/** Formats the draft of a postmortem as Markdown: the known facts, and a section that people fill in. */
export function formatPostmortem(facts: PostmortemFacts): ComposedText {
  const { ticket } = facts;
  const sections = [
    `# ${ticket.ticket_id}: ${escape(ticket.title)}`,
    formatSummary(facts),
    `## Detection\n\n${formatDetection(facts)}`,
    `## Cause\n\n${formatCause(facts)}`,
    `## What was looked at\n\n${formatObservations(facts)}`,
    `## Impact\n\n${formatImpact(facts)}`,
    `## What had changed before\n\n${formatChanges(facts)}`,
    `## How often before\n\n${formatEarlier(facts)}`,
    `## Timeline\n\n${formatTimeline(facts)}`,
    `## What was done\n\n${formatActions(facts)}`,
    `## What to do next\n\n${formatNext(facts)}`,
    `## Receipts\n\n${formatReceipts(facts)}`,
    "## For people to fill in\n\n- Impact on users:\n- What went well:\n- What went badly:\n- What will be changed, by whom, by when:",
  ];
  return compose(sections.join("\n\n") + "\n");
}

function formatReceipts({ ticket, events, receipt, ledgerUrl }: PostmortemFacts): string {
  const receipts = events.flatMap(({ kind, data }) =>
    typeof data.receipt_id === "string" ? [{ id: data.receipt_id, kind }] : []
  );
  const last = ticket.receipt_id;
  if (last && !receipts.some(({ id }) => id === last)) {
    receipts.push({ id: last, kind: "embedded" });
  }
  if (receipts.length === 0) return "None yet.";
  return receipts.map(({ id, kind }) => {
    const hash = id === last && receipt ? `, SHA-256 ${code(receipt.hash_sha256)}` : "";
    return `- ${words(kind)}: [${id}](${ledgerUrl}/receipt/${encodeURIComponent(id)})${hash}`;
  }).join("\n");
}
