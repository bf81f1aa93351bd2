/** The file of the governance policy: what it says is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import { stampOf } from "../../integrations/files/mod.ts";
import { addStop, currentPolicy, FILE_STOP, notePolicyFile, type PolicyRecord, type Db, removeStop, setPolicy, type Store } from "../../store/mod.ts";
import { GOVERNANCE_POLICY, type GovernancePolicy, governanceVersion, type PolicyFile, readGovernanceFile } from "./mod.ts";
import { join } from "node:path";
import type { Logger } from "pino";
import { BadSetting, type Config } from "../../config.ts";
import { isDatabaseAway } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";

const LOOK_MS = 2_000;
const TABLE = "governance_policies";
/** Everything is stopped for want of a policy that could be read, whatever an operator stops besides. */
const UNREADABLE = { kind: "all", name: FILE_STOP } as const;

/** Where the policy's file is to be. */
export interface GovernanceFile {
  readonly path: string;
  /** Whether an operator has named it, and so means there to be one. */
  readonly named: boolean;
}

/** What became of the file. */
export interface Brought {
  /** Of the policy in force, as decisions name it; undefined: none was ever set. */
  readonly version: string | undefined;
  /** Why the file is not followed. */
  readonly trouble?: string;
  /** What it says, where it is followed. */
  readonly file?: PolicyFile;
}

/** The file that the settings name, or that in the data folder. */
export function governanceFileOf({ settings, dataDir }: Config): GovernanceFile {
  const path = settings.SEALOOP_GOVERNANCE;
  return { path: path ?? join(dataDir, "sealoop.governance.yaml"), named: path !== undefined };
}

/**
 * Puts what the file says in force. One that can't be followed changes nothing: what was in force stays so.
 *
 * @throws {BadSetting} it can't be followed, and nothing was ever in force that could stay so
 */
export async function bringGovernanceFile(file: GovernanceFile, store: Store): Promise<Brought> {
  const { path } = file;
  const found = read(file);
  if (found && "policy" in found) {
    const { version } = await setPolicy(store, found.policy, sealChange, TABLE);
    await followed(store, path);
    return { version: governanceVersion(version, found.policy), file: found };
  }
  const stored = await currentPolicy(store.asPlatform(), TABLE);
  const policy = GOVERNANCE_POLICY.safeParse(stored?.policy).data;
  const trouble = found?.trouble ?? (stored && GONE);
  if (trouble === undefined) {
    await followed(store, path);
    return { version: undefined };
  }
  await notePolicyFile(store.asPlatform(), { path, trouble });
  if (stored && policy) return { version: governanceVersion(stored.version, policy), trouble };
  throw new BadSetting(
    `The governance file ${path} can't be followed, and no policy was in force before: ${trouble}. ` +
      "Mend it (npm run governance -- check <file> says what is wrong), or take it away to go by the rules that ship",
  );
}

const GONE = "it is not there any more; an empty file takes back what it said";

/** What the file says, or why that can't be told; undefined: there is none, and none is wanted. */
function read({ path, named }: GovernanceFile): PolicyFile | { trouble: string } | undefined {
  try {
    return readGovernanceFile(readFileSync(path, "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      return named ? { trouble: "SEALOOP_GOVERNANCE names it, and it is not there" } : undefined;
    }
    return { trouble: code ? `it can't be read (${code})` : message };
  }
}

/** Whatever was stopped for want of a policy goes on. */
async function followed(store: Store, path: string): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    await notePolicyFile(trx, { path, trouble: null });
    if (await removeStop(trx, UNREADABLE)) await sealStop(trx, "resumed", "");
  });
}

/**
 * Stops everything, as nobody knows what the operator meant to forbid. Servers that were started by themselves go by that
 * too.
 */
async function stopEverything(store: Store, reason: string): Promise<void> {
  await store.asPlatform().transaction(async (trx) => {
    if (await addStop(trx, { ...UNREADABLE, reason })) await sealStop(trx, "stopped", reason);
  });
}

/**
 * Follows the file: reads it now and whenever it has changed. One that is wrong changes nothing, and the log says what is
 * wrong with it; one that is taken away changes nothing either.
 *
 * @param misnamed which of the file's names can never be called, for the log
 * @returns ends it
 * @throws {BadSetting} it can't be followed, and nothing was ever in force: then everything is stopped until it can
 */
export async function followGovernanceFile(
  file: GovernanceFile,
  store: Store,
  log: Logger,
  misnamed: (file: PolicyFile) => readonly string[],
): Promise<() => void> {
  const { path } = file;
  let seen = stampOf(path);
  tell(await first());
  let busy = false;
  async function look(): Promise<void> {
    const stamp = stampOf(path);
    if (busy || stamp === seen) return;
    busy = true;
    try {
      tell(await bringGovernanceFile(file, store));
      seen = stamp;
    } catch (error) {
      const reason = (error as Error).message;
      log.error({ path, reason }, "the file of the governance policy is not followed");
      if (!isDatabaseAway(error)) seen = stamp;
    } finally {
      busy = false;
    }
  }
  async function first(): Promise<Brought> {
    try {
      return await bringGovernanceFile(file, store);
    } catch (error) {
      if (error instanceof BadSetting) await stopEverything(store, error.message);
      throw error;
    }
  }
  function tell({ version, trouble: reason, file: said }: Brought): void {
    if (reason) {
      const about = { path, reason, in_force: version };
      log.error(about, "the file of the governance policy is not followed");
    } else if (version) log.info({ version }, "the governance policy is in force");
    for (const one of said ? misnamed(said) : []) {
      log.warn({ reason: one }, "a rule names what it can never fit");
    }
  }
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}

async function sealChange(
  on: Db,
  before: PolicyRecord | undefined,
  after: PolicyRecord,
): Promise<void> {
  const { rules } = after.policy as GovernancePolicy;
  await requestSeal(on, {
    category: "config_change",
    actor: "worker",
    subject: "governance-policy",
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: "governance-policy",
      change_type: "policy",
      version: after.version,
      before_hash: before?.sha256 ?? null,
      after_hash: after.sha256,
      rules: rules.length,
    },
    evidence: { policy: JSON.stringify(after.policy) },
  });
}

async function sealStop(
  on: Db,
  outcome: "stopped" | "resumed",
  reason: string,
): Promise<void> {
  await requestSeal(on, {
    ...{ category: "governance_stop", actor: "worker", subject: `all:${FILE_STOP}`, outcome },
    action: outcome === "stopped" ? "governance.stop" : "governance.resume",
    evidence: { reason },
  });
}
