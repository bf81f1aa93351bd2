/** A small IMAP server with one mailbox, of one user, with the commands that reading it takes. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** A mail in the mailbox. */
interface StoredMail {
  readonly uid: number;
  readonly bytes: Buffer;
  seen: boolean;
}

/** A running stub. */
export interface ImapStub {
  readonly port: number;
  readonly mails: StoredMail[];
  /** Adds a mail, and announces it to clients that wait. */
  deliver(bytes: Buffer): void;
  /** Ends all connections. */
  hangUp(): void;
  close(): Promise<void>;
}

/** Starts a stub on loopback. */
export async function startImapStub(user: string, password: string): Promise<ImapStub> {
  const sockets = new Set<Socket>();
  const mails: StoredMail[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
    serve(socket, { user, password, mails });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    mails,
    deliver(bytes) {
      mails.push({ uid: mails.length + 1, bytes, seen: false });
      for (const socket of sockets) socket.write(`* ${mails.length} EXISTS\r\n`);
    },
    hangUp,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        hangUp();
      }),
  };
}

function serve(
  socket: Socket,
  { user, password, mails }: { user: string; password: string; mails: StoredMail[] },
): void {
  let text = "";
  let idleTag: string | undefined;
  const write = (...lines: readonly string[]) =>
    void socket.write(lines.map((line) => `${line}\r\n`).join(""));
  write("* OK [CAPABILITY IMAP4rev1 IDLE] stub");
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
    for (let end = text.indexOf("\r\n"); end !== -1; end = text.indexOf("\r\n")) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      answer(line);
    }
  });

  function answer(line: string): void {
    if (idleTag !== undefined && /^done$/i.test(line)) {
      write(`${idleTag} OK done`);
      idleTag = undefined;
      return;
    }
    const [, tag = "*", command = "", rest = ""] = /^(\S+) ((?:UID )?\S+) ?(.*)$/i.exec(line) ?? [];
    const ok = (...lines: readonly string[]) => write(...lines, `${tag} OK done`);
    switch (command.toUpperCase()) {
      case "LOGIN":
        return rest.replace(/"/g, "") === `${user} ${password}`
          ? ok()
          : write(`${tag} NO [AUTHENTICATIONFAILED] wrong`);
      case "CAPABILITY":
        return ok("* CAPABILITY IMAP4rev1 IDLE");
      case "LIST":
        return ok('* LIST (\\HasNoChildren) "/" INBOX');
      case "SELECT":
        return ok(
          "* FLAGS (\\Seen)",
          "* OK [PERMANENTFLAGS (\\Seen)] ok",
          `* ${mails.length} EXISTS`,
          "* 0 RECENT",
          "* OK [UIDVALIDITY 1] ok",
          `* OK [UIDNEXT ${mails.length + 1}] ok`,
        );
      case "UID SEARCH": {
        const uids = mails.filter(({ seen }) => !seen).map(({ uid }) => uid);
        return ok(`* SEARCH ${uids.join(" ")}`.trim());
      }
      case "UID FETCH": {
        const mail = mails.find(({ uid }) => uid === parseInt(rest));
        if (!mail) return ok();
        socket.write(`* ${mail.uid} FETCH (UID ${mail.uid} BODY[]<0> {${mail.bytes.length}}\r\n`);
        socket.write(mail.bytes);
        return ok(")");
      }
      case "UID STORE": {
        const mail = mails.find(({ uid }) => uid === parseInt(rest));
        if (mail) mail.seen = true;
        return ok(`* ${mail?.uid} FETCH (UID ${mail?.uid} FLAGS (\\Seen))`);
      }
      case "IDLE":
        idleTag = tag;
        return write("+ idling");
      case "LOGOUT":
        ok("* BYE");
        return void socket.end();
      default:
        return ok();
    }
  }
}
