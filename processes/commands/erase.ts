/** `npm run erase -- contact …`: erases a person's data. */
import { escapeInvisible } from "../../contract/mod.ts";
import {
  eraseContact,
  type Erasure,
  ErasureRefused,
  findContact,
} from "../../operations/crm/records/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { UsageError } from "./_arguments.ts";
import { runCommand } from "./_command.ts";
import { OPERATOR } from "../_operator.ts";

const USAGE =
  `Usage: npm run erase -- contact <contact id or e-mail address> [--tenant <name>] [--dry-run]

Erases a contact, wherever its data rest in the database: the contact itself, texts of deals, tickets, calls, approvals,
messages and appointments that name it, evidence with its salts, and kept answers. Receipts name nobody and stay. The
address stays known as an HMAC, so that it is not mailed again. The erasure is sealed, with ids and counts.
--tenant: the tenant whose contact it is; needed where several have the address.
--dry-run: changes nothing and prints what would be erased.`;

/** Undoes the transaction of a dry run. */
class DryRun extends Error {
  constructor(readonly erasure: Erasure) {
    super("Nothing was changed");
  }
}

await runCommand(USAGE, {
  tenant: { type: "string" },
  "dry-run": { type: "boolean", default: false },
}, async (openStore, { words: [kind, named, ...more], options }) => {
  if (kind !== "contact" || named === undefined || more.length > 0) {
    throw new UsageError("Give the word contact and the id or address of one");
  }
  const store = openStore();
  const tenant = await findTenant(store, named, options.tenant as string | undefined);
  const isDryRun = options["dry-run"] === true;
  const erasure = await store.asTenant(tenant).transaction(async (trx) => {
    const erasure = await eraseContact(trx, named, OPERATOR);
    if (isDryRun) throw new DryRun(erasure);
    return erasure;
  }).catch((error) => {
    if (error instanceof DryRun) return error.erasure;
    throw error;
  });
  print(erasure, isDryRun);
});

/** Returns the tenant that has the contact. @throws {Error} none has it, or several */
async function findTenant(store: Store, named: string, given?: string): Promise<string> {
  const tenants = await listTenants(store.asPlatform());
  if (given !== undefined) {
    if (tenants.includes(given)) return given;
    throw new ErasureRefused(`There is no tenant ${given}`);
  }
  const owners: string[] = [];
  for (const tenant of tenants) {
    if (await findContact(store.asTenant(tenant), named)) owners.push(tenant);
  }
  if (owners.length === 1) return owners[0]!;
  if (owners.length > 1) {
    throw new ErasureRefused(`Several tenants have ${named}: give --tenant, one of ${owners}`);
  }
  throw new ErasureRefused(
    `No tenant has the contact ${named}; with --tenant an address is erased that is no contact's`,
  );
}

function print({ contactId, rows, recordings, receiptId }: Erasure, isDryRun: boolean): void {
  console.log(isDryRun ? "Would be erased:" : `Erased ${contactId ?? "the address"}:`);
  for (const [table, count] of Object.entries(rows)) console.log(`  ${table}  ${count}`);
  if (Object.keys(rows).length === 0) console.log("  nothing named it");
  if (recordings.length > 0) {
    console.log("These recordings name it, and are yours to delete:");
    for (const source of recordings) console.log(`  ${escapeInvisible(source)}`);
  }
  if (isDryRun) return;
  console.log(
    `Sealed as ${receiptId}. Its address is not mailed any more.\n` +
      "What still has the data: backups that were made before, and PostgreSQL's own files until it has reused their\n" +
      "space (VACUUM, WAL). Delete these backups as they expire; after a restore from one, give this command again.\n" +
      "Mailboxes of the built-in mail server are files in the data folder. What was sent out before is with its receivers.\n" +
      "Articles that named it leave the site within two minutes while a worker runs; the history of a branch in git, and\n" +
      "posts on other servers, are yours to delete.",
  );
}
