/** The file of the governance policy: its content is put in force as a new version, and sealed. */
import { existsSync, readFileSync } from "node:fs";
import type { Config } from "../../config.ts";
import type { Operation } from "../../contract/mod.ts";
import { BadFile, type FollowedFile, ownFilePath } from "../../integrations/files/mod.ts";
import {
  type FilePolicy,
  logPolicyChange,
  putPolicyInForce,
} from "../../integrations/policy_files/mod.ts";
import { type Follower, followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { addStop, currentPolicy, FILE_STOP, removeStop } from "../../store/calls/mod.ts";
import { unknownNamesIn } from "./names.ts";
import { GOVERNANCE_POLICY, type GovernancePolicy, governanceVersion } from "./policy.ts";
import { type PolicyFile, readGovernanceFile } from "./policy_file.ts";

const POLICY: FilePolicy<GovernancePolicy> = {
  table: "governance_policies",
  subject: "governance-policy",
  actor: "worker",
  details: ({ rules }) => ({ rules: rules.length }),
};
/** The stop of everything while there is no policy that could be read, besides any stop of an operator. */
const UNREADABLE_STOP = { kind: "all", name: FILE_STOP } as const;

/** Place of the policy's file. */
export interface GovernanceFile {
  readonly path: string;
  /** True: a setting names it, so it has to exist. */
  readonly named: boolean;
}

/** Returns the file of this machine: the one that the settings name, or the one in the data folder. */
export function governanceFileOf(config: Config): GovernanceFile {
  const named = config.settings.SEALOOP_GOVERNANCE !== undefined;
  return { path: ownFilePath(config, "governance"), named };
}

/** Result of putting a policy in force. */
export interface AppliedPolicy {
  /** Name of the policy in force. */
  readonly version: string;
  /** Name of the policy in force before. */
  readonly replaced?: string;
  readonly file: PolicyFile;
}

/** Makes a file's text the policy. @throws {BadFile} it can't be followed: the policy in force stays */
export async function applyGovernanceText(text: string, store: Store): Promise<AppliedPolicy> {
  const file = readGovernanceFile(text);
  const { before, after } = await putPolicyInForce(store, POLICY, file.policy);
  await liftFileStop(store);
  const replaced = before && { replaced: governanceVersion(before) };
  return { version: governanceVersion(after), ...replaced, file };
}

/** Reads the file, and puts nothing in force. @returns undefined: there is none @throws {BadFile} */
export function checkGovernanceFile({ path, named }: GovernanceFile): PolicyFile | undefined {
  if (!existsSync(path)) {
    if (!named) return undefined;
    throw new BadFile([{ line: 1, text: "SEALOOP_GOVERNANCE names it, and it does not exist" }]);
  }
  return readGovernanceFile(readFileSync(path, "utf8"));
}

/** Removes the stop that an unreadable file has set. */
async function liftFileStop(store: Store): Promise<void> {
  await store.db.transaction(async (trx) => {
    if (await removeStop(trx, UNREADABLE_STOP)) await sealStop(trx, "resumed", "");
  });
}

/** Stops everything in every process, as nobody knows what the operator meant to forbid. */
async function stopEverything(store: Store, reason: string): Promise<void> {
  await store.db.transaction(async (trx) => {
    if (await addStop(trx, { ...UNREADABLE_STOP, reason })) await sealStop(trx, "stopped", reason);
  });
}

/**
 * Follows the file, as {@linkcode followSettingsFile} does, and makes what is in force the policy. Where the file of this
 * machine is for it to put, is wrong, and no policy was ever in force, everything is stopped until it can be followed.
 *
 * @param operations for warnings about names in rules that match nothing
 */
export async function followGovernanceFile(
  { config, store, log, operations }: Follower & {
    readonly operations: Iterable<Operation<never>>;
  },
): Promise<FollowedFile> {
  const { named } = governanceFileOf(config);
  const followed = {
    name: "governance",
    check: (path: string) => checkOrStop({ path, named }, store),
    async apply(path: string, exists: boolean) {
      if (exists) logResult(await applyGovernanceText(readFileSync(path, "utf8"), store));
    },
  } as const;
  return await followSettingsFile(followed, { config, store, log });

  function logResult(applied: AppliedPolicy): void {
    logPolicyChange(log, "The governance policy is in force", applied.version, applied.replaced);
    for (const reason of unknownNamesIn(applied.file, [...operations])) {
      log.warn({ reason }, "A rule of the governance file matches nothing");
    }
  }
}

/** Reads the file before it is put, and stops everything where nobody knows what it was meant to forbid. @throws {BadFile} */
async function checkOrStop(file: GovernanceFile, store: Store): Promise<void> {
  try {
    checkGovernanceFile(file);
  } catch (error) {
    if (error instanceof BadFile && !await isPolicyInForce(store)) {
      await stopEverything(store, error.message);
    }
    throw error;
  }
  await liftFileStop(store);
}

async function isPolicyInForce({ db }: Store): Promise<boolean> {
  const stored = await currentPolicy(db, POLICY.table);
  return stored !== undefined && GOVERNANCE_POLICY.safeParse(stored.policy).success;
}

async function sealStop(trx: Db, outcome: "stopped" | "resumed", reason: string): Promise<void> {
  await requestSeal(trx, {
    category: "governance_stop",
    actor: "worker",
    subject: `all:${FILE_STOP}`,
    action: outcome === "stopped" ? "governance.stop" : "governance.resume",
    outcome,
    evidence: { reason },
  });
}
