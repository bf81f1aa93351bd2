import type { Readable, Writable } from "node:stream";
import { MAX_BODY, parseJson } from "../web/mod.ts";

/** JSON texts, a line each, from and to the other end of a pipe. */
export interface Lines {
  write(message: object): void;
  /** Starts to read. Messages are taken one after the other. */
  read(reader: LineReader): void;
}

/** What becomes of the lines. */
export interface LineReader {
  take(message: object): Promise<void>;
  /** @param code of JSON-RPC */
  refuse(code: number, message: string): void;
  ended(): void;
}

const NEWLINE = 0x0a;

/** Opens both ends. A line above 1 MiB is refused and passed over. */
export function openLines(input: Readable, output: Writable): Lines {
  output.on("error", () => input.destroy()); // whoever reads has gone, and so has whoever writes
  return {
    write: (message) => void output.write(`${JSON.stringify(message)}\n`),
    read(reader) {
      let turn = Promise.resolve();
      const take = (line: Buffer | undefined) => {
        turn = turn.then(() => takeLine(line, reader)).catch(() => {});
      };
      const cut = cutter(take);
      input.on("data", (chunk: Buffer) => cut(Buffer.from(chunk)));
      input.once("close", () => turn.then(() => reader.ended()));
      input.once("end", () => input.destroy());
    },
  };
}

/** @param take is given each line, or undefined for one that is too long */
function cutter(take: (line: Buffer | undefined) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  const keep = (part: Buffer) => {
    size += part.length;
    if (size <= MAX_BODY) parts.push(part);
    else parts = [];
  };
  return (chunk) => {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE)) {
      keep(chunk.subarray(0, at));
      take(size > MAX_BODY ? undefined : Buffer.concat(parts));
      parts = [];
      size = 0;
      chunk = chunk.subarray(at + 1);
    }
    keep(chunk);
  };
}

async function takeLine(line: Buffer | undefined, reader: LineReader): Promise<void> {
  if (line === undefined) return reader.refuse(-32600, "A message has at most 1 MiB");
  const message = parsed(line, reader);
  if (message === undefined) return;
  if (typeof message === "object" && message !== null && !Array.isArray(message)) {
    return await reader.take(message);
  }
  reader.refuse(-32600, "Expected one JSON-RPC message a line");
}

function parsed(line: Buffer, reader: LineReader): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
    return text.trim() === "" ? undefined : parseJson(text);
  } catch (error) {
    return void reader.refuse(-32700, `Malformed JSON: ${(error as Error).message}`);
  }
}
