/** A gateway with a sequencer and a log, for the real agent: what it enrols at, and the machines that do. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { type LogWriter, openLog, readLogSettings, runSequencer } from "../../../ledger/mod.ts";
import { readDeviceRoots } from "../../../operations/devices/protocol/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { replaceTenantToken } from "../../../store/keys/mod.ts";
import { startGateway, type TestGateway } from "../../api/_gateway.ts";
import { freePort, testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A gateway of a test whose ledger seals and publishes checkpoints. */
export interface DeviceGateway extends TestGateway {
  /** Issues the token by which machines of a tenant enrol; the one before ends. */
  token(tenant: string): Promise<string>;
  /** Fetches the install script of a tenant. */
  script(token: string): Promise<string>;
}

/** Starts one. @param settings by the names of environment variables */
export async function startDeviceGateway(
  settings: Readonly<Record<string, string>> = {},
): Promise<DeviceGateway> {
  const [port, folder] = await Promise.all([freePort(), testFolder()]);
  const own = {
    SEALOOP_DATA: folder,
    SEALOOP_GATEWAY_URL: `http://127.0.0.1:${port}`,
    ...settings,
  };
  const gateway = await startGateway({ settings: own, port });
  const store = openStore(gateway.urls.sequencer, "sequencer");
  const keyFile = join(folder, "ledger.key");
  const stop = new AbortController();
  const logEnd = new AbortController();
  let log: LogWriter | undefined;
  const sequencer = runSequencer({
    store,
    keyFile,
    signal: stop.signal,
    onStart() {
      const onTrouble = (error: unknown) => console.error(error);
      log = openLog({
        ...readLogSettings(loadConfig(own)),
        store,
        signal: logEnd.signal,
        onTrouble,
      });
    },
    onLeaves: (...added) => log?.add(...added),
  });
  await eventually(() => readDeviceRoots(gateway.platform.store).catch(() => undefined));
  return {
    ...gateway,
    async token(tenant) {
      await gateway.key({ tenant }); // makes the tenant
      const expiresAt = new Date(Date.now() + DAY_MS);
      const { token } = await gateway.platform.store.asTenant(tenant).transaction((trx) =>
        replaceTenantToken(trx, expiresAt)
      );
      return token;
    },
    async script(token) {
      const answer = await fetch(`${gateway.url}/v1/devices/agent/install/${token}`);
      if (!answer.ok) throw new Error(await answer.text());
      return await answer.text();
    },
    async stop() {
      stop.abort();
      await sequencer;
      logEnd.abort();
      await log?.ended;
      await store.close();
      await gateway.stop();
    },
  };
}

/** The end of an installation. */
export interface Installed {
  readonly code: number;
  readonly output: string;
  /** Folder of the agent's program and its state. */
  readonly folder: string;
}

/**
 * Runs an install script for one user, in a folder of its own.
 *
 * @param options `home`: default a new folder; `args` and `env` besides
 */
export async function install(
  script: string,
  { home, args = [], env = {} }: {
    home?: string;
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Installed> {
  const parent = home ?? await testFolder();
  const folder = join(parent, "agent");
  const path = join(await testFolder(), "install.sh");
  await writeFile(path, script, { mode: 0o600 });
  const words = [path, "--user", "--folder", folder, ...args];
  return await new Promise((resolve) => {
    execFile("sh", words, { env: { ...process.env, HOME: parent, ...env } }, (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), output: out + err, folder });
    });
  });
}
