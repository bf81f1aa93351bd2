/** Issuing, rotating and revoking keys, each sealed with the change. */
import { InvalidInput, nameProblem, Problem } from "../contract/mod.ts";
import { SHARED_TENANT } from "../domain/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  type Db,
  expireKey,
  findKeyById,
  inTenant,
  issueKey,
  type KeyRecord,
  type NewKey,
  noteCallEffects,
  revokeKey,
  type Store,
} from "../store/mod.ts";
import type { Platform } from "./platform.ts";

/** The parts that changes of keys need. The keyring of a process that answers calls; a command has none. */
export type KeyParts = Pick<Platform, "store"> & Partial<Pick<Platform, "keyring">>;

/** A new key; its text can be read nowhere else. */
export interface IssuedKey {
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Issues a key.
 *
 * @param actor as in receipts: `key:<id>`, or `operator`
 * @param decisionId of the call that issues it; absent: a command does
 * @throws {InvalidInput} the name of its tenant or its holder can be mistaken for another one, or its end has passed
 */
export async function issueSealedKey(
  store: Store,
  actor: string,
  fields: NewKey,
  decisionId?: string,
): Promise<IssuedKey> {
  checkNewKey(fields);
  return await store.db.transaction(async (trx) => {
    const issued = await issueAndSeal(trx, actor, fields);
    await noteCallEffects(trx, decisionId, { key_id: issued.record.id });
    return issued;
  });
}

/** Refuses a key that can't be issued. @throws {InvalidInput} its end has passed, or as {@linkcode issueSealedKey} */
export function checkNewKey(
  { tenant, principal, expiresAt }: Pick<NewKey, "tenant" | "principal" | "expiresAt">,
): void {
  const issues = Object.entries({ tenant, principal }).flatMap(([field, name]) => {
    const trouble = nameProblem(name);
    return trouble ? [{ path: [field], msg: `The name ${trouble}`, type: "value_error" }] : [];
  });
  if (tenant === SHARED_TENANT) {
    const msg = `${SHARED_TENANT} is no organization: it owns what all tenants may read`;
    issues.push({ path: ["tenant"], msg, type: "value_error" });
  }
  if (expiresAt && expiresAt <= new Date()) {
    const msg = `${expiresAt.toISOString()} is in the past`;
    issues.push({ path: ["expires_at"], msg, type: "value_error" });
  }
  if (issues.length > 0) throw new InvalidInput(issues);
}

/**
 * Revokes a key for good. This process refuses it from the return on, others as soon as they are notified.
 *
 * @throws {Problem} `NotFound`
 */
export async function revokeSealedKey(
  { store, keyring }: KeyParts,
  actor: string,
  id: string,
): Promise<void> {
  await store.db.transaction(async (trx) => {
    const key = await findKeyById(trx, id);
    if (!key) throw noSuchKey(id);
    await inTenant(trx, key.tenant, async (owner) => {
      if (!await revokeKey(owner, id)) throw noSuchKey(id); // somebody else has just revoked it
      await sealChange(owner, actor, id, "key_revoked", "keys.revoke");
    });
  });
  keyring?.refresh();
}

/**
 * Issues a key like another one, which then expires. Where it does so at once, this process refuses it from the return on.
 *
 * @param graceSeconds until the old key expires, ≥ 0
 * @param lifeSeconds until the new key expires, > 0; default: as long as the old one was given, or never
 * @throws {Problem} `NotFound`
 */
export async function rotateSealedKey(
  { store, keyring }: KeyParts,
  actor: string,
  id: string,
  graceSeconds: number,
  lifeSeconds?: number,
): Promise<IssuedKey & { readonly oldUntil: Date }> {
  const rotated = await store.db.transaction(async (trx) => {
    const old = await findKeyById(trx, id);
    if (!old) throw noSuchKey(id);
    const graceEnd = new Date(Date.now() + graceSeconds * 1000);
    const oldUntil = old.expiresAt && old.expiresAt < graceEnd ? old.expiresAt : graceEnd;
    const oldLifeMs = old.expiresAt && Number(old.expiresAt) - Number(old.createdAt);
    const lifeMs = lifeSeconds === undefined ? oldLifeMs : lifeSeconds * 1000;
    const expiresAt = lifeMs === null ? null : new Date(Date.now() + lifeMs);
    const issued = await issueAndSeal(trx, actor, { ...old, expiresAt });
    await inTenant(trx, old.tenant, async (owner) => {
      await expireKey(owner, id, oldUntil);
      const details = { new_key: issued.record.id };
      await sealChange(owner, actor, id, "key_rotated", "keys.rotate", details);
    });
    return { ...issued, oldUntil };
  });
  keyring?.refresh();
  return rotated;
}

async function issueAndSeal(trx: Db, actor: string, fields: NewKey): Promise<IssuedKey> {
  const { tier, scope, mayApprove, tenant, principal } = fields;
  const issued = await inTenant(trx, tenant, (owner) => issueKey(owner, fields));
  await requestSeal(trx, {
    tenant,
    category: "key_issued",
    actor,
    subject: `key:${issued.record.id}`,
    action: "keys.generate",
    outcome: "success",
    details: { tier, scope, may_approve: mayApprove },
    evidence: { tenant, principal },
  });
  return issued;
}

async function sealChange(
  trx: Db,
  actor: string,
  id: string,
  category: string,
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const subject = `key:${id}`;
  await requestSeal(trx, { category, actor, subject, action, outcome: "success", details });
}

function noSuchKey(id: string): Problem {
  return new Problem("NotFound", `There is no valid key with the id ${id}`);
}
