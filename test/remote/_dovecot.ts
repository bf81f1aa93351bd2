/** Dovecot's IMAP server from Debian's packages, unpacked into a cache and run without an installation. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGES = ["dovecot-core", "dovecot-imapd"];
/** User that the server runs as where this process is root's, which Dovecot refuses to serve. */
const NOBODY = 65_534;

/** A running server of one mailbox. Its clients are logged in already. */
export interface Dovecot {
  readonly port: number;
  /** The mailbox, in the Maildir form. */
  readonly maildir: string;
  close(): Promise<void>;
}

/**
 * Unpacks the packages, which are downloaded once.
 *
 * @param folder to unpack them into; others can read it, as the server may be another user's
 * @returns the reason why it can't be done here; undefined: it is done
 */
export async function unpackDovecot(folder: string): Promise<string | undefined> {
  const cache = join(homedir(), ".cache", "sealoop", "debian");
  try {
    if ((await packagesIn(cache)).length < PACKAGES.length) {
      await mkdir(cache, { recursive: true });
      await run("apt-get", ["download", ...PACKAGES], { cwd: cache });
    }
    for (const path of await packagesIn(cache)) await run("dpkg-deb", ["-x", path, folder]);
    await chmod(folder, 0o755);
    return undefined;
  } catch (error) {
    return `Dovecot can't be had from Debian here: ${(error as Error).message.split("\n")[0]}`;
  }
}

async function packagesIn(cache: string): Promise<string[]> {
  const names = await readdir(cache).catch(() => []);
  return PACKAGES.flatMap((one) => {
    const name = names.filter((name) => name.startsWith(`${one}_`)).sort().at(-1);
    return name === undefined ? [] : [join(cache, name)];
  });
}

/** Serves a mailbox on loopback: a process of Dovecot for each connection. @param home empty folder */
export async function startDovecot(folder: string, home: string): Promise<Dovecot> {
  const isRoot = process.getuid?.() === 0;
  const [uid, gid] = isRoot ? [NOBODY, NOBODY] : [process.getuid!(), process.getgid!()];
  await chown(home, uid, gid);
  const maildir = join(home, "mailbox");
  const libraries = join(folder, "usr", "lib", "dovecot");
  const settings = {
    log_path: join(home, "log"),
    base_dir: home,
    mail_plugin_dir: home,
    mail_location: `maildir:${maildir}`,
    mail_uid: uid,
    mail_gid: gid,
    first_valid_uid: 1,
    first_valid_gid: 1,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  const configuration = join(home, "imap.conf");
  await writeFile(configuration, lines.join(""));
  const children = new Set<ReturnType<typeof spawn>>();
  const server = createServer((socket) => {
    const child = spawn(
      join(folder, "usr", "bin", "doveconf"),
      ["-c", configuration, "-f", "service=imap", "-m", "imap", "-e", join(libraries, "imap")],
      {
        uid,
        gid,
        cwd: home,
        env: { USER: "robot", HOME: home, LD_LIBRARY_PATH: libraries, PATH: process.env.PATH! },
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    const leave = () => {
      children.delete(child);
      socket.end();
    };
    children.add(child.on("exit", leave).on("error", leave));
    socket.on("error", () => {}).on("close", () => child.kill()).pipe(child.stdin);
    child.stdin.on("error", () => {});
    child.stdout.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    maildir,
    async close() {
      server.close();
      const ends = [...children].map((child) => once(child, "exit"));
      for (const child of children) child.kill();
      await Promise.all(ends);
    },
  };
}
