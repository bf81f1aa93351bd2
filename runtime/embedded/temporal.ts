import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import type { TemporalSettings } from "../../config.ts";
import { EmbeddedError } from "./_errors.ts";
import { startServerProcess } from "./_launch.ts";
import { checkPort } from "./_port.ts";
import { findTemporal } from "./_temporal_binary.ts";
import type { ProcessId } from "./process_id.ts";
import type { Tree } from "./tree.ts";

/** A running embedded Temporal. */
export interface Temporal {
  /** Version of the server, such as `1.29.1`. */
  readonly version: string;
  /** Host and port that clients and workers connect to. */
  readonly address: string;
  readonly namespace: string;
  /**
   * Path of a file with address and namespace, for `TEMPORAL_CONFIG_FILE` or `temporal --config-file`. It replaces the
   * user's own configuration of other servers.
   */
  readonly clientConfig: string;
  /** URL of the Web UI. */
  readonly ui: string;
  readonly process: ProcessId;
  /** Resolves when the server has ended, asked to or not, with the line of its log that says why. */
  readonly ended: Promise<string>;
  /** Saves everything and ends. Takes four seconds at most. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
const STOP_TIMEOUT_MS = 3_500;
const START_TIMEOUT_MS = 60_000;
const DESCRIBE_TIMEOUT_MS = 1_000;
const POLL_MS = 25;
const ERROR_LINE = /\b(level=error|fatal|panic|Error|error)\b/;

/**
 * Starts a Temporal server with its Web UI and its state in a file. Installs the server where there is none.
 *
 * @param dataDir existing folder of all state; the server's file is `temporal/state.db` in it
 * @param ports TCP ports on 127.0.0.1, free
 * @param settings of `temporal.yaml`
 * @param options.progress called with the current activity, where it takes long
 * @param options.tree that the server becomes part of; it is stopped before PostgreSQL
 * @throws {EmbeddedError} there is no server, or it can't start, with its reason
 */
export async function startTemporal(
  dataDir: string,
  ports: { readonly grpc: number; readonly ui: number },
  settings: Pick<TemporalSettings, "namespace" | "search_attributes" | "embedded">,
  { progress = () => {}, tree }: {
    readonly progress?: (doing: string) => void;
    readonly tree?: Tree;
  } = {},
): Promise<Temporal> {
  const { path, version } = await findTemporal(settings.embedded, progress, tree);
  await refuseUsedPorts(ports);
  mkdirSync(join(dataDir, "temporal"), { recursive: true, mode: 0o700 });
  const server = await startServerProcess(dataDir, tree, {
    name: "Temporal",
    logName: "temporal",
    errorLine: ERROR_LINE,
    program: path,
    args: serverFlags(dataDir, ports, settings),
    options: { env: { PATH: process.env.PATH, HOME: process.env.HOME } },
    signal: "SIGTERM",
    stopTimeoutMs: STOP_TIMEOUT_MS,
    rank: 2,
  });
  const { namespace } = settings;
  const address = `${HOST}:${ports.grpc}`;
  const clientConfig = join(dataDir, "temporal", "client.toml");
  try {
    writeFileSync(clientConfig, tomlProfile({ address, namespace }));
    await waitUntilReady(address, namespace, server.ended);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const ui = `http://${HOST}:${ports.ui}`;
  return { version, address, namespace, clientConfig, ui, ...server };
}

/** Formats a client's configuration file with one profile. @see https://docs.temporal.io/develop/environment-configuration */
function tomlProfile(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return ["[profile.default]", ...lines, ""].join("\n");
}

/** Another server on the port would answer in place of this one. */
async function refuseUsedPorts(ports: { readonly grpc: number; readonly ui: number }) {
  for (const port of [ports.grpc, ports.ui]) {
    if (await checkPort(port, HOST) === undefined) continue;
    throw new EmbeddedError(`Temporal could not start: port ${port} is in use`);
  }
}

function serverFlags(
  dataDir: string,
  ports: { readonly grpc: number; readonly ui: number },
  { namespace, search_attributes, embedded }: Parameters<typeof startTemporal>[2],
): string[] {
  const repeat = (
    flag: string,
    values: Readonly<Record<string, unknown>>,
    print: (value: unknown) => string = String,
  ) => Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${print(value)}`]);
  return [
    "server",
    "start-dev",
    "--ip",
    HOST,
    "--port",
    String(ports.grpc),
    "--ui-port",
    String(ports.ui),
    "--db-filename",
    join(dataDir, "temporal", "state.db"),
    "--namespace",
    namespace,
    "--log-level",
    "error",
    "--disable-config-env",
    "--disable-config-file",
    ...repeat("--sqlite-pragma", embedded.sqlite),
    ...repeat("--dynamic-config-value", embedded.dynamic_config, JSON.stringify),
    ...repeat("--search-attribute", search_attributes),
  ];
}

/** Waits until the server answers for the namespace. */
async function waitUntilReady(
  address: string,
  namespace: string,
  ended: Promise<string>,
): Promise<void> {
  let reason: string | undefined;
  ended.then((line) => reason = line);
  const deadline = Date.now() + START_TIMEOUT_MS;
  const connection = Connection.lazy({ address });
  try {
    while (true) {
      if (reason !== undefined) throw new EmbeddedError(`Temporal could not start: ${reason}`);
      try {
        const work = () => connection.workflowService.describeNamespace({ namespace });
        await connection.withDeadline(Date.now() + DESCRIBE_TIMEOUT_MS, work);
        return;
      } catch (error) {
        if (Date.now() > deadline) {
          throw new EmbeddedError(
            `Temporal took longer than ${START_TIMEOUT_MS / 1000} s to start`,
            {
              cause: error,
            },
          );
        }
      }
      await sleep(POLL_MS);
    }
  } finally {
    await connection.close();
  }
}
