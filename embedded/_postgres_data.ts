import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Role, ROLES } from "../store/mod.ts";
import { EmbeddedError } from "./_errors.ts";
import { openLog, readJson, telling } from "./_log_file.ts";
import type { PostgresBinaries } from "./_postgres_binaries.ts";
import { commandLine, identifyProcess, stopProcess } from "./_process_id.ts";
import { makeOwnFolder, type ServerUser } from "./_server_user.ts";

/** Passwords by role. */
export type Passwords = Readonly<Record<Role | "superuser", string>>;

/** Name of the role that owns the server. */
export const SUPERUSER = "postgres";
/** What the server is given to stop before it is killed, milliseconds. */
export const STOP_MS = 3_000;
/** Lines of the server's log that tell why it ended. */
export const ERROR_LINE = /\b(FATAL|PANIC|ERROR|error|cannot|could not)\b/;

/** Reads the passwords, or makes them: they are written down before a server knows them. */
export function passwordsOf(dataDir: string, exists: boolean): Passwords {
  const path = join(dataDir, "postgres.json");
  const names = ["superuser", ...Object.keys(ROLES)];
  const known = readJson(path) as Partial<Passwords> | undefined;
  if (known && names.every((name) => typeof known[name as Role] === "string")) {
    return known as Passwords;
  }
  if (exists) {
    throw new EmbeddedError(
      `${path} is missing or damaged, and with it the passwords of the database in ${dataDir}: ` +
        "bring it back from a backup, or move the data folder away to start anew",
    );
  }
  const made = Object.fromEntries(names.map((name) => [name, randomBytes(24).toString("hex")]));
  writeFileSync(`${path}.new`, JSON.stringify(made, null, 2) + "\n", { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made as Passwords;
}

/** Makes the server's data beside its place and moves it there when it is whole. */
export async function create(
  dataDir: string,
  data: string,
  binaries: PostgresBinaries,
  user: ServerUser,
  password: string,
): Promise<void> {
  for (const name of readdirSync(dataDir).filter((n) => n.startsWith("postgres.new-"))) {
    rmSync(join(dataDir, name), { recursive: true });
  }
  const folder = join(dataDir, `postgres.new-${process.pid}`);
  makeOwnFolder(folder, user);
  const secret = join(folder, "password");
  writeFileSync(secret, password, { mode: 0o600 });
  if (user.uid !== undefined) chownSync(secret, user.uid, user.gid!);
  await run(dataDir, user, [
    binaries.initdb,
    `--pgdata=${join(folder, "data")}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${secret}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
  ]);
  renameSync(join(folder, "data"), data);
  rmSync(folder, { recursive: true });
}

async function run(dataDir: string, user: ServerUser, argv: string[]): Promise<void> {
  const log = openLog(dataDir, "initdb");
  const [program, args, options] = user.command(argv);
  const child = spawn(program, args, {
    ...options,
    cwd: "/",
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const [code] = await once(child, "exit") as [number | null];
  if (code === 0) return;
  throw new EmbeddedError(
    `PostgreSQL could not set up its data: ${telling(dataDir, "initdb", ERROR_LINE)}`,
  );
}

/** Ends a server that runs on this data without us, and forgets one that did. */
export async function clearLeftovers(data: string): Promise<void> {
  const pidFile = join(data, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n", 1)[0]);
  const id = identifyProcess(pid);
  if (id && commandLine(pid).includes(data)) await stopProcess(id, "SIGINT", STOP_MS);
  // What is left names a process that ended, or another's that was given its number since.
  rmSync(pidFile, { force: true });
}

/** Nothing of ours: variables of libpq or of the platform are none of the server's business. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: "C" };
}
