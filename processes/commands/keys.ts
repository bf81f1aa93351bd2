/** `npm run keys -- …`: lists, issues, rotates and revokes keys. */
import {
  type IssuedKey,
  issueSealedKey,
  revokeSealedKey,
  rotateSealedKey,
} from "../../calls/mod.ts";
import { signInLink } from "../_sign_in.ts";
import { type Scope, type Tier, TIERS } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { findValidKeys, type KeyListing, listKeys } from "../../store/keys/mod.ts";
import { renewLink } from "../../store/calendar/mod.ts";
import { loadRunningConfig } from "../_running.ts";
import { UsageError } from "./_arguments.ts";
import { type CommandArguments, formatTable, parseSeconds, runCommand } from "./_command.ts";
import { OPERATOR } from "../_operator.ts";
import { runLedgerKeys } from "./_ledger_keys.ts";

const USAGE = `Usage: npm run keys -- list [--all]
       npm run keys -- issue --tenant <name> [--tier free|partner|enterprise|admin] [--scope full|audit]
                             [--principal <who holds it>] [--may-approve] [--expires 90d]
       npm run keys -- rotate <key id> [--grace 24h] [--expires 90d]
       npm run keys -- revoke <key id>
       npm run keys -- link <key id> [--recover]
       npm run keys -- renew-link <key id>
       npm run keys -- ledger list
       npm run keys -- ledger rotate
       npm run keys -- ledger make-recovery-key [--to <file>]
       npm run keys -- ledger recover --recovery-key <file> [--new-recovery-key <public key>]

A new key is printed once; only its hash is stored. All but list is sealed.
list --all: with revoked and expired keys. rotate: issues a key like the old one, valid for as long as that was; the old
one expires after the grace, by default a day.
link: prints a link that signs the key's holder in to the console, once, within ten minutes. --recover: for a holder who has lost
their passkeys: revokes them, and another one can be enrolled after the link.
renew-link: gives the key another link to its calendar; the one before ends. GET /v1/calendar/events shows it.
--may-approve: for a person who decides on approvals, over REST alone; the tool server refuses such keys.
ledger: the keys that sign receipts. make-recovery-key: for a ledger that has none yet; shows the private key on the
terminal, or writes it to a new file that you alone can read. rotate: the sequencer hands over to a new key, while everything runs. recover: for a
key that is lost or stolen, with the private recovery key, while the platform is stopped. See docs/keys.md.`;

/** Acts on one key. */
const VERBS = ["link", "rotate", "revoke", "renew-link"];

await runCommand(USAGE, {
  recover: { type: "boolean", default: false },
  all: { type: "boolean" },
  tenant: { type: "string" },
  tier: { type: "string", default: "partner" },
  scope: { type: "string", default: "full" },
  principal: { type: "string" },
  "may-approve": { type: "boolean", default: false },
  expires: { type: "string" },
  grace: { type: "string", default: "24h" },
  "to": { type: "string" },
  "recovery-key": { type: "string" },
  "new-recovery-key": { type: "string" },
}, async (openStore, { words, options }) => {
  if (words[0] === "ledger") return await runLedgerKeys(openStore, words.slice(1), options);
  const [verb, id, ...more] = words;
  if (more.length > 0) throw new UsageError(`Unexpected argument: ${more.join(" ")}`);
  if (verb === "list") return await list(openStore(), options.all === true);
  if (verb === "issue") return await issue(openStore(), options);
  if (!VERBS.includes(verb!)) {
    throw new UsageError(`Give one of list, issue, ${VERBS.join(", ")}, ledger`);
  }
  if (!/^[0-9a-f]{16}$/.test(id ?? "")) {
    throw new UsageError(`${verb} needs the id of a key, 16 hex characters; list shows them`);
  }
  if (verb === "link") return await printSignInLink(openStore(), id!, options.recover === true);
  if (verb === "renew-link") return await renewCalendarLink(openStore(), id!);
  if (verb === "revoke") {
    await revokeSealedKey({ store: openStore() }, OPERATOR, id!);
    return console.log(`Revoked ${id}: every process refuses it within moments`);
  }
  const { grace, expires } = options as Record<string, string | undefined>;
  const life = expires === undefined ? undefined : parseSeconds(expires);
  const store = openStore();
  const rotated = await rotateSealedKey({ store }, OPERATOR, id!, parseSeconds(grace!), life);
  printKey(rotated);
  console.log(`The old key, ${id}, expires at ${rotated.oldUntil.toISOString()}`);
});

async function list(store: Store, all: boolean): Promise<void> {
  const now = new Date();
  const keys = (await listKeys(store.asPlatform())).filter((key) =>
    all || stateOf(key, now) === "valid"
  );
  const rows = keys.map((key) => [
    key.id,
    stateOf(key, now),
    key.tier,
    key.scope,
    key.tenant,
    key.principal,
    key.mayApprove ? "yes" : "no",
    formatTime(key.expiresAt),
    formatTime(key.lastUsedAt),
  ]);
  const head = [
    "id",
    "state",
    "tier",
    "scope",
    "tenant",
    "principal",
    "may approve",
    "expires",
    "last used",
  ];
  console.log(formatTable(head, rows));
}

function stateOf({ revokedAt, expiresAt }: KeyListing, now: Date): string {
  if (revokedAt) return "revoked";
  return expiresAt && expiresAt <= now ? "expired" : "valid";
}

function formatTime(at: Date | null): string {
  return at?.toISOString().slice(0, 16).replace("T", " ") ?? "never";
}

async function issue(store: Store, options: CommandArguments["options"]): Promise<void> {
  const { tenant, tier, scope, principal, expires } = options as Record<string, string | undefined>;
  if (!tenant) throw new UsageError("issue needs --tenant");
  if (!TIERS.includes(tier as Tier)) throw new UsageError(`--tier is one of ${TIERS.join(", ")}`);
  if (scope !== "full" && scope !== "audit") throw new UsageError("--scope is full or audit");
  const issued = await issueSealedKey(store, OPERATOR, {
    tenant,
    tier: tier as Tier,
    scope: scope as Scope,
    principal: principal ?? tenant,
    mayApprove: options["may-approve"] === true,
    expiresAt: expires ? new Date(Date.now() + parseSeconds(expires) * 1000) : null,
  });
  printKey(issued);
}

/** Prints a link by which the holder of a key signs in to the console. */
async function printSignInLink(store: Store, id: string, recovers: boolean): Promise<void> {
  const [key] = await findValidKeys(store.asPlatform(), [id]);
  if (!key) throw new Error(`There is no valid key with the id ${id}`);
  console.log(await signInLink(store, loadRunningConfig(process.env), key, { recovers }));
}

/** Gives a key another link to its calendar, and seals that. */
async function renewCalendarLink(store: Store, id: string): Promise<void> {
  const [key] = await findValidKeys(store.asPlatform(), [id]);
  if (!key) throw new Error(`There is no valid key with the id ${id}`);
  await store.asTenant(key.tenant).transaction(async (trx) => {
    await renewLink(trx, id);
    await requestSeal(trx, {
      category: "calendar_link_renewed",
      actor: OPERATOR,
      subject: `key:${id}`,
      action: "keys.renew-link",
      outcome: "success",
    });
  });
  console.log(
    `Renewed the link of ${id}: the old one is nobody's, GET /v1/calendar/events shows the new one`,
  );
}

function printKey({ key, record }: IssuedKey): void {
  const { id, expiresAt } = record;
  const end = expiresAt ? ` It expires at ${expiresAt.toISOString()}.` : "";
  console.log(`${key}\nIts id is ${id}.${end} It is shown this once.`);
}
