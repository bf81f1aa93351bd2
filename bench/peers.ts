/**
 * Sealing beside two peers under the same load: 256 callers, each waiting until its entry is durable, entries of the same
 * size, fsync on. immudb keeps a key-value history with a Merkle tree, behind gRPC on loopback; Tessera is a library that
 * grows a tiled log within its caller's process. Our callers share a process, with PostgreSQL on loopback.
 *
 * Both are built from their Go modules; without Go nothing is measured. Where a client makes one call at a time, as
 * immudb's does for verified sets, there is one client for every 16 callers.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../config.ts";
import { testFolder } from "../test/_run.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { startImmudb } from "./_immudb.ts";
import { CALLERS, openSealing } from "./_sealing.ts";
import { ratePerSecond, rounds, scaled } from "./_work.ts";

const runFile = promisify(execFile);
const ROUNDS = rounds(5);
const SEALS = scaled(10_000);
const CALLERS_PER_SERIAL_CLIENT = 16;
const SOURCES = join(ROOT, "bench", "peers");

/** A peer, and a way to use it. */
interface Peer {
  /** Its name for the load program. */
  readonly name: string;
  readonly label: string;
  readonly clients: number;
  /** Entries of a round; about as many as take as long as our own. */
  readonly entries: number;
}

/** Measures sealing in turns with each peer. */
export async function* run(): AsyncGenerator<Figure> {
  const programs = await buildPrograms();
  if (!programs) return;
  const sealing = await openSealing();
  const immudb = await startImmudb(programs.immudb);
  try {
    const bytes = await sealing.measureRecord();
    for (const { name, label, clients, entries } of listPeers()) {
      const where = name.startsWith("immudb") ? String(immudb.port) : await testFolder();
      const args = [name, clients, CALLERS, bytes, entries, where].map(String);
      const env = { ...process.env, TMPDIR: await testFolder() }; // for the state of clients
      const rates = await measureInTurns(ROUNDS, {
        baseline: async () => Number((await runFile(programs.load, args, { env })).stdout),
        platform: () => ratePerSecond(SEALS, () => sealing.seal(SEALS)),
      });
      yield {
        label: `seals/s, ${CALLERS} callers in 1 process, PostgreSQL over TCP, ${bytes} B, fsync`,
        ...rates,
        baselineLabel: label,
      };
    }
  } finally {
    await sealing.close();
    await immudb.stop();
  }
}

function listPeers(): Peer[] {
  const immudb = `immudb ${readVersion("github.com/codenotary/immudb")}`;
  const tessera = `Tessera ${readVersion("github.com/transparency-dev/tessera")} (POSIX)`;
  const clients = CALLERS / CALLERS_PER_SERIAL_CLIENT;
  return [
    {
      name: "immudb",
      label: `${immudb}, Set, 1 client over gRPC`,
      clients: 1,
      entries: scaled(10_000),
    },
    {
      name: "immudb-verified",
      label: `${immudb}, VerifiedSet, ${clients} clients over gRPC`,
      clients,
      entries: scaled(2_000),
    },
    {
      name: "tessera",
      label: `${tessera}, in process`,
      clients: 1,
      entries: scaled(30_000),
    },
    {
      name: "tessera-signed",
      label: `${tessera}, in process, entries signed`,
      clients: 1,
      entries: scaled(30_000),
    },
  ];
}

/** Returns the version of a module in the load program's go.mod. */
function readVersion(module: string): string {
  const text = readFileSync(join(SOURCES, "go.mod"), "utf8");
  return text.split("\n").find((line) => line.trim().startsWith(`${module} v`))!.split(" v")[1]!;
}

/** Builds the load program and immudb's server. Where that cannot be done, says why and returns undefined. */
async function buildPrograms(): Promise<{ load: string; immudb: string } | undefined> {
  const folder = await testFolder();
  const [load, immudb] = [join(folder, "load"), join(folder, "immudb")];
  const server = "github.com/codenotary/immudb/cmd/immudb";
  try {
    await runFile("go", ["build", "-o", load, "."], { cwd: SOURCES });
    await runFile("go", ["build", "-o", immudb, server], { cwd: join(SOURCES, "immudb") });
    return { load, immudb };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const reason = (stderr || message).trim().split("\n").at(-1);
    console.error(`  Cannot build the peers, so they are not measured: ${reason}`);
    return undefined;
  }
}
