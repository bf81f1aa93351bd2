import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseDocument } from "yaml";
import { type Observation, say } from "../../contract/domain/mod.ts";
import { listReceipts } from "../../ledger/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { getRepairHistory, listTickets } from "../../store/incidents/mod.ts";
import { isSettings, readSettings, SKIPPED } from "./_folders.ts";
import type { Observer, ObserverContext, Subject } from "./observer.ts";
import { findStart, startOf } from "./_service_process.ts";

/** Changes that are older are not the cause of a fault that has just begun. */
const MAX_AGE_MS = 24 * 3_600_000;
const MAX_FILES = 5_000;
const MAX_LISTED = 15;
/** A file of settings that was changed so much later than the programs was changed on purpose. */
const APART_MS = 2_000;
/** A change that is older than this is not the newest thing that happened. */
const LATELY_MS = 3_600_000;

/** Looks what has changed lately. */
export const changes: Observer = {
  name: "changes",
  about:
    "Looks what has changed within a day: files of the service, restarts and repairs, other incidents, sealed deploys and settings",
  isNear: true,
  applies: ({ service }) => service !== undefined,
  async observe(subject, context): Promise<Observation[]> {
    const { service, isLocal } = subject;
    if (!service) return [];
    const since = new Date(Date.now() - MAX_AGE_MS);
    const [files, acts, sealed] = await Promise.all([
      isLocal ? findFiles(service, subject, since, context) : [],
      findActs(service.name, since, context),
      findSealed(service.name, since, context),
    ]);
    return [...files, ...acts, ...sealed];
  },
};

interface ChangedFile {
  readonly path: string;
  readonly at: Date;
}

async function findFiles(
  service: Service,
  subject: Subject,
  since: Date,
  context: ObserverContext,
): Promise<Observation[]> {
  const { cwd, command, env } = startOf(service);
  const named = [...command, ...Object.values(env)].map((text) => text.replace(/^--?[\w-]+=/, ""))
    .filter((text) => text.startsWith("/"));
  const found = await listChanged([...(cwd ? [cwd] : []), ...named], since, context.deadline);
  // A file that the command names is often in the folder, too.
  const changed = [...new Map(found.map((file) => [file.path, file])).values()]
    .sort((a, b) => b.at.getTime() - a.at.getTime());
  const [newest] = changed;
  if (!newest) return [];
  const settings = changed.filter(({ path }) => isSettings(basename(path)));
  const [setting] = settings;
  const program = changed.find(({ path }) => !isSettings(basename(path)) && isProgram(path));
  const invalid = await findInvalid(settings);
  return [{
    code: "files",
    says:
      say`${changed.length} files of the service were changed within a day, last ${newest.path} at ${newest.at.toISOString()}${
        invalid === undefined ? "" : say`; ${basename(invalid)} can't be parsed`
      }.`,
    text: changed.slice(0, MAX_LISTED).map(({ path, at }) => `${at.toISOString()} ${path}`).join(
      "\n",
    ),
    figures: {
      files: changed.length,
      settings: settings.length,
      newest_age_s: ageOf(newest),
      settings_invalid: invalid !== undefined,
      ...(setting
        ? {
          newest_setting: basename(setting.path),
          newest_setting_age_s: ageOf(setting),
          setting_deployed: isApart(setting, program) && await isInForce(setting, subject, context),
        }
        : {}),
    },
  }];
}

const isProgram = (path: string) =>
  /\.(?:py|m?js|cjs|ts|rb|php|pl|sh|jar|class|java|go|so)$/.test(path);

/** Returns whether settings were changed lately, and by themselves: not together with the programs. */
function isApart(setting: ChangedFile, program: ChangedFile | undefined): boolean {
  const isLate = Date.now() - setting.at.getTime() < LATELY_MS;
  return isLate &&
    (program === undefined || setting.at.getTime() - program.at.getTime() > APART_MS);
}

/**
 * Returns whether the process of a service was started after a change of its settings: settings that nothing has read yet
 * are not to blame. A program's state changes later.
 */
async function isInForce(
  { at }: ChangedFile,
  subject: Subject,
  context: ObserverContext,
): Promise<boolean> {
  const started = await findStart(subject, context);
  return started !== undefined && started.getTime() >= at.getTime() - 1_000;
}

/** Finds a file of settings that breaks the rules of its own format. */
async function findInvalid(settings: readonly ChangedFile[]): Promise<string | undefined> {
  for (const { path } of settings.slice(0, MAX_LISTED)) {
    const text = await readSettings(path);
    if (text !== undefined && !isValid(path, text)) return path;
  }
  return undefined;
}

function isValid(path: string, text: string): boolean {
  try {
    if (/\.json$/i.test(path)) JSON.parse(text);
    if (/\.ya?ml$/i.test(path)) {
      return parseDocument(text, { logLevel: "silent" }).errors.length === 0;
    }
    return true;
  } catch {
    return false;
  }
}

const ageOf = ({ at }: ChangedFile) => Math.round((Date.now() - at.getTime()) / 1_000);

async function listChanged(
  roots: readonly string[],
  since: Date,
  deadline: AbortSignal,
): Promise<ChangedFile[]> {
  const found: ChangedFile[] = [];
  const paths = [...roots];
  let seen = 0;
  for (let path = paths.pop(); path && seen < MAX_FILES && !deadline.aborted; path = paths.pop()) {
    seen++;
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() && info.mtime > since) found.push({ path, at: info.mtime });
    if (!info?.isDirectory()) continue;
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isSymbolicLink() && !SKIPPED.test(entry.name) && !entry.name.endsWith(".log")) {
        paths.push(join(path, entry.name));
      }
    }
  }
  return found;
}

async function findActs(
  service: string,
  since: Date,
  { store }: ObserverContext,
): Promise<Observation[]> {
  const [{ remediations }, tickets] = await Promise.all([
    getRepairHistory(store.db, { service, since, limit: MAX_LISTED }),
    listTickets(store.db, { service, since, limit: MAX_LISTED + 1 }),
  ]);
  const others = tickets.slice(1); // the newest is that of this fault
  if (remediations.length + others.length === 0) return [];
  return [{
    code: "acts",
    says:
      say`Within a day ${service} was repaired ${remediations.length} times, and had ${others.length} other incidents.`,
    text: [
      ...remediations.map(({ runbook, ticket_id, state }) =>
        `${runbook ?? "restart"} on ${ticket_id}: ${state}`
      ),
      ...others.map(({ ticket_id, title, status }) => `${ticket_id} ${status}: ${title}`),
    ].join("\n"),
    figures: { repairs: remediations.length, incidents: others.length },
  }];
}

/** Finds the newest sealed changes of settings, policies and runbooks, and what others have sealed about a service: deploys. */
async function findSealed(
  service: string,
  since: Date,
  { store }: ObserverContext,
): Promise<Observation[]> {
  const pages = await Promise.all([
    ...["config_change", "runbook_change"].map((category) =>
      listReceipts(store, { limit: 5, category })
    ),
    listReceipts(store, { limit: 50, category: "api_seal" }),
  ]);
  const lines = pages.flat().sort((a, b) => b.position - a.position).flatMap(({ id, text }) => {
    const { category, action, actor, subject, timestamp } = JSON.parse(text) as Record<
      string,
      string
    >;
    const isEvent = category === "api_seal";
    if (new Date(timestamp!) < since || isEvent && subject !== service) return [];
    const what = isEvent ? `${action} (says ${actor})` : category;
    return [`${timestamp} ${what} of ${subject}, receipt ${id}`];
  });
  if (lines.length === 0) return [];
  return [{
    code: "sealed",
    says: say`${lines.length} changes were sealed within a day.`,
    text: lines.join("\n"),
    figures: { changes: lines.length },
  }];
}
