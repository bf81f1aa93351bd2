/** Talking to a server below HTTP, where its manners can be seen. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One answer as it came. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection to a server. */
export interface RawConnection {
  write(data: string | Uint8Array): void;
  /** Waits for the next whole answer; fails where the server ends the connection instead. */
  answer(options?: { head?: boolean }): Promise<RawAnswer>;
  /** Resolves when the connection has ended, with all that was not taken as an answer. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Connects to 127.0.0.1. @throws where nobody listens */
export async function openConnection(port: number): Promise<RawConnection> {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  let changed = () => {};
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    changed();
  });
  await once(socket, "connect");
  socket.on("error", () => {}); // a connection that is reset has ended, too
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  let open = true;
  void ended.then(() => {
    open = false;
    changed();
  });
  return {
    write: (data) => void socket.write(data),
    async answer({ head = false } = {}) {
      for (;;) {
        const found = take(text, head);
        if (found) {
          text = text.slice(found.length);
          return found.answer;
        }
        if (!open) throw new Error(`The connection ended after ${JSON.stringify(text)}`);
        await new Promise<void>((resolve) => changed = resolve);
      }
    },
    ended,
    close: () => void socket.destroy(),
  };
}

/** Reads the first answer of a text, where all of it is there. Answers have a length, as ours do. */
function take(text: string, head: boolean) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/:\s*(.*)/s)).map(([name, value]) => [
      name!.toLowerCase(),
      value ?? "",
    ]),
  );
  const length = end + 4 + (head ? 0 : Number(headers["content-length"] ?? 0));
  if (text.length < length) return undefined;
  const status = Number(first.split(" ")[1]);
  if (status === 100) return undefined;
  const answer: RawAnswer = { status, headers, body: text.slice(end + 4, length) };
  return { answer, length };
}
