/** The settings files, and how each is read: by the processes, by `npm start` before they run, and by `npm run check-files`. */
import type { Config } from "../config.ts";
import { isDatabaseAway } from "../contract/mod.ts";
import { checkGovernanceFile, governanceFileOf } from "../calls/governance/mod.ts";
import { PLATFORM_TENANT, SETTINGS_FILES, type SettingsFileName } from "../contract/domain/mod.ts";
import { commsFilePath, readCommsFile } from "../integrations/channels/mod.ts";
import { type FollowedFile, ownFilePath } from "../integrations/files/mod.ts";
import { readMailRules } from "../integrations/mail/mod.ts";
import { listPeers } from "../integrations/peers/mod.ts";
import {
  type Follower,
  followSettingsFile,
  mistakesOf,
  putOwnFile,
} from "../integrations/settings_files/mod.ts";
import { loadScripts, scriptsFolder } from "../judgement/catalogue/mod.ts";
import {
  checkServicesFile,
  detectorsFilePath,
  readDetectorsFile,
} from "../judgement/detection/mod.ts";
import { checkPolicyFile, policyFilePath } from "../judgement/guard/mod.ts";
import { loadCatalogue } from "../judgement/runbooks/mod.ts";
import { checkShieldFile, shieldFilePath } from "../judgement/shield/mod.ts";
import { readPipelines } from "../operations/crm/records/mod.ts";
import { checkModelFile, modelFilePath } from "../operations/models/use/mod.ts";
import { checkPeopleFile } from "../operations/people/mod.ts";
import type { Store } from "../store/mod.ts";
import type { SettingsMistake } from "../store/platform/mod.ts";

/** Reads settings files as the platform does, and puts nothing in force. */
const CHECKS: Readonly<Record<SettingsFileName, (config: Config) => unknown>> = {
  services: checkServicesFile,
  detectors: (config) => readDetectorsFile(detectorsFilePath(config)),
  runbooks: loadCatalogue,
  scripts: (config) => loadScripts(scriptsFolder(config)),
  governance: (config) => checkGovernanceFile(governanceFileOf(config)),
  policy: (config) => checkPolicyFile(policyFilePath(config)),
  shield: (config) => checkShieldFile(shieldFilePath(config)),
  models: (config) => checkModelFile(modelFilePath(config)),
  people: checkPeopleFile,
  comms: (config) => readCommsFile(commsFilePath(config)),
  peers: (config) => listPeers(config, PLATFORM_TENANT),
  mail: readMailRules,
  pipelines: readPipelines,
};

/** A settings file that was checked. */
export interface CheckedFile {
  readonly name: SettingsFileName;
  readonly path: string;
  /** Empty: it would be taken. */
  readonly mistakes: readonly SettingsMistake[];
}

/** Checks all settings files of this machine as the processes would. */
export function checkSettingsFiles(config: Config): CheckedFile[] {
  return (Object.keys(SETTINGS_FILES) as SettingsFileName[])
    .map((name) => checkSettingsFile(config, name));
}

/** Checks a settings file of this machine, or the one that the settings name. */
export function checkSettingsFile(config: Config, name: SettingsFileName): CheckedFile {
  const path = ownFilePath(config, name);
  try {
    checkOwn(config, name);
    return { name, path, mistakes: [] };
  } catch (error) {
    return { name, path, mistakes: mistakesOf(error, path) };
  }
}

/** @throws {BadFile} what is wrong */
function checkOwn(config: Config, name: SettingsFileName): void {
  const { readsCopies: _, ...own } = config;
  CHECKS[name](own);
}

/** Files that are read at each use. */
const READ_AT_USE = ["detectors", "comms", "peers", "mail", "pipelines"] as const;

/**
 * Puts these files of this machine in force, where they are for this place to put, before a process reads them.
 *
 * @returns the files that were refused
 */
export async function putOwnFiles(
  config: Config,
  store: Store,
  names: readonly SettingsFileName[],
): Promise<SettingsFileName[]> {
  const refused: SettingsFileName[] = [];
  for (const name of names) {
    try {
      await putOwnFile({ name, check: () => checkOwn(config, name) }, config, store);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      refused.push(name);
    }
  }
  return refused;
}

/** Follows the files that are read at each use. @param puts true: this process puts those of its machine, too */
export async function followReadFiles(
  follower: Follower,
  { puts }: { readonly puts: boolean },
): Promise<FollowedFile[]> {
  return await Promise.all(READ_AT_USE.map((name) => {
    const check = puts ? { check: () => checkOwn(follower.config, name) } : {};
    // What a newer program has put may be wrong for this one, which is told at once and not at the next use.
    const apply = () => void CHECKS[name](follower.config);
    return followSettingsFile({ name, ...check, apply }, follower);
  }));
}
