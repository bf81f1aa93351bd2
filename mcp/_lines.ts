import type { Readable, Writable } from "node:stream";
import { MAX_BODY, parseJson } from "../runtime/web/mod.ts";
import { tidyMessage } from "./_tidy_message.ts";

/** A connection of JSON texts, one per line. */
export interface LineConnection {
  write(message: object): void;
  /** Starts to read. Messages are handled one after the other. */
  read(reader: LineReader): void;
}

/** The handler of what is read. */
interface LineReader {
  receive(message: object): Promise<void>;
  /** Answers a line that is no message. @param code of JSON-RPC */
  refuse(code: number, message: string): void;
  /** Called once the input has closed and its last line was handled. */
  closed(): void;
}

const NEWLINE = 0x0a;

/** Opens a connection. A line above 1 MiB is refused and skipped. */
export function openLines(input: Readable, output: Writable): LineConnection {
  output.on("error", () => input.destroy()); // the reader has gone, and so has the writer
  return {
    write: (message) => void output.write(`${JSON.stringify(message)}\n`),
    read(reader) {
      let previous = Promise.resolve();
      const split = createSplitter((line) => {
        previous = previous.then(() => handleLine(line, reader)).catch(() => {});
      });
      input.on("data", (chunk: Buffer) => split(Buffer.from(chunk)));
      input.once("close", () => previous.then(() => reader.closed()));
      input.once("end", () => input.destroy());
    },
  };
}

/** Splits chunks into lines. @param onLine called with each line; undefined for one that is too long */
function createSplitter(onLine: (line: Buffer | undefined) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  const append = (part: Buffer) => {
    size += part.length;
    if (size <= MAX_BODY) parts.push(part);
    else parts = [];
  };
  return (chunk) => {
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE)) {
      append(chunk.subarray(0, end));
      onLine(size > MAX_BODY ? undefined : Buffer.concat(parts));
      parts = [];
      size = 0;
      chunk = chunk.subarray(end + 1);
    }
    append(chunk);
  };
}

async function handleLine(line: Buffer | undefined, reader: LineReader): Promise<void> {
  if (line === undefined) return reader.refuse(-32600, "A message has at most 1 MiB");
  const message = parseLine(line, reader);
  if (message === undefined) return;
  if (typeof message === "object" && message !== null && !Array.isArray(message)) {
    return await reader.receive(tidyMessage(message));
  }
  reader.refuse(-32600, "Expected one JSON-RPC message a line");
}

function parseLine(line: Buffer, reader: LineReader): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
    return text.trim() === "" ? undefined : parseJson(text);
  } catch (error) {
    return void reader.refuse(-32700, `Malformed JSON: ${(error as Error).message}`);
  }
}
