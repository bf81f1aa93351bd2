/** The keys of people who sign in by the identity provider: each is what the people file in force gives its person. */
import { createHash } from "node:crypto";
import { issueSealedKey } from "../../calls/mod.ts";
import { isSamePrincipal, nameProblem } from "../../contract/mod.ts";
import { prepareRequest } from "../../ledger/mod.ts";
import { listKeys } from "../../store/keys/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  changePersonKey,
  getPersonKey,
  listPeople,
  noteIdentity,
  type PersonKey,
  type PersonRecord,
  type ProviderIdentity,
  putPerson,
} from "../../store/people/mod.ts";
import { type Grant, grantOf, type PeopleFile } from "./people_file.ts";

/** Somebody whom the provider has signed in. */
export interface Newcomer extends ProviderIdentity {
  /** As the provider names them, the best name first. */
  readonly names: readonly string[];
}

/** A key that is good for nothing. */
const NOTHING: PersonKey = { tier: "partner", scope: "audit", mayApprove: false, valid: false };
const MAX_NAME = 100;

/** Makes the key of each person what a file gives them. @param trx puts the file in force */
export async function applyToPeople(trx: Db, file: PeopleFile): Promise<void> {
  for (const person of await listPeople(trx)) await setKey(trx, "worker", person, file);
}

/**
 * Makes the keys of a person what the file gives them now, and issues one at their first sign-in in a tenant. They keep it,
 * so that their passkeys and what they did stay theirs.
 *
 * @param trx in which the file stays in force
 * @returns the id of their key, which may be revoked; undefined: the file gives them nothing
 */
export async function admitPerson(
  trx: Db,
  file: PeopleFile,
  newcomer: Newcomer,
): Promise<string | undefined> {
  const known = await noteIdentity(trx, newcomer);
  for (const person of known) await setKey(trx, "gateway", person, file);
  const grant = grantOf(file, newcomer);
  if (!grant) return undefined;
  const own = known.find(({ tenant }) => tenant === grant.tenant);
  if (own) return own.keyId;
  const { record } = await issueSealedKey({ db: trx }, "gateway", {
    ...NOTHING,
    tenant: grant.tenant,
    principal: await principalOf(trx, grant, newcomer),
    expiresAt: null,
  });
  const person = { ...newcomer, tenant: grant.tenant, keyId: record.id };
  await putPerson(trx, person);
  await setKey(trx, "gateway", person, file);
  return record.id;
}

/** Makes a key what the file gives its person, and seals that, unless it is so already or was revoked. */
async function setKey(
  trx: Db,
  actor: "gateway" | "worker",
  person: PersonRecord,
  file: PeopleFile,
): Promise<void> {
  const grant = grantOf(file, person);
  const wanted = grant?.tenant === person.tenant ? keyOf(grant) : NOTHING;
  const current = await getPersonKey(trx, person.keyId);
  if (!current || isSameKey(current, wanted)) return;
  const { tier, scope, mayApprove, valid } = wanted;
  const receipt = prepareRequest({
    category: "key_changed",
    actor,
    subject: `key:${person.keyId}`,
    action: "people.change",
    outcome: "success",
    details: { tier, scope, may_approve: mayApprove, valid },
  });
  await changePersonKey(trx, person.keyId, wanted, receipt);
}

/** Returns the key that stands for some rights. Nobody has its text: it is used by sessions alone. */
function keyOf({ rights }: Grant): PersonKey {
  return {
    tier: rights.includes("operate") ? "admin" : "partner",
    scope: rights.some((right) => right !== "read") ? "full" : "audit",
    mayApprove: rights.includes("approve"),
    valid: true,
  };
}

function isSameKey(a: PersonKey, b: PersonKey): boolean {
  if (!a.valid && !b.valid) return true;
  return a.tier === b.tier && a.scope === b.scope && a.mayApprove === b.mayApprove &&
    a.valid === b.valid;
}

/**
 * Returns the name by which a person acts. Where another holder of a key has or had it, or it can be mistaken, digits that
 * are theirs alone follow: people change their names at providers, and nobody becomes somebody else by that.
 */
async function principalOf(
  trx: Db,
  { principal }: Grant,
  { issuer, subject, names }: Newcomer,
): Promise<string> {
  if (principal !== undefined) return principal;
  const name = names.map((one) => one.normalize("NFC").trim())
    .find((one) => one !== "" && one.length <= MAX_NAME && nameProblem(one) === undefined);
  const taken = await listKeys(trx);
  if (name !== undefined && !taken.some((key) => isSamePrincipal(key.principal, name))) return name;
  const digits = createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 16);
  return `${name ?? "Person"} (${digits})`;
}
