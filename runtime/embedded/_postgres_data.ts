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
import { type Role, ROLES } from "../../store/mod.ts";
import { readJson } from "./_data_folder.ts";
import { EmbeddedError } from "./_errors.ts";
import { openLog, readErrorLine } from "./_log_file.ts";
import type { PostgresBinaries } from "./_postgres_binaries.ts";
import { makeOwnFolder, type ServerUser } from "./_server_user.ts";
import { commandLine, identifyProcess, stopProcess } from "./process_id.ts";

/** Passwords by role. */
export type Passwords = Readonly<Record<Role | "superuser", string>>;

/** Name of the role that owns the server. */
export const SUPERUSER = "postgres";
/** Time that the server has to stop before it is killed. */
export const STOP_TIMEOUT_MS = 3_000;
/** Pattern of the lines of the server's log that report why it ended. */
export const ERROR_LINE = /\b(FATAL|PANIC|ERROR|error|cannot|could not)\b/;

/** Reads the passwords, or creates them. They are saved before a server gets them. */
export function loadPasswords(dataDir: string, exists: boolean): Passwords {
  const path = join(dataDir, "postgres.json");
  const names = ["superuser", ...Object.keys(ROLES)];
  const known = readJson(path) as Partial<Passwords> | undefined;
  if (known && names.every((name) => typeof known[name as Role] === "string")) {
    return known as Passwords;
  }
  if (exists) {
    throw new EmbeddedError(
      `Cannot open the database in ${dataDir}: ${path} is missing or damaged, which has its passwords. ` +
        "Restore it from a backup, or move the data folder away to start anew",
    );
  }
  const created = Object.fromEntries(names.map((name) => [name, randomBytes(24).toString("hex")]));
  writeFileSync(`${path}.new`, JSON.stringify(created, null, 2) + "\n", { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return created as Passwords;
}

/** Creates the server's data. It is moved to its place when it is complete. */
export async function createData(
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
    `PostgreSQL could not create its data: ${readErrorLine(dataDir, "initdb", ERROR_LINE)}`,
  );
}

/** Stops a server that a killed process left running on this data, and removes its pid file. */
export async function clearLeftovers(data: string): Promise<void> {
  const pidFile = join(data, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n", 1)[0]);
  const id = identifyProcess(pid);
  if (id && commandLine(pid).includes(data)) await stopProcess(id, "SIGINT", STOP_TIMEOUT_MS);
  // The file names a process that has ended, or another one that has its number by now.
  rmSync(pidFile, { force: true });
}

/** Returns the environment of the server, without variables of libpq or of the platform. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: "C" };
}
