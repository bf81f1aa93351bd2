import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowClientInterceptor,
} from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { NativeConnection } from "@temporalio/worker";
import type { Config } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { encloseCalls } from "./_client_calls.ts";
import { clientCodec } from "./payloads.ts";

/** Location of Temporal. */
export interface TemporalLocation {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
}

/** A connection of clients, which start, signal and query workflows. */
export interface TemporalConnection {
  readonly client: Client;
  readonly namespace: string;
  close(): Promise<void>;
}

/** A connection of workers. */
export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

/** A client that connects when it is first needed. */
export interface LazyTemporal {
  /** @throws {Problem} `Unavailable`: Temporal does not answer; the next call tries again */
  client(): Promise<Client>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT = "10s";
/** Attempts of one call with growing pauses, ten seconds in all, as somebody waits for the answer. */
const MAX_ATTEMPTS = 8;

/**
 * Reads the SDK's own environment configuration (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS_…`, a profile of
 * `TEMPORAL_CONFIG_FILE`). By default, the server is the embedded one, and the namespace that of `temporal.yaml`.
 */
function readSettings({ settings, temporal }: Config) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return {
    connectionOptions: {
      ...connectionOptions,
      address: connectionOptions.address ?? `127.0.0.1:${settings.SEALOOP_TEMPORAL_PORT}`,
    },
    namespace: namespace ?? temporal.namespace,
  };
}

/** Returns the location of Temporal by the settings. */
export function locateTemporal(config: Config): TemporalLocation {
  const { connectionOptions: { address }, namespace } = readSettings(config);
  return { address, namespace };
}

/** Statuses of runs on the wire. */
const RUNNING = 1;
const PAUSED = 8;

/** Shows paused runs as running: they go on once somebody lets them, and nothing of theirs may be ended meanwhile. */
const SHOW_PAUSED_AS_RUNNING: WorkflowClientInterceptor = {
  async describe(input, next) {
    const description = await next(input);
    const run = description.workflowExecutionInfo;
    if (run?.status === PAUSED) run.status = RUNNING;
    return description;
  },
};

/** Clients in the name of tenants, by the connection that they share and by the store of the tenant. */
const clients = new WeakMap<Client["connection"], WeakMap<Store, Client>>();

/**
 * Returns a client on the connection of another one, in the name of the store's tenant: private text of what it sends is
 * the tenant's, and it reads no other.
 */
export function clientFor({ connection, options: { namespace } }: Client, store: Store): Client {
  const known = clients.get(connection) ?? new WeakMap<Store, Client>();
  clients.set(connection, known);
  const client = known.get(store) ?? new Client({
    connection,
    namespace,
    dataConverter: { payloadCodecs: [clientCodec(store)] },
    interceptors: { workflow: [SHOW_PAUSED_AS_RUNNING, encloseCalls(store.tenant)] },
  });
  known.set(store, client);
  return client;
}

/**
 * Connects a client in the name of the store's tenant.
 *
 * @throws where nothing answers within ten seconds
 */
export async function connectTemporal(config: Config, store: Store): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = readSettings(config);
  const retry = defaultGrpcRetryOptions({ maxAttempts: MAX_ATTEMPTS });
  const connection = await Connection.connect({
    ...connectionOptions,
    connectTimeout: CONNECT_TIMEOUT,
    interceptors: [makeGrpcRetryInterceptor(retry)],
  });
  return {
    client: clientFor(new Client({ connection, namespace }), store),
    namespace,
    close: () => connection.close(),
  };
}

/** Connects a client that starts nothing, so that it needs no secret. @throws where nothing answers */
export async function connectBare(config: Config): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = readSettings(config);
  const connection = await Connection.connect({
    ...connectionOptions,
    connectTimeout: CONNECT_TIMEOUT,
  });
  return {
    client: new Client({ connection, namespace }),
    namespace,
    close: () => connection.close(),
  };
}

/** Connects a worker. @throws where nothing answers */
export async function connectWorker(config: Config): Promise<WorkerConnection> {
  const { NativeConnection } = await import("@temporalio/worker"); // loading it takes half a second, which clients don't need
  const { connectionOptions, namespace } = readSettings(config);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}

/** Opens a client that connects when it is first needed, and again after that failed. */
export function openLazyTemporal(config: Config, store: Store): LazyTemporal {
  let connecting: Promise<TemporalConnection> | undefined;
  let connected: TemporalConnection | undefined;
  return {
    async client() {
      const attempt = connecting ??= connectTemporal(config, store);
      try {
        connected = await attempt;
        return connected.client;
      } catch (cause) {
        if (connecting === attempt) connecting = undefined;
        throw new Problem("Unavailable", "Temporal can't be reached; nothing was started", {
          cause,
        });
      }
    },
    async close() {
      if (connected) return await connected.close();
      // Closing does not wait for a server that doesn't answer.
      connecting?.then((late) => late.close()).catch(() => {});
    },
  };
}
