/** Settings in force while a file is refused: the earlier ones, those until a process is started again, or none of it. */
type Keeps = "before" | "until_restart" | "nothing";

interface SettingsFileInfo {
  /** Its name for people: "services file". */
  readonly title: string;
  readonly keeps: Keeps;
  /** Settings in force while nothing of it is. */
  readonly without: string;
}

/** The files in which operators set what the platform does, by their names. */
export const SETTINGS_FILES = {
  services: {
    title: "services file",
    keeps: "before",
    without: "the platform's own parts alone are watched",
  },
  detectors: {
    title: "detectors' file",
    keeps: "until_restart",
    without: "the detectors work by their defaults",
  },
  runbooks: {
    title: "folder of runbooks",
    keeps: "until_restart",
    without: "the runbooks that ship are in force",
  },
  scripts: {
    title: "folder of scripts",
    keeps: "before",
    without: "the scripts that ship can be asked for",
  },
  governance: {
    title: "governance file",
    keeps: "before",
    without: "every call that changes something is refused",
  },
  policy: {
    title: "guardrails' policy file",
    keeps: "before",
    without: "the default bounds are in force, and nothing is frozen",
  },
  shield: {
    title: "shield's file",
    keeps: "before",
    without: "the policies that ship are in force",
  },
  models: {
    title: "file of budgets for models",
    keeps: "before",
    without: "the default budgets are in force",
  },
  people: {
    title: "people file",
    keeps: "before",
    without: "nobody signs in by the identity provider",
  },
  comms: {
    title: "file of who is told",
    keeps: "until_restart",
    without: "nobody is told over channels, and messages wait",
  },
  peers: {
    title: "file of peers",
    keeps: "nothing",
    without: "no agent of others can be asked",
  },
  mail: {
    title: "file of mail rules",
    keeps: "nothing",
    without: "sequences and automatic replies wait",
  },
  pipelines: {
    title: "file of pipelines",
    keeps: "nothing",
    without: "deals can be neither changed nor counted",
  },
} as const satisfies Readonly<Record<string, SettingsFileInfo>>;

/** Name of a settings file. */
export type SettingsFileName = keyof typeof SETTINGS_FILES;

/** Says what holds while a file is refused. @param takenAt since when its last good content holds; null: there was none */
export function describeWhileRefused(name: SettingsFileName, takenAt: Date | null): string {
  const { keeps, without } = SETTINGS_FILES[name];
  if (keeps === "nothing") return `until it is mended, ${without}`;
  if (takenAt === null) return `nothing of it was ever in force: ${without}`;
  const since = takenAt.toISOString().slice(0, 19).replace("T", " ");
  return keeps === "before"
    ? `what it said before stays in force, as since ${since}Z`
    : `what it said since ${since}Z stays in force where processes go on; in those that start, ${without}`;
}
