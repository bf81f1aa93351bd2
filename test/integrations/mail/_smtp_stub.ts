/** An SMTP server that leaves in the middle, and remembers which mails it has taken. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** Moments at which the stub can leave, in their order. `answered`: it does not leave. */
export const MOMENTS = [
  "greeting",
  "EHLO",
  "MAIL",
  "RCPT",
  "DATA",
  "body",
  "dot",
  "answered",
] as const;
export type Moment = typeof MOMENTS[number];

/** Behaviour of the stub on a connection. */
export interface Script {
  /** The moment at which it leaves. */
  readonly leavesAt: Moment;
  /** Answers in place of its own, by the moment. */
  readonly answers?: Readonly<Partial<Record<Moment, string>>>;
  /** Is called at each moment before the stub answers. */
  readonly onMoment?: (moment: Moment) => void | Promise<void>;
  /** True: it keeps silent in place of leaving. */
  readonly isSilent?: boolean;
}

/** A running stub. */
export interface SmtpStub {
  readonly port: number;
  /** Mails that it has taken: all that had their end. */
  readonly taken: string[];
  /** Connections so far. */
  connections: number;
  script: Script;
  /** Scripts of the next connections, one each; later ones follow {@linkcode SmtpStub.script}. */
  readonly next: Script[];
  close(): Promise<void>;
}

/** Starts a stub on loopback. */
export async function startSmtpStub(script: Script): Promise<SmtpStub> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)));
    stub.connections++;
    serve(socket, stub.next.shift() ?? stub.script, stub.taken);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stub: SmtpStub = {
    port: (server.address() as { port: number }).port,
    taken: [],
    connections: 0,
    script,
    next: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  return stub;
}

const ANSWERS: Readonly<Record<Moment, string>> = {
  greeting: "220 stub",
  EHLO: "250-stub\r\n250 8BITMIME",
  MAIL: "250 ok",
  RCPT: "250 ok",
  DATA: "354 go on",
  body: "",
  dot: "250 taken",
  answered: "",
};

function serve(socket: Socket, { leavesAt, answers, onMoment, isSilent }: Script, taken: string[]) {
  let text = "";
  let isData = false;
  let work: Promise<void> = reach("greeting");
  async function reach(moment: Moment): Promise<void> {
    await onMoment?.(moment);
    if (leavesAt !== moment) {
      return void socket.write(`${answers?.[moment] ?? ANSWERS[moment]}\r\n`);
    }
    if (isSilent) socket.pause();
    else socket.destroy();
  }
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
    work = work.then(read);
  });
  async function read(): Promise<void> {
    while (!socket.destroyed) {
      if (isData) {
        if (leavesAt === "body" && text.length > 0) return await reach("body");
        const end = text.indexOf("\r\n.\r\n");
        if (end === -1) return;
        if (!/^[45]/.test(answers?.dot ?? "")) taken.push(text.slice(0, end));
        text = text.slice(end + 5);
        isData = false;
        await reach("dot");
        continue;
      }
      const end = text.indexOf("\r\n");
      if (end === -1) return;
      const word = text.slice(0, 4).toUpperCase();
      text = text.slice(end + 2);
      if (word === "QUIT") return void socket.end("221 bye\r\n");
      if (word === "DATA") isData = !/^[45]/.test(answers?.DATA ?? "");
      await reach(word as Moment);
    }
  }
}
