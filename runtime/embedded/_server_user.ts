import { execFileSync, type SpawnOptions, spawnSync } from "node:child_process";
import { chownSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EmbeddedError } from "./_errors.ts";

/**
 * The user that runs PostgreSQL, which refuses to run as root.
 *
 * `uid` and `gid` own its files; absent where this process is not root.
 */
export interface ServerUser {
  readonly name: "self" | "account" | "namespace";
  readonly uid?: number;
  readonly gid?: number;
  /** Returns program, arguments and options to spawn so that `argv` runs as this user. */
  command(argv: readonly string[]): [program: string, args: string[], options: SpawnOptions];
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const self: ServerUser = { name: "self", command: ([program, ...args]) => [program!, args, {}] };

/**
 * Finds a user that can run the server, in this order: this one, where it is not root; the account `postgres`, where it
 * exists and can reach the binaries and the data; root inside a user namespace in which it has another id, which works
 * below folders of root alone; a new account `postgres`, where namespaces are forbidden, as in containers.
 *
 * Data that belongs to root stays with the namespace where that works. Else it is handed over to the user.
 *
 * @param binary absolute path of `postgres`
 * @param home existing folder that contains the server's data
 * @param data the server's data, which may not exist yet
 * @throws {EmbeddedError} no user can
 */
export function findServerUser(binary: string, home: string, data: string): ServerUser {
  if (process.getuid?.() !== 0) return self;
  const ifAble = (user: ServerUser | undefined) => canRun(user, binary, home);
  const belongsToRoot = lstatSync(data, { throwIfNoEntry: false })?.uid === 0;
  const found = (belongsToRoot ? undefined : ifAble(accountUser())) ?? ifAble(namespaceUser()) ??
    ifAble(accountUser() ?? createAccount());
  if (!found) {
    throw new EmbeddedError(
      "Cannot start PostgreSQL: it refuses to run as root, and no other user can run it. Either " +
        "start as another user, allow user namespaces (`unshare --user`), or let the user postgres " +
        `reach ${dirname(binary)} and ${home}`,
    );
  }
  handOver(data, found);
  return found;
}

/** Creates a folder that belongs to the server's user and is closed to others. */
export function makeOwnFolder(path: string, user: ServerUser): void {
  mkdirSync(path, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid!);
}

function accountUser(): ServerUser | undefined {
  const account = readAccounts().find(({ name }) => name === "postgres");
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
  // initdb looks up the name of its user, so the id inside must exist. Outside it stays that of root.
  const inside = readAccounts().find(({ uid }) => uid > 0 && uid < 65_534);
  if (process.platform !== "linux" || !inside) return undefined;
  const map = ["--user", `--map-user=${inside.uid}`, `--map-group=${inside.gid}`, "--"];
  return {
    name: "namespace",
    uid: 0,
    gid: 0,
    command: (argv) => ["unshare", [...map, ...argv], {}],
  };
}

function createAccount(): ServerUser | undefined {
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

/** Returns the user if it can run the binary and enter the folder. */
function canRun(
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
  // The folder itself goes last: its owner shows whether all of its content was handed over.
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    lchownSync(join(path, entry), user.uid, user.gid!);
  }
  chownSync(path, user.uid, user.gid!);
}

function readAccounts(): Account[] {
  return readFileSync("/etc/passwd", "utf8").split("\n").filter(Boolean).map((line) => {
    const [name = "", , uid, gid] = line.split(":");
    return { name, uid: Number(uid), gid: Number(gid) };
  });
}
