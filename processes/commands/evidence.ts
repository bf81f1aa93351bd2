/** `npm run evidence -- …`: shows the private evidence behind a receipt, with what proves it. */
import { escapeInvisible } from "../../contract/mod.ts";
import { type EvidenceEntry, readEvidence } from "../../ledger/mod.ts";
import { UsageError } from "./_arguments.ts";
import { runCommand } from "./_command.ts";

const USAGE = `Usage: npm run evidence -- <receipt id or prefix>

Shows each entry of the private evidence behind a receipt: SHA-256 over its salt (32 bytes) and its content is the
commitment in the receipt. Give content and salt of an entry to whoever shall check it; those of the others stay private.
Entries are deleted after SEALOOP_EVIDENCE_DAYS, or SEALOOP_EVIDENCE_ANONYMOUS_DAYS; the receipt verifies as before.
Ends with 1 if an entry is not what was sealed.`;

const EXPLANATIONS: Readonly<Record<EvidenceEntry["state"], string>> = {
  proven: "is what was sealed",
  gone: "is gone: it was deleted, and the receipt is as valid as before",
  altered: "is NOT what was sealed",
};

await runCommand(USAGE, {}, async (openStore, { words }) => {
  const [receiptId, ...rest] = words;
  if (receiptId === undefined || rest.length > 0) throw new UsageError("Give one receipt id");
  const { id, entries } = await readEvidence(openStore(), receiptId);
  if (entries.length === 0) console.log(`Receipt ${id} commits to no evidence`);
  for (const entry of entries) console.log(formatEntry(entry));
  const altered = entries.filter(({ state }) => state === "altered").map(({ name }) => name);
  if (altered.length === 0) return;
  throw new Error(
    `The evidence of ${id} is not what was sealed: ${
      altered.join(", ")
    } does not fit its commitment`,
  );
});

function formatEntry({ name, commitment, state, salt, content }: EvidenceEntry): string {
  const lines = [`${name} ${EXPLANATIONS[state]}`, `  commitment  ${commitment}`];
  // In a file or a pipe it stays as it was sealed.
  const shown = process.stdout.isTTY ? escapeInvisible(content) : content;
  if (salt !== undefined) lines.push(`  salt        ${salt}`, `  content     ${shown}`);
  return lines.join("\n");
}
