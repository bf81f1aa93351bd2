/** Issuing, rotating and revoking keys, each sealed with the change. */
import { InvalidInput, nameProblem, Problem } from "../contract/mod.ts";
import { SHARED_TENANT } from "../contract/domain/mod.ts";
import { prepareRequest } from "../ledger/mod.ts";
import type { Db, Store } from "../store/mod.ts";
import {
  expireKey,
  findKeyById,
  findValidKeys,
  issueKey,
  type KeyReceipt,
  type KeyRecord,
  type NewKey,
  revokeKey,
} from "../store/keys/mod.ts";
import { TOKEN_HOLDER } from "./authenticate.ts";
import type { Platform } from "./platform.ts";

/** The parts that changes of keys need. The keyring of a process that answers calls; a command has none. */
export type KeyParts = { readonly store: Pick<Store, "db"> } & Partial<Pick<Platform, "keyring">>;

/** A new key; its text can be read nowhere else. */
export interface IssuedKey {
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Issues a key.
 *
 * @param actor as in receipts: `key:<id>`, or `operator`
 * @param options `before` is called with the key before it becomes valid
 * @throws {InvalidInput} the name of its tenant or its holder can be mistaken for another one, or its end has passed
 */
export async function issueSealedKey(
  store: Pick<Store, "db">,
  actor: string,
  fields: NewKey,
  { before }: { readonly before?: (key: string) => Promise<void> } = {},
): Promise<IssuedKey> {
  checkNewKey(fields);
  return await store.db.transaction(async (trx) => {
    const issued = await issueAndSeal(trx, actor, fields);
    await before?.(issued.key);
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
    const receipt = changeReceipt(actor, id, "key_revoked", "keys.revoke");
    if (!await revokeKey(trx, id, receipt)) throw noSuchKey(id);
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
    const details = { new_key: issued.record.id };
    const receipt = changeReceipt(actor, id, "key_replaced", "keys.rotate", details);
    if (!await expireKey(trx, id, oldUntil, receipt)) throw noSuchKey(id);
    return { ...issued, oldUntil };
  });
  keyring?.refresh();
  return rotated;
}

async function issueAndSeal(trx: Db, actor: string, fields: NewKey): Promise<IssuedKey> {
  const { tier, scope, mayApprove, tenant, principal } = fields;
  return await issueKey(trx, fields, (keyId) =>
    prepareRequest({
      category: "key_issued",
      actor,
      subject: `key:${keyId}`,
      action: "keys.generate",
      outcome: "success",
      details: { tier, scope, may_approve: mayApprove },
      evidence: { tenant, principal },
    }));
}

function changeReceipt(
  actor: string,
  id: string,
  category: "key_replaced" | "key_revoked",
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): KeyReceipt {
  const subject = `key:${id}`;
  return prepareRequest({ category, actor, subject, action, outcome: "success", details });
}

function noSuchKey(id: string): Problem {
  return new Problem("NotFound", `There is no valid key with the id ${id}`);
}

/**
 * Returns whether what a caller has asked for may still be done in its name.
 *
 * @param keyId of the caller; null: the platform asked
 * @returns false: the key was revoked or has expired
 */
export async function mayStillAct(db: Db, keyId: string | null): Promise<boolean> {
  if (keyId === null || keyId === TOKEN_HOLDER) return true;
  return (await findValidKeys(db, [keyId])).length > 0;
}
