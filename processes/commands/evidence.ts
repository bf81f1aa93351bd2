/** `npm run evidence -- …`: shows the private evidence behind receipts, with what proves it, or saves it for an auditor. */
import { writeFileSync } from "node:fs";
import { escapeInvisible } from "../../contract/mod.ts";
import {
  bundleEvidence,
  type EvidenceEntry,
  formatBundle,
  readOpenable,
} from "../../ledger/mod.ts";
import { UsageError } from "./_arguments.ts";
import { runCommand } from "./_command.ts";

const USAGE =
  `Usage: npm run evidence -- <receipt id or prefix, or id of an approval or a grant> [--save <new file>] [--only <name>,<name>]

Shows each entry of the private evidence behind a receipt: SHA-256 over its salt (32 bytes) and its content is the
commitment in the receipt. Give content and salt of an entry to whoever shall check it; those of the others stay private.
Of an approval it is all its receipts, of a standing grant those of its uses too, and those by which the passkeys that signed
were enrolled.
--save: writes a file that anybody can verify without the platform, by npm run verify -- --evidence, verify_ledger.py
--evidence, or the ledger's page: the receipts, their place in the Merkle log, and the entries. Whoever has it can read them.
--only: opens these entries, and keeps the others private.
Entries are deleted after SEALOOP_EVIDENCE_DAYS, or SEALOOP_EVIDENCE_ANONYMOUS_DAYS; the receipt verifies as before.
Ends with 1 if an entry is not what was sealed.`;

const EXPLANATIONS: Readonly<Record<EvidenceEntry["state"], string>> = {
  proven: "is what was sealed",
  gone: "is gone: it was deleted, and the receipt is as valid as before",
  altered: "is NOT what was sealed",
};

await runCommand(USAGE, {
  save: { type: "string" },
  only: { type: "string" },
}, async (openStore, { words, options }) => {
  const [what, ...rest] = words;
  if (what === undefined || rest.length > 0) {
    throw new UsageError("Give one id of a receipt, an approval or a grant");
  }
  const names = typeof options.only === "string" ? new Set(options.only.split(",")) : undefined;
  const store = openStore();
  const found = await readOpenable(store, what);
  const receipts = found.map(({ receipt, entries }) => ({
    receipt,
    entries: entries.filter(({ name }) => !names || names.has(name)),
  }));
  for (const { receipt: { id, category }, entries } of receipts) {
    if (receipts.length > 1) console.log(`receipt ${id}, ${category}`);
    if (entries.length === 0) {
      console.log(`Receipt ${id} commits to no evidence${names ? " of these names" : ""}`);
    }
    for (const entry of entries) console.log(formatEntry(entry));
  }
  const altered = receipts.flatMap(({ receipt: { id }, entries }) =>
    entries.filter(({ state }) => state === "altered").map(({ name }) => `${name} of ${id}`)
  );
  if (altered.length > 0) {
    throw new Error(
      `The evidence is not what was sealed: ${altered.join(", ")} does not fit its commitment`,
    );
  }
  if (typeof options.save === "string") {
    const bundle = await bundleEvidence(store, receipts);
    writeFileSync(options.save, formatBundle(bundle), { mode: 0o600, flag: "wx" });
    console.error(
      describeSaved(options.save, bundle.receipts.filter(({ hashes }) => !hashes).length),
    );
  }
});

function describeSaved(file: string, waiting: number): string {
  const missing = waiting === 0
    ? ""
    : ` ${waiting} of its receipts are in no checkpoint yet, which takes a second; save it again then.`;
  return `Opened in ${file}: npm run verify -- --evidence ${file} verifies it.${missing}`;
}

function formatEntry({ name, commitment, state, salt, content }: EvidenceEntry): string {
  const lines = [`${name} ${EXPLANATIONS[state]}`, `  commitment  ${commitment}`];
  // In a file or a pipe it stays as it was sealed.
  const shown = process.stdout.isTTY ? escapeInvisible(content) : content;
  if (salt !== undefined) lines.push(`  salt        ${salt}`, `  content     ${shown}`);
  return lines.join("\n");
}
