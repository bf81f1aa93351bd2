/**
 * A run of the tests: folders and ports that no other run uses, and the cleanup at its end. Mocha loads this in each of
 * its processes (see .mocharc.json).
 */
import { randomBytes, randomInt } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat, statfs } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../config.ts";
import { build } from "../scripts/build.mjs";

/** Settings file with detectors that probe services only, so that no test depends on the machine that it runs on. */
export const TEST_DETECTORS: string = join(ROOT, "test", "_detectors.yaml");

/** Number of this process within the run. */
export const workerNumber = Number(process.env.MOCHA_WORKER_ID ?? 0);
/** Part of the names of the run's folders. The main process passes it on to its workers. */
const runId: string = process.env.TEST_RUN_ID ??= randomBytes(4).toString("hex");
const cleanups: (() => Promise<unknown>)[] = [];
const PREFIX = "sealoop-test-";
/** File system of Linux that is in memory, and the bytes that must be free there for the data of servers. */
const MEMORY = "/dev/shm";
const MEMORY_NEEDED = 4 * 2 ** 30;
const DAY_MS = 86_400_000;

/** Registers work for the end of the run, before its folders are removed. */
export function atEndOfRun(work: () => Promise<unknown>): void {
  cleanups.push(work);
}

/** Mocha calls this in its main process before the first test. */
export async function mochaGlobalSetup(): Promise<void> {
  await build();
}

/** Mocha calls this in its main process at the end of the run, failed or not. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all(cleanups.map((work) => work()));
  const found = await Promise.all(
    [tmpdir(), MEMORY].map((folder) => listFolders(folder, prefix())),
  );
  // A child of a killed process may still write there, which must not fail the run.
  const options = { recursive: true, force: true, maxRetries: 10 };
  const report = (error: Error) => console.error(`  Cannot remove: ${error.message}`);
  await Promise.all(found.flat().map((folder) => rm(folder, options).catch(report)));
}

/** Returns the paths of what is in a folder, which need not exist, by the beginning of their names. */
async function listFolders(folder: string, beginning: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(beginning)).map((name) => join(folder, name));
}

/** Creates an empty folder that is removed when the run ends. */
export async function testFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), prefix()));
}

/** Creates such a folder for the data of a server: in memory where there is room, as hundreds of databases are made in it. */
export async function serverFolder(): Promise<string> {
  await removeOldFolders();
  const room = await statfs(MEMORY).then(({ bavail, bsize }) => bavail * bsize, () => 0);
  return await mkdtemp(join(room > MEMORY_NEEDED ? MEMORY : tmpdir(), prefix()));
}

/** Removes what runs have left in memory that were killed a day ago or earlier. */
async function removeOldFolders(): Promise<void> {
  for (const folder of await listFolders(MEMORY, PREFIX)) {
    const made = await stat(folder).then(({ mtimeMs }) => mtimeMs, () => Infinity); // another run removes it
    if (made < Date.now() - DAY_MS) await rm(folder, { recursive: true, force: true });
  }
}

function prefix(): string {
  return `${PREFIX}${runId}-`;
}

/**
 * Returns a TCP port of 127.0.0.1 that nobody listened on a moment ago and that no other test gets, in any process or
 * run. It is outside the ranges from which the system takes ports of outgoing connections and the platform its free
 * ports, so that neither takes it before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = claimedPorts.pop();
    if (port === undefined) claimedPorts.push(...await claimPorts());
    else if (await isFree(port)) return port;
  }
}

const PORT_RANGE = [10_000, 20_000] as const;
/** Ports are claimed in blocks of this size: the process that listens on the first owns the others. */
const BLOCK_SIZE = 50;
const claimedPorts: number[] = [];

async function claimPorts(): Promise<number[]> {
  const [from, to] = PORT_RANGE;
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const first = from + BLOCK_SIZE * randomInt((to - from) / BLOCK_SIZE);
    const claim = await listenOn(first);
    if (claim) {
      claim.unref(); // held until this process ends
      return Array.from({ length: BLOCK_SIZE - 1 }, (_, n) => first + 1 + n);
    }
  }
  throw new Error(`No ports are free between ${PORT_RANGE.join(" and ")}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server) await new Promise((resolve) => server.close(resolve));
  return server !== undefined;
}

/** Listens on a port; returns undefined where somebody else does. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(undefined))
      .listen(port, "127.0.0.1", () => resolve(server));
  });
}

/** Redirects the output of the code under test to a file. Mocha's own reports reach the main process another way. */
function logToFile(folder: string): void {
  const log = createWriteStream(join(folder, `worker-${workerNumber}.log`), { flags: "a" });
  process.stdout.write = process.stderr.write = log.write.bind(log) as typeof log.write;
}

if (process.env.TEST_LOGS && workerNumber > 0) logToFile(process.env.TEST_LOGS);
