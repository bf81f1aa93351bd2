import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Observation } from "../../contract/domain/mod.ts";
import { listReceipts } from "../../ledger/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { getRepairHistory, listTickets } from "../../store/incidents/mod.ts";
import type { Observer, ObserverContext } from "./observer.ts";

/** Changes that are older are not the cause of a fault that has just begun. */
const MAX_AGE_MS = 24 * 3_600_000;
const MAX_FILES = 5_000;
const MAX_LISTED = 15;
/** Folders of programs and of their data, in which files change without anybody who changes something. */
const SKIPPED = /^(?:\.git|node_modules|__pycache__|\.cache|\.venv|venv|logs?|tmp|data)$/;
/** Files that a service is set up by. */
const SETTINGS =
  /\.(?:ya?ml|json|toml|ini|conf|cfg|properties|env|xml|service)$|^(?:\.env|Dockerfile|Caddyfile)$/i;

/** Looks what has changed lately. */
export const changes: Observer = {
  name: "changes",
  about:
    "Looks what has changed within a day: files of the service, restarts and repairs, other incidents, sealed deploys and settings",
  async observe({ service, isLocal }, context): Promise<Observation[]> {
    if (!service) return [];
    const since = new Date(Date.now() - MAX_AGE_MS);
    const [files, acts, sealed] = await Promise.all([
      isLocal ? findFiles(service, since, context.deadline) : [],
      findActs(service.name, since, context),
      findSealed(since, context),
    ]);
    return [...files, ...acts, ...sealed];
  },
};

interface ChangedFile {
  readonly path: string;
  readonly at: Date;
}

async function findFiles(
  { restart }: Service,
  since: Date,
  deadline: AbortSignal,
): Promise<Observation[]> {
  const { cwd, command = [] } = restart && "process" in restart ? restart.process : {};
  const named = [...command].filter((text) => text.startsWith("/"));
  const changed = (await listChanged([...(cwd ? [cwd] : []), ...named], since, deadline))
    .sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, MAX_LISTED);
  const [newest] = changed;
  if (!newest) return [];
  const settings = changed.filter(({ path }) => SETTINGS.test(path.split("/").at(-1)!));
  return [{
    code: "files",
    says:
      `${changed.length} files of the service were changed within a day, last ${newest.path} at ${newest.at.toISOString()}.`,
    text: changed.map(({ path, at }) => `${at.toISOString()} ${path}`).join("\n"),
    figures: {
      files: changed.length,
      settings: settings.length,
      newest_age_s: ageOf(newest),
      ...(settings[0] ? { newest_setting_age_s: ageOf(settings[0]) } : {}),
    },
  }];
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
      `Within a day ${service} was repaired ${remediations.length} times, and had ${others.length} other incidents.`,
    text: [
      ...remediations.map(({ runbook, ticket_id, state }) =>
        `${runbook ?? "restart"} on ${ticket_id}: ${state}`
      ),
      ...others.map(({ ticket_id, title, status }) => `${ticket_id} ${status}: ${title}`),
    ].join("\n"),
    figures: { repairs: remediations.length, incidents: others.length },
  }];
}

/** Finds the newest sealed changes of settings, policies and runbooks. */
async function findSealed(since: Date, { store }: ObserverContext): Promise<Observation[]> {
  const pages = await Promise.all(
    ["config_change", "runbook_change", "deploy"].map((category) =>
      listReceipts(store, { limit: 5, category })
    ),
  );
  const lines = pages.flat().sort((a, b) => b.position - a.position).flatMap(({ id, text }) => {
    const { category, subject, timestamp } = JSON.parse(text) as Record<string, string>;
    return new Date(timestamp!) < since
      ? []
      : [`${timestamp} ${category} of ${subject}, receipt ${id}`];
  });
  if (lines.length === 0) return [];
  return [{
    code: "sealed",
    says: `${lines.length} changes were sealed within a day.`,
    text: lines.join("\n"),
    figures: { changes: lines.length },
  }];
}
