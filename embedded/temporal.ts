import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import type { TemporalSettings } from "../config.ts";
import { EmbeddedError } from "./_errors.ts";
import { launch } from "./_launch.ts";
import { checkPort } from "./_port.ts";
import type { ProcessId } from "./_process_id.ts";
import { findTemporal } from "./_temporal_binary.ts";
import type { Tree } from "./tree.ts";

/** A running embedded Temporal. */
export interface Temporal {
  /** Of the server: `1.29.1`. */
  readonly version: string;
  /** Host and port that clients and workers connect to. */
  readonly address: string;
  readonly namespace: string;
  /**
   * Path of a file that tells clients so, for `TEMPORAL_CONFIG_FILE` or `temporal --config-file`. With it, what the
   * user's own configuration says of other servers is left out.
   */
  readonly clientConfig: string;
  /** URL of the Web UI. */
  readonly ui: string;
  readonly process: ProcessId;
  /** Settles when the server has ended, whether asked to or not, with the telling line of its log. */
  readonly ended: Promise<string>;
  /** Writes everything down and ends. At most four seconds. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";
const STOP_MS = 3_500;
const START_MS = 60_000;
const ERROR_LINE = /\b(level=error|fatal|panic|Error|error)\b/;

/**
 * Starts a Temporal server with its Web UI and its state in a file, finding or getting the server first.
 *
 * @param dataDir existing folder of all state; the server's file is `temporal/state.db` in it
 * @param ports TCP ports on 127.0.0.1, free
 * @param settings how the server is set up: `temporal.yaml`
 * @param options.progress called with what is being done, when it takes long
 * @param options.tree that the server becomes part of, as the last but one to be stopped
 * @throws {EmbeddedError} there is no server, or it can't start, with the reason that it gave
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
  const { path, version } = await findTemporal(settings.embedded.version, progress, tree);
  await refuseUsedPorts(ports);
  mkdirSync(join(dataDir, "temporal"), { recursive: true, mode: 0o700 });
  const server = await launch(dataDir, tree, {
    ...{ name: "Temporal", logName: "temporal", errorLine: ERROR_LINE },
    ...{ program: path, args: flags(dataDir, ports, settings) },
    options: { env: { PATH: process.env.PATH, HOME: process.env.HOME } },
    ...{ signal: "SIGTERM", stopMs: STOP_MS, rank: 2 },
  });
  const { namespace } = settings;
  const address = `${HOST}:${ports.grpc}`;
  const clientConfig = join(dataDir, "temporal", "client.toml");
  try {
    writeFileSync(clientConfig, tomlProfile({ address, namespace }));
    await answers(address, namespace, server.ended);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const ui = `http://${HOST}:${ports.ui}`;
  return { version, address, namespace, clientConfig, ui, ...server };
}

/** A client's configuration file with one profile. @see https://docs.temporal.io/develop/environment-configuration */
function tomlProfile(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return ["[profile.default]", ...lines, ""].join("\n");
}

/** Another server on the port would answer in place of ours, and be taken for it. */
async function refuseUsedPorts(ports: { readonly grpc: number; readonly ui: number }) {
  for (const port of [ports.grpc, ports.ui]) {
    if (await checkPort(port, HOST) === undefined) continue;
    throw new EmbeddedError(`Temporal could not start: port ${port} is in use`);
  }
}

function flags(
  dataDir: string,
  ports: { readonly grpc: number; readonly ui: number },
  { namespace, search_attributes, embedded }: Parameters<typeof startTemporal>[2],
): string[] {
  const each = (
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
    ...each("--sqlite-pragma", embedded.sqlite),
    ...each("--dynamic-config-value", embedded.dynamic_config, JSON.stringify),
    ...each("--search-attribute", search_attributes),
  ];
}

/** Waits until the server answers for the namespace. */
async function answers(address: string, namespace: string, ended: Promise<string>): Promise<void> {
  let reason: string | undefined;
  ended.then((line) => reason = line);
  const deadline = Date.now() + START_MS;
  const connection = Connection.lazy({ address });
  try {
    while (true) {
      if (reason !== undefined) throw new EmbeddedError(`Temporal could not start: ${reason}`);
      try {
        const work = () => connection.workflowService.describeNamespace({ namespace });
        await connection.withDeadline(Date.now() + 1_000, work);
        return;
      } catch (error) {
        if (Date.now() > deadline) {
          throw new EmbeddedError(`Temporal took longer than ${START_MS / 1000} s to start`, {
            cause: error,
          });
        }
      }
      await sleep(25);
    }
  } finally {
    await connection.close();
  }
}
