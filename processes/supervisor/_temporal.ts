import { logPath, startTemporal } from "../../runtime/embedded/mod.ts";
import type { Supervisor } from "./_supervisor.ts";
import { describeServer } from "../_presence.ts";
import { keepServer } from "./kept_server.ts";
import { type Environment, temporalEnvironment, usesOwnTemporal } from "./process_list.ts";

/** Settings by which processes reach Temporal. */
export interface TemporalAccess {
  readonly env: Environment;
  /** URL of the Web UI, if the platform started it. */
  readonly ui?: string;
}

/** Starts Temporal, unless the environment names one. */
export async function bringUpTemporal(supervisor: Supervisor): Promise<TemporalAccess> {
  const { config: { settings, temporal, dataDir }, env, progress, tree, restarted, kept, fail } =
    supervisor;
  if (usesOwnTemporal(env)) return { env: temporalEnvironment(env) };
  const ports = { grpc: settings.SEALOOP_TEMPORAL_PORT, ui: settings.SEALOOP_TEMPORAL_UI_PORT };
  const { clientConfig, ui } = await progress.step("Temporal", {
    async run(report) {
      const server = await keepServer({
        title: "Temporal",
        log: logPath(dataDir, "temporal"),
        start: () => startTemporal(dataDir, ports, temporal, { progress: report, tree }),
        print: progress.news,
        fail,
      });
      restarted.push(server);
      kept.push(() => describeServer("temporal", dataDir, server));
      return server.current();
    },
    describe: ({ version, address }) => `${version} on ${address}`,
  });
  return { env: { TEMPORAL_CONFIG_FILE: clientConfig }, ui };
}
