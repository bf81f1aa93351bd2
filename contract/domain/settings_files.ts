interface SettingsFileInfo {
  /** Its name for people: "services file". */
  readonly title: string;
  /** Setting that names it. */
  readonly setting: string;
  /** Its name in the data folder, unless the setting names another. */
  readonly file: string;
  /** True: a folder of files. */
  readonly isFolder?: true;
  /** True: each place has its own; else one is in force for all. */
  readonly ofEachPlace?: true;
  /** Settings in force while nothing of it is. */
  readonly without: string;
}

/** The files in which operators set what the platform does, by their names. */
export const SETTINGS_FILES = {
  services: {
    title: "services file",
    setting: "SEALOOP_SERVICES",
    file: "sealoop.services.yaml",
    ofEachPlace: true,
    without: "the platform's own parts alone are watched",
  },
  detectors: {
    title: "detectors' file",
    setting: "SEALOOP_DETECTORS",
    file: "sealoop.detectors.yaml",
    without: "the detectors work by their defaults",
  },
  runbooks: {
    title: "folder of runbooks",
    setting: "SEALOOP_RUNBOOKS",
    file: "runbooks",
    isFolder: true,
    without: "the runbooks that ship are in force",
  },
  scripts: {
    title: "folder of scripts",
    setting: "SEALOOP_SCRIPTS",
    file: "scripts",
    isFolder: true,
    without: "the scripts that ship can be asked for",
  },
  governance: {
    title: "governance file",
    setting: "SEALOOP_GOVERNANCE",
    file: "sealoop.governance.yaml",
    without: "every call that changes something is refused",
  },
  policy: {
    title: "guardrails' policy file",
    setting: "SEALOOP_POLICY",
    file: "sealoop.policy.yaml",
    without: "the default bounds are in force, and nothing is frozen",
  },
  shield: {
    title: "shield's file",
    setting: "SEALOOP_SHIELD",
    file: "sealoop.shield.yaml",
    without: "the policies that ship are in force",
  },
  models: {
    title: "file of budgets for models",
    setting: "SEALOOP_MODELS",
    file: "sealoop.models.yaml",
    without: "the default budgets are in force",
  },
  people: {
    title: "people file",
    setting: "SEALOOP_PEOPLE",
    file: "sealoop.people.yaml",
    without: "nobody signs in by the identity provider",
  },
  comms: {
    title: "file of who is told",
    setting: "SEALOOP_COMMS",
    file: "sealoop.comms.yaml",
    without: "nobody is told over channels, and messages wait",
  },
  peers: {
    title: "file of peers",
    setting: "SEALOOP_PEERS",
    file: "sealoop.peers.yaml",
    without: "no agent of others can be asked",
  },
  mail: {
    title: "file of mail rules",
    setting: "SEALOOP_MAIL",
    file: "sealoop.mail.yaml",
    without: "the shipped sequences alone are there",
  },
  pipelines: {
    title: "file of pipelines",
    setting: "SEALOOP_PIPELINES",
    file: "sealoop.pipelines.yaml",
    without: "the shipped pipelines are in force",
  },
} as const satisfies Readonly<Record<string, SettingsFileInfo>>;

/** Name of a settings file. */
export type SettingsFileName = keyof typeof SETTINGS_FILES;

/** Returns what is said of a settings file. */
export function describeSettingsFile(name: SettingsFileName): SettingsFileInfo {
  return SETTINGS_FILES[name];
}

/** Says what holds while a file is refused. @param takenAt since when its last good content holds; null: there was none */
export function describeWhileRefused(name: SettingsFileName, takenAt: Date | null): string {
  if (takenAt === null) return `nothing of it was ever in force: ${SETTINGS_FILES[name].without}`;
  const since = takenAt.toISOString().slice(0, 19).replace("T", " ");
  return `what it said before stays in force, as since ${since}Z`;
}
