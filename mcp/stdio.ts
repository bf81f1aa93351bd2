import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { asProblem, type Invoke, type Operation, Problem } from "../contract/mod.ts";
import type { Log } from "../web/mod.ts";
import { isCountedLater, isMessage, wantsAnswer } from "./_message.ts";
import { openLines } from "./_lines.ts";
import { createAnswers } from "./answers.ts";
import { openChanges } from "./changes.ts";
import { serveWire } from "./protocol.ts";
import { bindTools } from "./tools.ts";
import type { FindInjection } from "./untrusted.ts";
import type { ToolServerAuth } from "../calls/mod.ts";

/** What a tool server for one client consists of. */
export interface StdioParts<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly entrance: ToolServerAuth;
  readonly log: Log;
  /** Looks through what comes from outside. */
  readonly findInjection: FindInjection;
  /** The API key that every call is made with. */
  readonly key: string | undefined;
  /** The process's own, where they are left out. */
  readonly input?: Readable;
  readonly output?: Writable;
  /** Called when the client has closed its end. */
  left(): void;
}

/** A client that is served. */
export interface StdioServer {
  /** Tells it that a resource has changed, where it follows that. */
  changed(uri: string): void;
  /** Whether it follows any. */
  followed(): boolean;
  close(): Promise<void>;
}

/** Address of a client that started this process itself. */
const ADDRESS = "127.0.0.1";

/**
 * Serves the one client at the other end of standard input and output, a message a line. It goes the same way as over
 * HTTP: the key is checked at every request, and every request is counted.
 *
 * @throws {Problem} there is no key, or it is none that an agent may hold
 */
export async function serveStdio<C>(parts: StdioParts<C>): Promise<StdioServer> {
  const { operations, invoke, entrance, log, findInjection, key, left } = parts;
  if (key === undefined) {
    throw new Problem("Unauthenticated", "Set SEALOOP_MCP_KEY to the API key to act with");
  }
  const caller = await entrance.authenticate(key, ADDRESS);
  const sender = { caller: { ...caller, keyId: caller.keyId! }, credential: key };
  const changes = openChanges();
  const answers = createAnswers({
    ...{ operations, invoke, entrance, log, findInjection },
    onChange: changes.onChange,
  });
  const handlers = answers(bindTools(operations), sender);
  const lines = openLines(parts.input ?? process.stdin, parts.output ?? process.stdout);
  const refuse = (code: number, message: string, id: unknown = null) =>
    lines.write({ jsonrpc: "2.0", id, error: { code, message } });

  /** @returns whether the message may go on */
  async function admit(message: object): Promise<boolean> {
    if (!isMessage(message)) {
      refuse(-32600, "Not a JSON-RPC message: one object a line, with jsonrpc and a method");
      return false;
    }
    if (!wantsAnswer(message)) return true;
    try {
      const current = await entrance.authenticate(key, ADDRESS);
      if (!isCountedLater(message)) await entrance.admit(current);
      return true;
    } catch (error) {
      refuse(-32000, asProblem(error).message, message.id);
      return false;
    }
  }

  const origin = () => ({ requestId: randomUUID(), address: ADDRESS });
  const wire = serveWire(handlers, origin, lines.write);
  lines.read({
    refuse,
    take: async (message) => {
      if (await admit(message)) wire.take(message);
    },
    ended: left,
  });
  return {
    changed: changes.changed,
    followed: () => changes.followers > 0,
    close: () => wire.close(),
  };
}
