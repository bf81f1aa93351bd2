/** Temporal as a cluster: each of its services is a process of its own, on one PostgreSQL. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Connection } from "@temporalio/client";
import pg from "pg";
import { eventually } from "../_time.ts";
import { freePort } from "../_run.ts";
import { type Program, startProgram } from "./_program.ts";

const SERVICES = ["frontend", "history", "history-2", "matching", "worker"] as const;
/** Versions of the schemas that the server's own tool has in it. */
const SCHEMAS = {
  temporal: "postgresql/v12/temporal",
  temporal_visibility: "postgresql/v12/visibility",
};

/** A running cluster. */
export interface TemporalCluster {
  readonly address: string;
  stop(): Promise<void>;
}

/**
 * Makes the databases, starts the services, and waits until the frontend serves.
 *
 * @param programs folder of the server and its tool
 * @param folder for files and logs
 * @param superuserUrl of the PostgreSQL
 */
export async function startTemporalCluster(
  programs: string,
  folder: string,
  superuserUrl: string,
): Promise<TemporalCluster> {
  await mkdir(folder, { recursive: true });
  await makeDatabases(join(programs, "sql"), superuserUrl);
  const ports = {
    frontend: await openPorts(),
    history: await openPorts(),
    matching: await openPorts(),
    worker: await openPorts(),
  };
  const second = { ...ports, history: await openPorts() };
  const address = `127.0.0.1:${ports.frontend.grpcPort}`;
  const dynamic = join(folder, "dynamic.yaml");
  await writeFile(dynamic, "matching.enableFairness:\n- value: true\n");
  const start = async (name: typeof SERVICES[number]) => {
    const config = join(folder, `${name}.yaml`);
    const used = name === "history-2" ? second : ports;
    await writeFile(
      config,
      JSON.stringify(describe(superuserUrl, { ports: used, address, dynamic })),
    );
    const service = name === "history-2" ? "history" : name;
    return startProgram(
      [
        join(programs, "server"),
        "--config-file",
        config,
        "--allow-no-auth",
        "start",
        "--service",
        service,
      ],
      { log: join(folder, `${name}.log`) },
    );
  };
  const started: Program[] = [];
  const stop = async () => {
    await Promise.all(started.map((one) => one.end("SIGKILL")));
  };
  try {
    for (const name of SERVICES) {
      started.push(await start(name));
      if (name !== "frontend") continue;
      await eventually(async () => { // it alone notes the cluster's name in the empty database
        if (!started[0]!.isRunning()) throw new Error(`It ended:\n${started[0]!.log()}`);
        return await serves(address);
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, stop };
}

async function openPorts() {
  return { grpcPort: await freePort(), membershipPort: await freePort(), bindOnLocalHost: true };
}

/** Describes the cluster as its configuration file does. @see https://docs.temporal.io/references/configuration */
function describe(
  superuserUrl: string,
  { ports, address, dynamic }: {
    readonly ports: Readonly<Record<string, object>>;
    readonly address: string;
    readonly dynamic: string;
  },
) {
  const { host, username: user, password } = new URL(superuserUrl);
  const store = (databaseName: string) => ({
    sql: {
      pluginName: "postgres12",
      databaseName,
      connectAddr: host,
      connectProtocol: "tcp",
      user,
      password,
      maxConns: 10,
      maxIdleConns: 10,
      maxConnLifetime: "1h",
    },
  });
  return {
    log: { stdout: true, level: "warn" },
    persistence: {
      defaultStore: "default",
      visibilityStore: "visibility",
      numHistoryShards: 4,
      datastores: { default: store("temporal"), visibility: store("temporal_visibility") },
    },
    global: { membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" } },
    services: Object.fromEntries(Object.entries(ports).map(([name, rpc]) => [name, { rpc }])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: "active",
      currentClusterName: "active",
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: address,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
    publicClient: { hostPort: address },
    dynamicConfigClient: { filepath: dynamic, pollInterval: "60s" },
  };
}

async function makeDatabases(tool: string, superuserUrl: string): Promise<void> {
  const { hostname, port, username, password } = new URL(superuserUrl);
  const login = ["--plugin", "postgres12", "--ep", hostname, "-p", port, "-u", username];
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  for (const name of Object.keys(SCHEMAS)) await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  for (const [database, schema] of Object.entries(SCHEMAS)) {
    const run = (...args: string[]) =>
      promisify(execFile)(tool, [...login, "--pw", password, "--db", database, ...args]);
    await run("setup-schema", "-v", "0.0");
    await run("update-schema", "--schema-name", schema);
  }
}

async function serves(address: string): Promise<true | undefined> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: 1_000 });
    try {
      await connection.workflowService.listNamespaces({});
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return undefined;
  }
}
