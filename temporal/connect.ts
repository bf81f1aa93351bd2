import { Client, Connection } from "@temporalio/client";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";
import type { Config } from "../config.ts";
import { Problem } from "../contract/mod.ts";

/**
 * Where Temporal is, by its SDK's own environment configuration (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`,
 * `TEMPORAL_TLS_…`, a profile of `TEMPORAL_CONFIG_FILE`), with the namespace of `temporal.yaml` as the default.
 */
function place(config: Config) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return { connectionOptions, namespace: namespace ?? config.temporal.namespace };
}

/** A connection of clients: starts, signals and asks workflows. */
export interface TemporalConnection {
  readonly client: Client;
  readonly namespace: string;
  close(): Promise<void>;
}

/** Connects a client. @throws where nothing answers within ten seconds */
export async function connectTemporal(config: Config): Promise<TemporalConnection> {
  const { connectionOptions, namespace } = place(config);
  const connection = await Connection.connect({
    ...connectionOptions as Parameters<typeof Connection.connect>[0],
    connectTimeout: "10s",
  });
  return {
    client: new Client({ connection, namespace }),
    namespace,
    close: () => connection.close(),
  };
}

/** Connects a worker. */
export async function connectWorker(
  config: Config,
): Promise<{ connection: NativeConnection; namespace: string }> {
  const { connectionOptions, namespace } = place(config);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}

/** Connects when it is first asked for, and again after that failed. */
export function lazyTemporal(
  config: Config,
): { client(): Promise<Client>; close(): Promise<void> } {
  let connecting: Promise<TemporalConnection> | undefined;
  return {
    async client() {
      connecting ??= connectTemporal(config);
      try {
        return (await connecting).client;
      } catch (cause) {
        connecting = undefined;
        throw new Problem("Unavailable", "Temporal can't be reached; nothing was started", {
          cause,
        });
      }
    },
    async close() {
      await connecting?.then((c) => c.close(), () => {});
    },
  };
}
