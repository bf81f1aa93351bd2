/** The file of the governance policy: its content is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { BadSetting, type Config } from "../../config.ts";
import type { Operation } from "../../contract/mod.ts";
import { type FollowedFile, followFile } from "../../integrations/files/mod.ts";
import {
  type FilePolicy,
  logPolicyChange,
  putPolicyInForce,
} from "../../integrations/policy_files/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import {
  addStop,
  currentPolicy,
  FILE_STOP,
  removeStop,
  setPolicyFileStatus,
} from "../../store/calls/mod.ts";
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

/** Result of applying the file. */
export interface AppliedFile {
  /** Name of the policy in force; undefined: none was ever set. */
  readonly version: string | undefined;
  /** Name of the policy in force before. */
  readonly replaced?: string;
  /** Why the file is not followed. */
  readonly trouble?: string;
  /** Content of the file, where it is followed. */
  readonly file?: PolicyFile;
}

/** Returns the file that the settings name, or the one in the data folder. */
export function governanceFileOf({ settings, dataDir }: Config): GovernanceFile {
  const path = settings.SEALOOP_GOVERNANCE;
  return { path: path ?? join(dataDir, "sealoop.governance.yaml"), named: path !== undefined };
}

/**
 * Puts the file's content in force. A file that can't be followed changes nothing: the policy in force stays.
 *
 * @throws {BadSetting} it can't be followed, and no policy was in force before
 */
export async function applyGovernanceFile(
  file: GovernanceFile,
  store: Store,
): Promise<AppliedFile> {
  const { path } = file;
  const content = readFile(file);
  if (content && "policy" in content) {
    const { policy } = content;
    const { before, after } = await putPolicyInForce(store, POLICY, policy);
    await noteFollowed(store, path);
    return {
      version: governanceVersion(after),
      ...(before && { replaced: governanceVersion(before) }),
      file: content,
    };
  }
  const db = store.db;
  const stored = await currentPolicy(db, POLICY.table);
  const trouble = content?.trouble ??
    (stored && "it does not exist any more; an empty file takes back what it said");
  if (trouble === undefined) {
    await noteFollowed(store, path);
    return { version: undefined };
  }
  await setPolicyFileStatus(db, { path, error: trouble });
  if (stored && GOVERNANCE_POLICY.safeParse(stored.policy).success) {
    return { version: governanceVersion(stored), trouble };
  }
  throw new BadSetting(
    `Cannot follow the governance file ${path}, and no policy was in force before: ${trouble}. ` +
      "Mend it (npm run governance -- check <file> says what is wrong), or remove it to use the rules that ship",
  );
}

/** Returns the content, or why it can't be read; undefined: there is no file, and none is required. */
function readFile({ path, named }: GovernanceFile): PolicyFile | { trouble: string } | undefined {
  try {
    return readGovernanceFile(readFileSync(path, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      return named ? { trouble: "SEALOOP_GOVERNANCE names it, and it does not exist" } : undefined;
    }
    return { trouble: code ? `it can't be read (${code})` : message };
  }
}

/** Removes the stop that an unreadable file has set. */
async function noteFollowed(store: Store, path: string): Promise<void> {
  await store.db.transaction(async (trx) => {
    await setPolicyFileStatus(trx, { path, error: null });
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
 * Follows the file: applies it now and whenever it has changed. A wrong file changes nothing, and the log says what is
 * wrong with it; nor does a file that is removed.
 *
 * @param operations for warnings about names in rules that match nothing
 * @throws {BadSetting} as {@linkcode applyGovernanceFile}; then everything is stopped until a file can be followed
 */
export async function followGovernanceFile(
  file: GovernanceFile,
  { store, log, operations }: {
    readonly store: Store;
    readonly log: Logger;
    readonly operations: Iterable<Operation<never>>;
  },
): Promise<FollowedFile> {
  const { path } = file;
  let isFirst = true;
  return await followFile({
    path,
    name: "governance file",
    log,
    async apply() {
      try {
        logResult(await applyGovernanceFile(file, store));
        isFirst = false;
      } catch (error) {
        if (isFirst && error instanceof BadSetting) await stopEverything(store, error.message);
        throw error;
      }
    },
  });

  function logResult({ version, replaced, trouble: reason, file: content }: AppliedFile): void {
    if (reason) {
      log.error({ path, reason, in_force: version }, "The governance file is not followed");
    } else if (version) {
      logPolicyChange(log, "The governance policy is in force", version, replaced);
    }
    for (const reason of content ? unknownNamesIn(content, [...operations]) : []) {
      log.warn({ reason }, "A rule of the governance file matches nothing");
    }
  }
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
