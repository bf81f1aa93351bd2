/** `npm run keys -- …`: lists, issues, rotates and revokes keys. */
import { type Scope, type Tier, TIERS } from "../../contract/mod.ts";
import { type KeyListing, listKeys, type Store } from "../../store/mod.ts";
import { OPERATOR, runCommand, seconds, table, type Words } from "./_command.ts";
import { Misused } from "./_typed.ts";
import {
  type IssuedKey,
  issueSealedKey,
  revokeSealedKey,
  rotateSealedKey,
} from "../../calls/mod.ts";

const USAGE = `Usage: npm run keys -- list [--all]
       npm run keys -- issue --tenant <name> [--tier free|partner|enterprise|admin] [--scope full|audit]
                             [--principal <who holds it>] [--may-approve] [--expires 90d]
       npm run keys -- rotate <key id> [--grace 24h] [--expires 90d]
       npm run keys -- revoke <key id>

A new key is printed once, and nowhere else to be read: only its hash is kept. Everything but listing is sealed.
list --all: revoked and expired ones too. rotate: issues one like it, which ends after as long as the old one was given;
the old one ends after the grace, a day by default.
--may-approve: for a person who approves, over REST alone; the tool server refuses such keys.`;

await runCommand("keys", USAGE, {
  all: { type: "boolean" },
  tenant: { type: "string" },
  tier: { type: "string", default: "partner" },
  scope: { type: "string", default: "full" },
  principal: { type: "string" },
  "may-approve": { type: "boolean", default: false },
  expires: { type: "string" },
  grace: { type: "string", default: "24h" },
}, async (open, { words, options }) => {
  const [verb, id, ...more] = words;
  if (more.length > 0) throw new Misused(`${more.join(" ")} is too much`);
  if (verb === "list") return await list(open(), options.all === true);
  if (verb === "issue") return await issue(open, options);
  if (verb !== "rotate" && verb !== "revoke") {
    throw new Misused("There is list, issue, rotate, revoke");
  }
  if (!/^[0-9a-f]{16}$/.test(id ?? "")) {
    throw new Misused(`${verb} takes the id of a key, 16 hex characters; list shows them`);
  }
  if (verb === "revoke") {
    await revokeSealedKey(open(), OPERATOR, id!);
    return console.log(`Revoked ${id}: no process takes it any more`);
  }
  const { grace, expires } = options as Record<string, string | undefined>;
  const life = expires === undefined ? undefined : seconds(expires);
  const rotated = await rotateSealedKey(open(), OPERATOR, id!, seconds(grace!), life);
  show(rotated);
  console.log(`The old one, ${id}, ends at ${rotated.oldUntil.toISOString()}`);
});

async function list(store: Store, all: boolean): Promise<void> {
  const now = new Date();
  const keys = (await listKeys(store.asPlatform())).filter((key) =>
    all || stateOf(key, now) === "valid"
  );
  const rows = keys.map((key) => [
    ...[key.id, stateOf(key, now), key.tier, key.scope, key.tenant, key.principal],
    key.mayApprove ? "yes" : "no",
    ...[day(key.expiresAt, "never"), day(key.lastUsedAt, "never")],
  ]);
  const head = [
    "id",
    "state",
    "tier",
    "scope",
    "tenant",
    "principal",
    "may approve",
    "ends",
    "last used",
  ];
  console.log(table(head, rows));
}

function stateOf({ revokedAt, expiresAt }: KeyListing, now: Date): string {
  if (revokedAt) return "revoked";
  return expiresAt && expiresAt <= now ? "expired" : "valid";
}

function day(at: Date | null, none: string): string {
  return at?.toISOString().slice(0, 16).replace("T", " ") ?? none;
}

async function issue(open: () => Store, options: Words["options"]): Promise<void> {
  const { tenant, tier, scope, principal, expires } = options as Record<string, string | undefined>;
  if (!tenant) throw new Misused("issue needs --tenant");
  if (!TIERS.includes(tier as Tier)) throw new Misused(`--tier is one of ${TIERS.join(", ")}`);
  if (scope !== "full" && scope !== "audit") throw new Misused("--scope is full or audit");
  show(
    await issueSealedKey(open(), OPERATOR, {
      ...{ tenant, tier: tier as Tier, scope: scope as Scope, principal: principal ?? tenant },
      mayApprove: options["may-approve"] === true,
      expiresAt: expires ? new Date(Date.now() + seconds(expires) * 1000) : null,
    }),
  );
}

function show({ key, record }: IssuedKey): void {
  const { id, expiresAt } = record;
  const end = expiresAt ? ` It ends at ${expiresAt.toISOString()}.` : "";
  console.log(`${key}\nIts id is ${id}.${end} It is shown here once.`);
}
