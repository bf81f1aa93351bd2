/** PgBouncer from Debian's packages, run without an installation, with the libraries of its release. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Role } from "../../store/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { type TestDatabase, testPostgres } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { debianCommand, unpackDebian } from "./_debian.ts";

/** A release of Debian by its PgBouncer, with the libraries that differ in name. */
const RELEASES = {
  "1.18": { name: "bookworm", libraries: ["libc-ares2", "libevent-2.1-7", "libssl3", "liblz4-1"] },
  "1.24": { name: "trixie", libraries: ["libcares2", "libevent-2.1-7t64", "libssl3t64", "zlib1g"] },
} as const;
const LIBRARIES = [
  "libc6",
  "libpam0g",
  "libaudit1",
  "libcap-ng0",
  "libsystemd0",
  "libcap2",
  "libzstd1",
  "liblzma5",
  "libgcrypt20",
  "libgpg-error0",
];
/** User that it runs as where this process is root's, which it refuses to be. */
const NOBODY = 65_534;

/** A version that Debian has. */
export type Version = keyof typeof RELEASES;

/** A running pooler before the tests' PostgreSQL. */
export interface PgBouncer {
  /** Connection strings through it, by role. */
  readonly urls: Readonly<Record<Role, string>>;
  stop(): Promise<void>;
}

/** Unpacks a version. @returns the reason why it can't be done here; undefined: it is done */
export async function unpackPgBouncer(
  version: Version,
  folder: string,
): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "needs Linux on x64";
  const { name, libraries } = RELEASES[version];
  return await unpackDebian(["pgbouncer", ...libraries, ...LIBRARIES], folder, name);
}

/**
 * Starts one before a database.
 *
 * @param folder that a version was unpacked into
 * @param size most server connections
 */
export async function startPgBouncer(
  folder: string,
  { urls }: Pick<TestDatabase, "urls">,
  { version, mode, size }: {
    readonly version: Version;
    readonly mode: "session" | "transaction";
    readonly size: number;
  },
): Promise<PgBouncer> {
  const home = await testFolder();
  const port = await freePort();
  const server = await testPostgres();
  const all = Object.values(urls).map((url) => new URL(url));
  const logins = all.map(({ username, password }) => `"${username}" "${password}"\n`);
  const path = (name: string) => join(home, name);
  await writeFile(path("users"), logins.join(""));
  await writeFile(
    path("pgbouncer.ini"),
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${path("users")}
pool_mode = ${mode}
max_db_connections = ${size}
default_pool_size = ${size}
max_client_conn = 1000
stats_users = sealoop_gateway
logfile = ${path("log")}
${version === "1.18" ? "" : "max_prepared_statements = 200"}
`,
  );
  const isRoot = process.getuid?.() === 0;
  const [uid, gid] = isRoot ? [NOBODY, NOBODY] : [process.getuid!(), process.getgid!()];
  for (const name of [home, path("users"), path("pgbouncer.ini")]) {
    await chown(name, uid, gid);
  }
  await chmod(home, 0o755);
  const [loader, ...args] = debianCommand(folder, "usr/sbin/pgbouncer");
  const child = spawn(loader, [...args, "-q", path("pgbouncer.ini")], {
    uid,
    gid,
    cwd: home,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "close");
  await eventually(() => isOpen(port));
  const through = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
  return {
    urls: Object.fromEntries(
      Object.entries(urls).map(([role, url]) => [role, through(url)]),
    ) as TestDatabase["urls"],
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function isOpen(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(undefined));
  });
}
