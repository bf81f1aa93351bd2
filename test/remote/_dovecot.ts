/** Dovecot's IMAP server from Debian's packages, run without an installation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { unpackDebian } from "./_debian.ts";

/** User that the server runs as where this process is root's, which Dovecot refuses to serve. */
const NOBODY = 65_534;

/** A running server of one mailbox. Its clients are logged in already. */
export interface Dovecot {
  readonly port: number;
  /** The mailbox, in the Maildir form. */
  readonly maildir: string;
  close(): Promise<void>;
}

/** Unpacks the packages. @returns the reason why it can't be done here; undefined: it is done */
export async function unpackDovecot(folder: string): Promise<string | undefined> {
  return await unpackDebian(["dovecot-core", "dovecot-imapd"], folder);
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
