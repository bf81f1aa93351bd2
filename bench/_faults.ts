/** Real faults for `chaos_causes.ts`: services that work, and then break. */
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testCertificate } from "../test/runtime/web/_certificate.ts";
import * as programs from "./_fault_programs.ts";

/** Surroundings of a fault, by which it breaks its service. */
export interface FaultPlace {
  readonly folder: string;
  readonly port: number;
  /** Asks the service once; never throws. */
  ask(path?: string): Promise<unknown>;
  /** Starts its process again, as a deploy does. */
  restart(): Promise<void>;
  /** Ends its process. */
  end(): Promise<void>;
  /** Starts another program. */
  startOther(argv: readonly string[]): Promise<void>;
  /** Is called at the end. */
  cleanUp(work: () => unknown): void;
}

/** A service that breaks. */
export interface Fault {
  /** Its cause, by its name in `causes.yaml`. */
  readonly cause: string;
  /** The fault in words, for people. */
  readonly broken: string;
  /** True: it has the words of another cause. */
  readonly isControl?: true;
  /** False: sealoop has not started it. */
  readonly isManaged?: false;
  /** True: a restart mends it, for some time. */
  readonly restartHelps?: true;
  readonly program: { readonly name: "app.py" | "app.mjs"; readonly text: string };
  /** Arguments of a shell that replaces itself by the program, such as a limit. */
  readonly limit?: string;
  readonly heapMiB?: number;
  readonly secure?: true;
  /** Prepares the folder and what the service needs. @returns variables, arguments, and an address that it depends on */
  prepare?(place: FaultPlace): Promise<{
    readonly env?: Record<string, string>;
    readonly args?: readonly string[];
    readonly dependsOn?: string;
  }>;
  /** Breaks it; default: asking breaks it. */
  strike?(place: FaultPlace): Promise<void>;
}

const py = (text: string) => ({ name: "app.py", text }) as const;
const js = (text: string) => ({ name: "app.mjs", text }) as const;
const DAY_MS = 86_400_000;

/** Serves an HTTP server that is quick until `slow` is called. */
async function openPartner(place: FaultPlace, delayMs: number) {
  let delay = 0;
  const server = createServer((_, res) => void setTimeout(() => res.end("ok"), delay));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  place.cleanUp(() => server.closeAllConnections());
  place.cleanUp(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    slow: () => void (delay = delayMs),
  };
}

const partners = new Map<FaultPlace, { slow(): void }>();

/** Has a partner, whose address a variable names. */
const withPartner = (variable: string, delayMs: number, declared: boolean, words?: string) => ({
  async prepare(place: FaultPlace) {
    const partner = await openPartner(place, delayMs);
    partners.set(place, partner);
    return {
      env: { [variable]: partner.url, ...(words ? { WORDS: words } : {}) },
      ...(declared ? { dependsOn: partner.url } : {}),
    };
  },
  strike: (place: FaultPlace) => Promise.resolve(partners.get(place)!.slow()),
});

/** Has a small file system of its own. @returns its folder; undefined: this machine allows none */
function mountSmall(place: FaultPlace): string {
  const folder = join(place.folder, "var");
  execFileSync("mkdir", ["-p", folder]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  place.cleanUp(() => execFileSync("umount", ["-l", folder]));
  return folder;
}

async function deploy(place: FaultPlace, name: string, text: string): Promise<void> {
  await sleep(2_500); // a deploy comes later than the program
  await writeFile(join(place.folder, name), text);
  await place.restart();
}

/** Another program takes the port while the service is down. */
async function takePort(place: FaultPlace): Promise<void> {
  await place.end();
  const path = join(place.folder, "..", `other-${place.port}.py`);
  await writeFile(path, programs.SQUATTER);
  await place.startOther(["python3", path, String(place.port)]);
  await place.restart();
}

const READS_INI = {
  program: py(programs.READS_INI),
  async prepare({ folder }: FaultPlace) {
    await writeFile(join(folder, "app.ini"), "[pool]\nsize = 8\n");
    return {};
  },
};

/** Ten kinds of faults, each in two ways, and five with the words of another. */
export const FAULTS: readonly Fault[] = [
  {
    cause: "memory_exhausted",
    broken: "Python keeps 6 MiB of each request under `ulimit -v`",
    restartHelps: true,
    program: py(programs.KEEPS_ANSWERS),
    limit: "ulimit -v 300000",
  },
  {
    cause: "memory_exhausted",
    broken: "Node keeps sessions until its heap of 48 MiB is full",
    restartHelps: true,
    program: js(programs.KEEPS_SESSIONS),
    heapMiB: 48,
  },
  {
    cause: "descriptors_exhausted",
    broken: "Python leaves 4 files open a request under `ulimit -n 64`",
    restartHelps: true,
    program: py(programs.OPENS_TEMPLATES),
    limit: "ulimit -n 64",
  },
  {
    cause: "descriptors_exhausted",
    broken: "Node leaves 6 files open a request, hides the error; not started by sealoop",
    restartHelps: true,
    isManaged: false,
    program: js(programs.OPENS_REPORTS),
    limit: "ulimit -n 96",
  },
  {
    cause: "deadlock",
    broken: "two threads of Python take two locks in another order",
    restartHelps: true,
    program: py(programs.BOOKS_TWICE),
    strike: async ({ ask }) => void await ask("/book"),
  },
  {
    cause: "deadlock",
    broken: "two workers of Node wait for each other",
    restartHelps: true,
    program: js(programs.SETTLES_TWICE),
    strike: async ({ ask }) => void await ask("/book"),
  },
  {
    ...READS_INI,
    cause: "bad_configuration",
    broken: "a deploy writes `size = eight` into an INI file; Python ends at its start",
    strike: (place) => deploy(place, "app.ini", "[pool]\nsize = eight\n"),
  },
  {
    cause: "bad_configuration",
    broken: "a deploy leaves a part of a JSON file out; Node answers 500",
    program: js(programs.READS_JSON),
    async prepare({ folder }) {
      await writeFile(join(folder, "settings.json"), '{"prices":{"currency":"eur"}}');
      return {};
    },
    strike: (place) => deploy(place, "settings.json", '{"price":{"currency":"eur"}}'),
  },
  {
    cause: "port_taken",
    broken: "another program takes the port of a Python server while it restarts",
    program: py(programs.PLAIN_PYTHON),
    strike: takePort,
  },
  {
    cause: "port_taken",
    broken: "the same for Node, which says so in a file; not started by sealoop",
    isManaged: false,
    program: js(programs.PLAIN_NODE),
    strike: takePort,
  },
  {
    cause: "clock_wrong",
    broken: "a Python server is two hours ahead, and refuses tokens",
    program: py(programs.AHEAD),
  },
  {
    cause: "clock_wrong",
    broken: "a Node server is a day behind, and refuses signatures",
    program: js(programs.BEHIND),
  },
  {
    cause: "disk_full",
    broken: "Python fills a file system of 1 MiB that a variable names",
    program: py(programs.SPOOLS),
    prepare: (place) => Promise.resolve({ env: { SPOOL: mountSmall(place) } }),
  },
  {
    cause: "disk_full",
    broken: "Node fills a file system that an argument names, and hides the error",
    program: js(programs.STORES),
    prepare: (place) => Promise.resolve({ args: [mountSmall(place)] }),
  },
  {
    cause: "certificate_expired",
    broken: "a Python server shows a certificate that ended yesterday",
    program: py(programs.SERVES_TLS),
    secure: true,
    async prepare({ folder }) {
      const { cert, key } = testCertificate({ from: -90 * DAY_MS, to: -DAY_MS });
      await writeFile(join(folder, "front.pem"), cert + key);
      return {};
    },
  },
  {
    cause: "certificate_expired",
    broken: "a server that Node asks shows a certificate that ended yesterday",
    program: js(programs.ASKS),
    async prepare(place) {
      const { cert, key } = testCertificate({ from: -90 * DAY_MS, to: -DAY_MS });
      const server = createTlsServer({ cert, key }, (_, res) => res.end("ok"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      place.cleanUp(() => server.close());
      const { port } = server.address() as AddressInfo;
      return { env: { PARTNER: `https://127.0.0.1:${port}/` } };
    },
  },
  {
    cause: "name_unresolved",
    broken: "a variable of a Python server names a host that is not there",
    program: py(programs.CONNECTS),
    prepare: () => Promise.resolve({ env: { ORDERS_HOST: "orders-primary.invalid" } }),
  },
  {
    cause: "name_unresolved",
    broken: "a JSON file of a Node server names a host that is not there",
    program: js(programs.QUEUES),
    async prepare({ folder }) {
      const settings = { queue: { host: "broker-2.invalid", port: 5672 } };
      await writeFile(join(folder, "settings.json"), JSON.stringify(settings));
      return {};
    },
  },
  {
    cause: "dependency_slow",
    broken: "a declared dependency of a Python server takes 6 s to answer",
    program: py(programs.ASKS_PATIENTLY),
    ...withPartner("STOCK", 6_000, true),
  },
  {
    cause: "dependency_slow",
    broken: "a server that a variable of Node names takes 3 s; Node gives up after 1.5 s",
    program: js(programs.ASKS),
    ...withPartner("PARTNER", 3_000, false),
  },
  {
    cause: "dependency_slow",
    broken: "old lines say `EMFILE: too many open files`; a server that it asks takes 3 s",
    isControl: true,
    program: js(programs.ASKS),
    ...withPartner("PARTNER", 3_000, false, "EMFILE: too many open files, open 'x'"),
  },
  {
    ...READS_INI,
    cause: "bad_configuration",
    broken: "a log of two days ago says `certificate has expired`; a deploy breaks its settings",
    isControl: true,
    async prepare(place) {
      const at = new Date(Date.now() - 2 * DAY_MS).toISOString();
      await appendFile(
        join(place.folder, "server.log"),
        `${at} ERROR x509: certificate has expired or is not yet valid\n`,
      );
      return await READS_INI.prepare(place);
    },
    strike: (place) => deploy(place, "app.ini", "[pool]\nsize =\n"),
  },
  {
    cause: "descriptors_exhausted",
    broken: "its log of yesterday says `no space left on device`; it leaves files open",
    isControl: true,
    restartHelps: true,
    program: js(programs.OPENS_REPORTS),
    limit: "ulimit -n 96",
    async prepare({ folder }) {
      const at = new Date(Date.now() - DAY_MS).toISOString();
      await mkdir(join(folder, "logs"), { recursive: true });
      await appendFile(
        join(folder, "logs", "web.log"),
        `${at} ERROR write failed: no space left on device\n`,
      );
      return {};
    },
  },
  {
    cause: "name_unresolved",
    broken: "it prints `deadlock detector armed, no deadlock found`; a name can't be resolved",
    isControl: true,
    program: py(programs.CONNECTS),
    prepare: () =>
      Promise.resolve({
        env: {
          ORDERS_HOST: "orders-replica.invalid",
          WORDS: "deadlock detector armed, no deadlock found",
        },
      }),
  },
  {
    cause: "dependency_slow",
    broken: "it prints `previous run ended: out of memory`; a declared dependency takes 6 s",
    isControl: true,
    program: js(programs.ASKS),
    ...withPartner("PARTNER", 6_000, true, "previous run ended: out of memory"),
  },
];
