/** Programs of others that the cluster's tests run. Each is downloaded once, or built, into the user's cache. */
import { buildGo, type Download, installPython } from "../_download.ts";

/** Builds Temporal's server, which runs one service each, and the tool that makes its tables. */
export const fetchTemporal = (): Promise<Download> =>
  buildGo(
    "temporal-server",
    "go.temporal.io/server/cmd/server",
    "go.temporal.io/server/cmd/tools/sql",
  );

/** Installs Patroni, etcd and PostgreSQL with all its programs. @returns the environment of Python */
export const fetchPatroni = (): Promise<Download> =>
  installPython("cluster", ["--no-deps"], "cluster-sources");
