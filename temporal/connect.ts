import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type Metadata,
} from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { NativeConnection } from "@temporalio/worker";
import type { Config } from "../config.ts";
import { Problem } from "../contract/mod.ts";

/** Where Temporal is. */
export interface TemporalLocation {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
}

/** A connection of clients: starts, signals and asks workflows. */
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

const CONNECT_WITHIN = "10s";
/** Attempts of one call with growing pauses, ten seconds in all: somebody waits for the answer. */
const ATTEMPTS = 8;

/**
 * By the SDK's own environment configuration (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS_…`, a profile of
 * `TEMPORAL_CONFIG_FILE`), with the embedded server's port and the namespace of `temporal.yaml` where it names none.
 */
function settingsOf({ settings, temporal }: Config) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return {
    connectionOptions: {
      ...connectionOptions,
      address: connectionOptions.address ?? `127.0.0.1:${settings.SEALOOP_TEMPORAL_PORT}`,
    },
    namespace: namespace ?? temporal.namespace,
  };
}

/** Where Temporal is, as far as settings tell. */
export function locateTemporal(config: Config): TemporalLocation {
  const { connectionOptions: { address }, namespace } = settingsOf(config);
  return { address, namespace };
}

/**
 * A connection that lets go of the context of its calls when none is under way, as the SDK does when it is closed. On Node
 * before 24 each promise of a process takes three times as long from the first call on otherwise, and a tool a tenth longer.
 */
class RestingConnection extends Connection {
  #underWay = 0;

  override withDeadline<R>(deadline: number | Date, work: () => Promise<R>): Promise<R> {
    return this.#within(() => super.withDeadline(deadline, work));
  }
  override withAbortSignal<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    return this.#within(() => super.withAbortSignal(signal, work));
  }
  override withMetadata<R>(metadata: Metadata, work: () => Promise<R>): Promise<R> {
    return this.#within(() => super.withMetadata(metadata, work));
  }

  async #within<R>(call: () => Promise<R>): Promise<R> {
    this.#underWay++;
    try {
      return await call();
    } finally {
      if (--this.#underWay === 0) this.callContextStorage.disable();
    }
  }
}

/** Connects a client. @throws where nothing answers within ten seconds */
export async function connectTemporal(config: Config): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = settingsOf(config);
  const connection = await RestingConnection.connect({
    ...connectionOptions,
    connectTimeout: CONNECT_WITHIN,
    interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: ATTEMPTS }))],
  });
  return {
    client: new Client({ connection, namespace }),
    namespace,
    close: () => connection.close(),
  };
}

/** Connects a worker. @throws where nothing answers */
export async function connectWorker(config: Config): Promise<WorkerConnection> {
  const { NativeConnection } = await import("@temporalio/worker"); // half a second of a core, which others spare
  const { connectionOptions, namespace } = settingsOf(config);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}

/** A client that is connected when it is first asked for. */
export interface LazyTemporal {
  /** @throws {Problem} `Unavailable`: Temporal does not answer; the next call tries again */
  client(): Promise<Client>;
  close(): Promise<void>;
}

/** Connects when it is first asked for, and again after that failed. */
export function openLazyTemporal(config: Config): LazyTemporal {
  let connecting: Promise<TemporalConnection> | undefined;
  let connected: TemporalConnection | undefined;
  return {
    async client() {
      connecting ??= connectTemporal(config);
      try {
        connected = await connecting;
        return connected.client;
      } catch (cause) {
        connecting = undefined;
        throw new Problem("Unavailable", "Temporal can't be reached; nothing was started", {
          cause,
        });
      }
    },
    async close() {
      if (connected) return await connected.close();
      // Whoever stops doesn't wait for somebody who doesn't answer.
      connecting?.then((late) => late.close()).catch(() => {});
    },
  };
}
