/** The settings files, and how each is read: by the processes, by `npm start` before they run, and by `npm run check-files`. */
import type { Config } from "../config.ts";
import { checkGovernanceFile, governanceFileOf } from "../calls/governance/mod.ts";
import { PLATFORM_TENANT, type SettingsFileName } from "../contract/domain/mod.ts";
import { commsFilePath, readCommsFile } from "../integrations/channels/mod.ts";
import type { FollowedFile } from "../integrations/files/mod.ts";
import { mailRulesPath, readMailRules } from "../integrations/mail/mod.ts";
import { listPeers, peersFilePath } from "../integrations/peers/mod.ts";
import { followSettingsFile, mistakesOf } from "../integrations/settings_files/mod.ts";
import { loadScripts, scriptsFolder } from "../judgement/catalogue/mod.ts";
import {
  checkServicesFile,
  detectorsFilePath,
  readDetectorsFile,
  servicesFilePath,
} from "../judgement/detection/mod.ts";
import { checkPolicyFile, policyFilePath } from "../judgement/guard/mod.ts";
import { loadCatalogue, runbooksFolder } from "../judgement/runbooks/mod.ts";
import { checkShieldFile, shieldFilePath } from "../judgement/shield/mod.ts";
import { pipelinesFilePath, readPipelines } from "../operations/crm/records/mod.ts";
import { checkModelFile, modelFilePath } from "../operations/models/use/mod.ts";
import { checkPeopleFile, peopleFilePath } from "../operations/people/mod.ts";
import type { Store } from "../store/mod.ts";
import type { SettingsMistake } from "../store/platform/mod.ts";
import type { Log } from "../runtime/web/mod.ts";

/** How a settings file is read. */
interface SettingsReader {
  /** Returns the path of the file, or of the folder of files. */
  path(config: Config): string;
  /** Reads it as the processes do, and puts nothing in force. @throws what is wrong */
  check(config: Config): unknown;
}

const READERS: Readonly<Record<SettingsFileName, SettingsReader>> = {
  services: { path: servicesFilePath, check: checkServicesFile },
  detectors: {
    path: detectorsFilePath,
    check: (config) => readDetectorsFile(detectorsFilePath(config)),
  },
  runbooks: { path: runbooksFolder, check: loadCatalogue },
  scripts: { path: scriptsFolder, check: (config) => loadScripts(scriptsFolder(config)) },
  governance: {
    path: (config) => governanceFileOf(config).path,
    check: (config) => checkGovernanceFile(governanceFileOf(config)),
  },
  policy: { path: policyFilePath, check: (config) => checkPolicyFile(policyFilePath(config)) },
  shield: { path: shieldFilePath, check: (config) => checkShieldFile(shieldFilePath(config)) },
  models: { path: modelFilePath, check: (config) => checkModelFile(modelFilePath(config)) },
  people: { path: peopleFilePath, check: checkPeopleFile },
  comms: { path: commsFilePath, check: (config) => readCommsFile(commsFilePath(config)) },
  peers: { path: peersFilePath, check: (config) => listPeers(config, PLATFORM_TENANT) },
  mail: { path: mailRulesPath, check: readMailRules },
  pipelines: { path: pipelinesFilePath, check: readPipelines },
};

/** A settings file that was checked. */
export interface CheckedFile {
  readonly name: SettingsFileName;
  readonly path: string;
  /** Empty: it would be taken. */
  readonly mistakes: readonly SettingsMistake[];
}

/** Checks all settings files of this host as the processes would. */
export function checkSettingsFiles(config: Config): CheckedFile[] {
  return Object.entries(READERS).map(([name, { path: pathOf, check }]) => {
    const path = pathOf(config);
    return {
      name: name as SettingsFileName,
      path,
      mistakes: mistakesIn(() => check(config), path),
    };
  });
}

function mistakesIn(check: () => unknown, path: string): SettingsMistake[] {
  try {
    check();
    return [];
  } catch (error) {
    return mistakesOf(error, path);
  }
}

/** Files that are read at each use, by gateway, tool server and worker. */
const READ_AT_USE = ["comms", "peers", "mail", "pipelines"] as const;

/** Follows files that nothing puts in force, so that everybody hears of their mistakes. @param names default: those read at each use */
export async function followReadFiles(
  config: Config,
  store: Store,
  log: Log,
  names: readonly SettingsFileName[] = READ_AT_USE,
): Promise<FollowedFile[]> {
  return await Promise.all(names.map((name) => {
    const { path, check } = READERS[name];
    const file = { name, path: path(config), apply: () => void check(config) };
    return followSettingsFile(file, store, log);
  }));
}
