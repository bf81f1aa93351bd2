/**
 * Sealing beside two peers, under the same load: the same callers, each waiting until its entry is durable, entries of
 * the same size, fsync on. immudb keeps a key-value history with a Merkle tree behind gRPC; Tessera is a library that
 * grows a tiled log in its caller's process. Both are built from their Go modules; without Go there is nothing to see.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { freePort, testFolder } from "../test/_run.ts";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Figure, inTurns } from "./_figures.ts";
import { CALLERS, openSealing, rate } from "./_sealing.ts";

const run_ = promisify(execFile);
const ROUNDS = 5;
const ENTRIES = 10_000;

/** Command of the load program, what it is, and how many entries a round. */
const PEERS = [
  ["immudb", "immudb 1.5.0, Set", ENTRIES],
  ["immudb-verified", "immudb 1.5.0, VerifiedSet", ENTRIES / 20],
  ["tessera", "Tessera 1.0.4 (POSIX), in process", ENTRIES * 3],
  ["tessera-signed", "the same, each entry signed", ENTRIES * 3],
] as const;

/** Measures the house in turns with each. */
export async function* run(): AsyncGenerator<Figure> {
  const built = await build();
  if (!built) return;
  const sealing = await openSealing();
  const immudb = await startImmudb(built.immudb);
  try {
    const bytes = await sealing.bytes();
    for (const [command, baseline, count] of PEERS) {
      const where = command.startsWith("immudb") ? String(immudb.port) : await testFolder();
      const rates = await inTurns(ROUNDS, {
        house: () => rate(ENTRIES, () => sealing.seal(ENTRIES)),
        async bare() {
          const args = [command, CALLERS, bytes, count, where].map(String);
          return Number((await run_(built.load, args)).stdout);
        },
      });
      yield { what: `seals/s, ${CALLERS} callers, ${bytes} B, fsync`, ...rates, baseline };
    }
  } finally {
    await sealing.close();
    await immudb.stop();
  }
}

/** Builds the load program and the server of immudb; undefined, and said why, where that can't be done. */
async function build(): Promise<{ load: string; immudb: string } | undefined> {
  const folder = await testFolder();
  const peers = fileURLToPath(new URL("./peers", import.meta.url));
  const [load, immudb] = [join(folder, "load"), join(folder, "immudb")];
  try {
    await run_("go", ["build", "-o", load, "."], { cwd: peers });
    const server = "github.com/codenotary/immudb/cmd/immudb";
    await run_("go", ["build", "-o", immudb, server], { cwd: join(peers, "immudb") });
    return { load, immudb };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    console.error(`  peers: not measured: ${(stderr || message).trim().split("\n").at(-1)}`);
    return undefined;
  }
}

/** The server as it comes: its default is to answer when the entry is on disk (synced, every 20 ms). */
async function startImmudb(program: string): Promise<{ port: number; stop(): Promise<void> }> {
  const [folder, port] = [await testFolder(), await freePort()];
  const server: ChildProcess = spawn(program, [
    ...["--dir", folder, "--address", "127.0.0.1", "--port", String(port), "--synced=true"],
    ...["--metrics-server=false", "--pgsql-server=false", "--web-server=false", "--pidfile", ""],
  ], { stdio: "ignore" });
  await sleep(3_000);
  return {
    port,
    async stop() {
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
    },
  };
}
