/** HAProxy from Debian's package, run without an installation. */
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { debianCommand, unpackDebian } from "../remote/_debian.ts";
import { type Program, startProgram } from "./_program.ts";

/** The package, and the libraries of its release. */
const PACKAGES = [
  "haproxy",
  "liblua5.3-0",
  "libopentracing-c-wrapper0",
  "libopentracing1",
  "libpcre2-8-0",
  "libssl3",
  "libsystemd0",
  "libcrypt1",
  "libc6",
  "libgcc-s1",
  "libstdc++6",
  "libcap2",
  "libgcrypt20",
  "liblzma5",
  "libzstd1",
  "liblz4-1",
  "libgpg-error0",
];

/** A server behind the proxy. */
export interface Backend {
  readonly port: number;
  /** Port of its `/readyz`. */
  readonly probe: number;
}

/** A running proxy. */
export interface HaProxy {
  /** Addresses by the names of the services, without a slash at the end. */
  readonly urls: Readonly<Record<string, string>>;
  /** Returns the end of its log: which servers it took for away, and why. */
  log(): string;
  stop(): Promise<void>;
}

/** Unpacks it. @returns the reason why it can't be done here; undefined: it is done */
export async function unpackHaProxy(folder: string): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "needs Linux on x64";
  return await unpackDebian(PACKAGES, folder, "bookworm");
}

/** Starts it before the members of a database: connections lead to the primary, and end with it. */
export function startPrimaryProxy(folder: string, members: readonly Backend[]): Promise<HaProxy> {
  return start(folder, { database: members }, describePrimary);
}

/**
 * Starts it before services of several servers each. It asks each server for `/readyz` twice a second, and sends requests to
 * those that are ready, or were so one of the last three times. It repeats nothing that a server has received.
 *
 * @param folder that it was unpacked into
 */
export function startHaProxy(
  folder: string,
  services: Readonly<Record<string, readonly Backend[]>>,
): Promise<HaProxy> {
  return start(folder, services, describeService);
}

async function start(
  folder: string,
  services: Readonly<Record<string, readonly Backend[]>>,
  describe: (name: string, port: number, servers: readonly Backend[]) => string,
): Promise<HaProxy> {
  const names = Object.keys(services);
  const ports = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await freePort()] as const)),
  );
  const config = join(folder, "haproxy.cfg");
  const sections = names.map((name) => describe(name, ports[name]!, services[name]!));
  await writeFile(config, HEAD + sections.join(""));
  const proxy: Program = startProgram(
    [...debianCommand(folder, "usr/sbin/haproxy"), "-db", "-f", config],
    { log: join(folder, "haproxy.log") },
  );
  const urls = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${ports[name]}`]));
  await eventually(async () => {
    if (!proxy.isRunning()) throw new Error(`HAProxy ended:\n${proxy.log()}`);
    return await isOpen(ports[names[0]!]!);
  });
  return { urls, log: proxy.log, stop: () => proxy.end("SIGKILL") };
}

const HEAD = `global
  maxconn 4000
  log stdout format raw local0 notice
defaults
  mode http
  log global
  option log-health-checks
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  timeout http-keep-alive 60s
  timeout check 3s
  option redispatch
  retries 3
  retry-on conn-failure
  default-server check inter 500ms fall 3 rise 1
`;

const list = (name: string, servers: readonly Backend[]) =>
  servers.map(({ port, probe }, n) =>
    `  server ${name}${n + 1} 127.0.0.1:${port} check port ${probe}\n`
  )
    .join("");

function describeService(name: string, port: number, servers: readonly Backend[]): string {
  return `listen ${name}
  bind 127.0.0.1:${port}
  option forwardfor
  option httpchk GET /readyz
  http-check expect status 200
${list(name, servers)}`;
}

function describePrimary(name: string, port: number, servers: readonly Backend[]): string {
  return `listen ${name}
  mode tcp
  bind 127.0.0.1:${port}
  timeout client 1h
  timeout server 1h
  option httpchk GET /primary
  http-check expect status 200
  default-server on-marked-down shutdown-sessions
${list(name, servers)}`;
}

function isOpen(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(undefined));
  });
}
