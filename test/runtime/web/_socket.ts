/** Raw HTTP connections. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A response as received. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection to a server. */
export interface RawConnection {
  write(data: string | Uint8Array): void;
  /** Waits for the next response. @throws {Error} the server ends the connection first */
  answer(options?: { head?: boolean }): Promise<RawAnswer>;
  /** Resolves at the end of the connection, with the text that was no whole response. */
  readonly ended: Promise<string>;
  close(): void;
}

/** Connects to 127.0.0.1. */
export async function openConnection(port: number): Promise<RawConnection> {
  const socket: Socket = connect(port, "127.0.0.1");
  let text = "";
  let onChange = () => {};
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    onChange();
  });
  await once(socket, "connect");
  socket.on("error", () => {}); // a reset connection has ended, too
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  let open = true;
  void ended.then(() => {
    open = false;
    onChange();
  });
  return {
    write: (data) => void socket.write(data),
    async answer({ head = false } = {}) {
      for (;;) {
        const parsed = parseResponse(text, head);
        if (parsed) {
          text = text.slice(parsed.length);
          return parsed.answer;
        }
        if (!open) throw new Error(`The connection ended after ${JSON.stringify(text)}`);
        await new Promise<void>((resolve) => onChange = resolve);
      }
    },
    ended,
    close: () => void socket.destroy(),
  };
}

/** Parses the first response, which must have a content length. @returns undefined where it is incomplete */
function parseResponse(text: string, head: boolean) {
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
