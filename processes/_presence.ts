import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { VERSION } from "../config.ts";
import { withTimeout } from "../contract/mod.ts";
import type { ProcessName } from "../contract/domain/mod.ts";
import { openStore, requireReady, type Role, type Store } from "../store/mod.ts";
import type { Unreadiness } from "./_monitoring.ts";
import { forgetProcess, type ProcessReport, reportProcesses } from "../store/platform/mod.ts";

/** Place of a process in the tree of `npm start`. */
export interface Place {
  /** The same for each process that is started there. A UUID. */
  readonly id: string;
  /** Number of processes that were there before since `npm start`. */
  readonly restarts: number;
}

/** Reports of a process about itself, which others read in the database. */
export interface Presence {
  /** Begins to tell, every two seconds. @param url of the database, by the role of the process */
  begin(name: ProcessName, login: { readonly role: Role; readonly url: string }): void;
  /** Tells what the process waits for; null: for nothing. @param code of it, for programs; default: its name */
  waitFor(what: string | null, code?: string): void;
  /** Tells from now on how old the last polls of its task queues are. */
  tellPolls(ages: () => Readonly<Record<string, number>>): void;
  /** Tells that it does its work. */
  ready(): void;
  /** Tells that it is about to end. */
  stopping(): void;
  /** Returns why this process would not do its work now; empty: it would. Takes three seconds at most. */
  unready(): Promise<readonly Unreadiness[]>;
  /** Ends the telling. Takes half a second at most, as the database may be away. */
  end(): Promise<void>;
}

/** A server that a process keeps, and tells of. */
export type KeptProcess = Omit<ProcessReport, "host" | "waitsFor" | "polls">;

/** Returns the id of a process's place in the tree of a data folder, the same at each start of the tree. */
export function placeId(dataDir: string, name: string): string {
  const hash = createHash("sha256").update(JSON.stringify([hostname(), dataDir, name]));
  return hash.digest("hex").slice(0, 32).replace(
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    "$1-$2-$3-$4-$5",
  );
}

/** Describes a server that `npm start` keeps; undefined: it is being started again. */
export function describeServer(
  name: "postgresql" | "temporal",
  dataDir: string,
  server: {
    current(): { readonly process: { readonly pid: number }; readonly version: string };
    restarts(): number;
    isRunning(): boolean;
  },
): KeptProcess | undefined {
  if (!server.isRunning()) return undefined;
  const { process: { pid }, version } = server.current();
  const id = placeId(dataDir, name);
  return { id, name, pid, version, restarts: server.restarts(), status: "running" };
}

const INTERVAL_MS = 2_000;
/** Time for one report. A connection that takes longer is given up. */
const REPORT_TIMEOUT_MS = 4_000;
const END_TIMEOUT_MS = 500;
/** Polls take a minute at most while nothing is to do. */
const MAX_POLL_AGE_SECONDS = 90;

/**
 * Creates the presence of this process. Reports that fail are not repeated, as another follows; it is the lack of reports
 * that tells others of a process that was killed, stopped or cut off.
 *
 * @param place in the tree of `npm start`; undefined: nobody restarts it
 * @param kept lists the servers that it keeps
 */
export function openPresence(
  place: Place | undefined,
  kept: () => readonly KeptProcess[] = () => [],
): Presence {
  const host = hostname();
  let name: ProcessName;
  const id = place?.id ?? randomUUID();
  let isReady = false;
  let isStopping = false;
  let waitsFor: string | null = null;
  let waitCode = "";
  let open: (() => Store) | undefined;
  let store: Store | undefined;
  let timer: NodeJS.Timeout | undefined;
  let reporting: Promise<void> | undefined;
  let isStale = false;
  let pollAges: (() => Readonly<Record<string, number>>) | undefined;

  function reports(): ProcessReport[] {
    const status = isStopping
      ? "stopping"
      : waitsFor !== null
      ? "waiting"
      : isReady
      ? "running"
      : "starting";
    const restarts = place?.restarts ?? null;
    const polls = pollAges?.() ?? null;
    return [
      { id, name, host, pid: process.pid, version: VERSION, restarts, status, waitsFor, polls },
      ...kept().map((one) => ({ ...one, host, waitsFor: null, polls: null })),
    ];
  }

  /** Reports now, or once more where a report is under way. */
  function report(): void {
    if (!open) return;
    if (reporting) {
      isStale = true;
      return;
    }
    store ??= open();
    const used = store;
    isStale = false;
    reporting = withTimeout(REPORT_TIMEOUT_MS, reportProcesses(used.asPlatform(), reports()))
      .catch(() => {
        void used.close().catch(() => {});
        if (store === used) store = undefined;
      })
      .finally(() => {
        reporting = undefined;
        if (isStale) report();
      });
  }

  /** A connection that reports have given up is opened anew. */
  async function databaseTrouble(): Promise<Unreadiness[]> {
    if (!open) return [];
    store ??= open();
    return await requireReady(store).then(
      () => [],
      (error: Error) => [{ code: "database", says: error.message }],
    );
  }

  return {
    begin(ownName, { url, role }) {
      name = ownName;
      open = () => openStore(url, role, 1);
      store = open();
      void forgetProcess(store.asPlatform(), id).catch(() => {});
      timer = setInterval(report, INTERVAL_MS).unref();
      report();
    },
    waitFor(what, code = what?.toLowerCase() ?? "") {
      if (waitsFor === what) return;
      waitsFor = what;
      waitCode = code;
      report();
    },
    tellPolls(ages) {
      pollAges = ages;
    },
    ready() {
      isReady = true;
      report();
    },
    stopping() {
      isStopping = true;
      report();
    },
    async unready() {
      if (isStopping) return [{ code: "stopping", says: "It is about to end" }];
      if (waitsFor !== null) {
        return [{ code: `waits_for_${waitCode}`, says: `It waits for ${waitsFor}` }];
      }
      if (!isReady) return [{ code: "starting", says: "It has not started yet" }];
      const late = Object.entries(pollAges?.() ?? {}).filter(([, age]) =>
        age > MAX_POLL_AGE_SECONDS
      );
      return [
        ...late.map(([queue, age]) => ({
          code: "not_polled",
          says: `The task queue ${queue} was last polled ${Math.round(age)} s ago`,
        })),
        ...await databaseTrouble(),
      ];
    },
    async end() {
      clearInterval(timer);
      open = undefined;
      const used = store; // a report that fails meanwhile gives its store up
      if (!used) return;
      await withTimeout(END_TIMEOUT_MS, forgetProcess(used.asPlatform(), id)).catch(() => {});
      void used.close().catch(() => {});
    },
  };
}
