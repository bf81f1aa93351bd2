/** What is done to keys, each sealed with the change: over REST, and by the command. */
import { InvalidInput, nameProblem, Problem } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  expireKey,
  findKeyById,
  issueKey,
  type KeyRecord,
  type NewKey,
  noteCallEffects,
  type Db,
  revokeKey,
  type Store,
  } from "../store/mod.ts";

/** A key that was made; it can be read nowhere else. */
export interface IssuedKey {
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Issues a key.
 *
 * @param actor as in receipts: `key:<id>`, or `operator`
 * @param decisionId of the call that issues it; left out: it is no call
 * @throws {InvalidInput} the name of its tenant or its holder can be taken for another one
 */
export async function issueSealedKey(
  store: Store,
  actor: string,
  fields: NewKey,
  decisionId?: string,
): Promise<IssuedKey> {
  const issues = (["tenant", "principal"] as const).flatMap((field) => {
    const trouble = nameProblem(fields[field]);
    return trouble ? [{ path: [field], msg: `The name ${trouble}`, type: "value_error" }] : [];
  });
  if (issues.length > 0) throw new InvalidInput(issues);
  return await store.asPlatform().transaction(async (trx) => {
    const issued = await issueIn(trx, actor, fields);
    await noteCallEffects(trx, decisionId, { key_id: issued.record.id });
    return issued;
  });
}

/** Revokes a key for good. @throws {Problem} `NotFound` */
export async function revokeSealedKey(store: Store, actor: string, id: string): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (!await revokeKey(trx, id)) throw noSuchKey(id);
    await sealKey(trx, actor, id, "key_revoked", "keys.revoke");
  });
}

/**
 * Issues a key like another one, which ends after a while.
 *
 * @param graceSeconds until the old one ends, ≥ 0
 * @param lifeSeconds until the new one ends, > 0; as long as the old one was given, or for ever, where it is left out
 * @throws {Problem} `NotFound`
 */
export async function rotateSealedKey(
  store: Store,
  actor: string,
  id: string,
  graceSeconds: number,
  lifeSeconds?: number,
): Promise<IssuedKey & { readonly oldUntil: Date }> {
  return await store.asPlatform().transaction(async (trx) => {
    const old = await findKeyById(trx, id);
    if (!old) throw noSuchKey(id);
    const end = new Date(Date.now() + graceSeconds * 1000);
    const oldUntil = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
    const given = old.expiresAt && Number(old.expiresAt) - Number(old.createdAt);
    const life = lifeSeconds === undefined ? given : lifeSeconds * 1000;
    const expiresAt = life === null ? null : new Date(Date.now() + life);
    const issued = await issueIn(trx, actor, { ...old, expiresAt });
    await expireKey(trx, id, oldUntil);
    await sealKey(trx, actor, id, "key_rotated", "keys.rotate", { new_key: issued.record.id });
    return { ...issued, oldUntil };
  });
}

async function issueIn(trx: Db, actor: string, fields: NewKey): Promise<IssuedKey> {
  const issued = await issueKey(trx, fields);
  const { tier, scope, mayApprove, tenant, principal } = fields;
  await requestSeal(trx, {
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

async function sealKey(
  trx: Db,
  actor: string,
  id: string,
  category: string,
  action: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await requestSeal(trx, {
    ...{ category, actor, subject: `key:${id}`, action, outcome: "success", details },
  });
}

function noSuchKey(id: string): Problem {
  return new Problem("NotFound", `There is no valid key with the id ${id}`);
}
