import { existsSync, readFileSync } from "node:fs";
import type { Logger } from "pino";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { type PolicyChange, type PolicyTable, setPolicy } from "../../store/calls/mod.ts";
import { SETTINGS_FILES, type SettingsFileName } from "../../contract/domain/mod.ts";
import type { FollowedFile } from "../files/mod.ts";
import { type Follower, followSettingsFile } from "../settings_files/mod.ts";

/** Details of a change that everybody may read: counts, codes and names of fields. */
type Details = Readonly<Record<string, string | number>>;

/** A policy that the operator sets by a file. */
export interface FilePolicy<Policy> {
  readonly table: PolicyTable;
  /** Name in receipts: `shield-policy`. */
  readonly subject: string;
  /** Process that puts it in force. */
  readonly actor: "worker" | "engine";
  /** Describes a change in its receipt. @param before undefined: none was in force */
  details(policy: Policy, before: Policy | undefined): Details;
  /** Returns private evidence besides the policy and its salt. */
  evidence?(policy: Policy): Readonly<Record<string, string>>;
  /**
   * Makes what follows from a change, in its transaction.
   *
   * @param before undefined: none was in force
   * @throws {BadFile} why it can't be put in force here; what was in force stays
   */
  apply?(trx: Db, policy: Policy, before: Policy | undefined): Promise<void>;
}

/** A file that is followed. */
export interface FollowedPolicy<Policy> {
  readonly name: SettingsFileName;
  readonly policy: FilePolicy<Policy>;
  /** Reads the file's text. @throws {BadFile} */
  read(text: string): Policy;
}

/** Puts a policy in force as a new version and seals that, unless it is in force already. */
export async function putPolicyInForce<Policy extends object>(
  store: Store,
  kind: FilePolicy<Policy>,
  policy: Policy,
): Promise<PolicyChange> {
  return await store.asPlatform().transaction(async (trx) => {
    const change = await setPolicy(
      trx,
      kind.table,
      { ...policy } as Record<string, unknown>,
    );
    if (change.after !== change.before) {
      await sealChange(trx, kind, change);
      await kind.apply?.(trx, policy, change.before?.policy as Policy | undefined);
    }
    return change;
  });
}

/**
 * Follows a file, as {@linkcode followSettingsFile} does, and makes what is in force the policy. Where nothing is in force, the
 * policy stays.
 */
export async function followPolicy<Policy extends object>(
  { name, policy, read }: FollowedPolicy<Policy>,
  follower: Follower,
): Promise<FollowedFile> {
  const { store, log } = follower;
  const text = `The ${SETTINGS_FILES[name].title} is in force`;
  const file = {
    name,
    check: (path: string) => checkPolicy(path, read),
    async apply(path: string, exists: boolean) {
      if (!exists) return;
      const { before, after } = await putPolicyInForce(
        store,
        policy,
        read(readFileSync(path, "utf8")),
      );
      logPolicyChange(log, text, after.version, before?.version);
    },
  };
  return await followSettingsFile(file, follower);
}

/** Reads a policy's file where there is one, and puts nothing in force. @throws {BadFile} */
export function checkPolicy(path: string, read: (text: string) => unknown): void {
  if (existsSync(path)) read(readFileSync(path, "utf8"));
}

/** Logs the version in force, and the one that it has replaced. */
export function logPolicyChange(
  log: Logger,
  text: string,
  version: number | string,
  replaced: number | string | undefined,
): void {
  if (replaced === undefined || replaced === version) log.info({ version }, text);
  else log.warn({ version, replaced }, `${text}, in place of the one before`);
}

async function sealChange<Policy>(
  trx: Db,
  { subject, actor, details, evidence }: FilePolicy<Policy>,
  { before, after }: PolicyChange,
): Promise<void> {
  const policy = after.policy as Policy;
  await requestSeal(trx, {
    category: "config_change",
    actor,
    subject,
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: subject,
      change_type: "policy",
      version: after.version,
      before_hash: before?.commitment ?? null,
      after_hash: after.commitment,
      ...details(policy, before?.policy as Policy | undefined),
    },
    evidence: {
      policy: JSON.stringify(policy),
      salt: after.salt.toString("hex"),
      ...evidence?.(policy),
    },
  });
}
