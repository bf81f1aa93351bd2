import { execFileSync, type SpawnOptions, spawnSync } from "node:child_process";
import { chownSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EmbeddedError } from "./_errors.ts";

/**
 * How to run PostgreSQL, which refuses to run as root, as somebody else than root.
 *
 * `uid` and `gid` own its files; undefined where we are not root and nothing is to be done.
 */
export interface ServerUser {
  readonly name: "self" | "account" | "namespace";
  readonly uid?: number;
  readonly gid?: number;
  /** Program and arguments to spawn so that `argv` runs as this user. */
  command(argv: readonly string[]): [program: string, args: string[], options: SpawnOptions];
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const self: ServerUser = { name: "self", command: ([program, ...args]) => [program!, args, {}] };

/**
 * Finds who can run the server, in this order: us, when we are not root; the account `postgres`, where there is one
 * and it can reach the binaries and the data; root inside a user namespace in which it is not root, which works below
 * folders that are root's alone; the account `postgres` made now, where namespaces are forbidden, as in containers.
 *
 * Existing data that is root's own stays with the namespace where it can; else it is handed over to whoever is found.
 *
 * @param binary absolute path of `postgres`
 * @param home existing folder in which the server's data is
 * @param data the server's data, which may not exist yet
 * @throws {EmbeddedError} nobody can
 */
export function findServerUser(binary: string, home: string, data: string): ServerUser {
  if (process.getuid?.() !== 0) return self;
  const can = (user: ServerUser | undefined) => reachable(user, binary, home);
  const keepsRoots = lstatSync(data, { throwIfNoEntry: false })?.uid === 0;
  const found = (keepsRoots ? undefined : can(accountUser())) ?? can(namespaceUser()) ??
    can(accountUser() ?? makeAccount());
  if (!found) {
    throw new EmbeddedError(
      "PostgreSQL can't run as root, and there is nobody else to run it: " +
        "start as another user, allow user namespaces (`unshare --user`), or let the user postgres " +
        `reach ${dirname(binary)} and ${home}`,
    );
  }
  handOver(data, found);
  return found;
}

/** Makes a folder that belongs to the server's user and is closed to others. */
export function makeOwnFolder(path: string, user: ServerUser): void {
  mkdirSync(path, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid!);
}

function accountUser(): ServerUser | undefined {
  const account = accounts().find(({ name }) => name === "postgres");
  if (!account || account.uid === 0) return undefined;
  const { uid, gid } = account;
  return {
    name: "account",
    uid,
    gid,
    command: ([program, ...args]) => [program!, args, { uid, gid }],
  };
}

function namespaceUser(): ServerUser | undefined {
  // initdb looks its own user up, so the number inside must be somebody's; outside it stays root's.
  const inside = accounts().find(({ uid }) => uid > 0 && uid < 65_534);
  if (process.platform !== "linux" || !inside) return undefined;
  const map = ["--user", `--map-user=${inside.uid}`, `--map-group=${inside.gid}`, "--"];
  return {
    name: "namespace",
    uid: 0,
    gid: 0,
    command: (argv) => ["unshare", [...map, ...argv], {}],
  };
}

function makeAccount(): ServerUser | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    execFileSync("useradd", ["--system", "--user-group", "--no-create-home", "postgres"], {
      stdio: "ignore",
    });
  } catch {
    return undefined;
  }
  return accountUser();
}

/** Gives the user back if it can run the binary and enter the folder. */
function reachable(
  user: ServerUser | undefined,
  binary: string,
  home: string,
): ServerUser | undefined {
  if (!user) return undefined;
  const check = ["/bin/sh", "-c", '"$1" --version && test -x "$2"', "sh", binary, home];
  const [program, args, options] = user.command(check);
  return spawnSync(program, args, { ...options, stdio: "ignore" }).status === 0 ? user : undefined;
}

function handOver(path: string, user: ServerUser): void {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || user.uid === undefined || owner === user.uid) return;
  // The top goes last: it says whose all the rest is, also when this is cut short.
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(path, entry), user.uid, user.gid!);
  }
  chownSync(path, user.uid, user.gid!);
}

function accounts(): Account[] {
  return readFileSync("/etc/passwd", "utf8").split("\n").filter(Boolean).map((line) => {
    const [name = "", , uid, gid] = line.split(":");
    return { name, uid: Number(uid), gid: Number(gid) };
  });
}
