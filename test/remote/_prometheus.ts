/**
 * Prometheus from Debian's package and Alertmanager from its Go module, run on loopback. Alertmanager wants a password.
 * Debian's Alertmanager runs only where it is installed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildGo, type Download } from "../_download.ts";
import { freePort } from "../_run.ts";
import { unpackDebian } from "./_debian.ts";

/** User and password of Alertmanager. */
export const CREDENTIAL = "sealoop:password-of-the-test";
/** The password's bcrypt, made once. */
const HASH = "$2b$04$nsUUmwStxFI6ixAqfWJkZuyUTD/bTE79L68W6vs2R6d7mEJj0kPW.";

/** Running servers. */
export interface Monitoring {
  readonly alertmanager: string;
  /** Stops Prometheus alone: an alert that it does not send any more ends by itself within half a minute. */
  stopPrometheus(): void;
  stop(): Promise<void>;
}

/** Gets both. @returns where Alertmanager is, or the reason why it can't be done here */
export async function getMonitoring(folder: string): Promise<Download> {
  const missing = await unpackDebian(["prometheus"], folder);
  if (missing !== undefined) return { missing };
  return await buildGo("alertmanager", "github.com/prometheus/alertmanager/cmd/alertmanager");
}

/**
 * Starts both, and waits until they answer. Everything is measured each second.
 *
 * @param alertmanager folder of Alertmanager
 * @param folder with Prometheus; data come there, too
 * @param targets to scrape at /metrics, by their job
 * @param rules of alerts, YAML
 */
export async function startMonitoring(
  alertmanager: string,
  folder: string,
  { targets, rules }: {
    readonly targets: Readonly<Record<string, string>>;
    readonly rules: string;
  },
): Promise<Monitoring> {
  const [alertPort, port] = [await freePort(), await freePort()];
  const path = (name: string) => join(folder, name);
  const [user, password] = CREDENTIAL.split(":");
  await writeFile(path("web.yml"), JSON.stringify({ basic_auth_users: { [user!]: HASH } }));
  const none = { route: { receiver: "none" }, receivers: [{ name: "none" }] };
  await writeFile(path("alertmanager.yml"), JSON.stringify(none));
  await writeFile(path("rules.yml"), rules);
  const jobs = Object.entries(targets)
    .map(([job_name, target]) => ({ job_name, static_configs: [{ targets: [target] }] }));
  await writeFile(
    path("prometheus.yml"),
    JSON.stringify({
      global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
      rule_files: [path("rules.yml")],
      scrape_configs: jobs,
      alerting: {
        alertmanagers: [{
          basic_auth: { username: user, password },
          static_configs: [{ targets: [`127.0.0.1:${alertPort}`] }],
        }],
      },
    }),
  );
  const servers = [
    await start(join(alertmanager, "alertmanager"), `http://127.0.0.1:${alertPort}`, [
      `--config.file=${path("alertmanager.yml")}`,
      `--web.config.file=${path("web.yml")}`,
      `--storage.path=${path("alertmanager")}`,
      `--web.listen-address=127.0.0.1:${alertPort}`,
      "--cluster.listen-address=",
      "--log.level=error",
    ]),
    await start(path("usr/bin/prometheus"), `http://127.0.0.1:${port}`, [
      `--config.file=${path("prometheus.yml")}`,
      `--storage.tsdb.path=${path("data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--rules.alert.resend-delay=5s",
      "--log.level=error",
    ]),
  ];
  return {
    alertmanager: `http://127.0.0.1:${alertPort}`,
    stopPrometheus: () => void servers[1]!.kill("SIGKILL"),
    async stop() {
      const running = servers.filter(({ exitCode, signalCode }) =>
        (exitCode ?? signalCode) === null
      );
      const ends = running.map((server) => once(server, "exit"));
      for (const server of running) server.kill("SIGKILL");
      await Promise.all(ends);
    },
  };
}

async function start(
  program: string,
  url: string,
  args: readonly string[],
): Promise<ChildProcess> {
  const server = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  for (let n = 0; n < 200; n++) {
    if (await fetch(url).then(() => true, () => false)) return server;
    if (server.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  server.kill("SIGKILL");
  throw new Error(`${program} does not answer at ${url}`);
}
