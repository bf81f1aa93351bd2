import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { ToolServerAuth } from "../calls/mod.ts";
import { asProblem, type Invoke, type Operation, Problem } from "../contract/mod.ts";
import type { Log } from "../runtime/web/mod.ts";
import { isCountedByOperation } from "./_counting.ts";
import { openLines } from "./_lines.ts";
import { createHandlers } from "./handlers.ts";
import { isMessage, isRequest, JSON_RPC } from "./json_rpc.ts";
import { servePipe } from "./protocol/mod.ts";
import { createResourceChanges } from "./resource_changes.ts";
import { bindTools, ownTools } from "./tools.ts";
import type { MakeSafe } from "./untrusted.ts";

/** The parts of a tool server for one client. */
export interface StdioParts<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  readonly auth: ToolServerAuth;
  readonly log: Log;
  readonly makeSafe: MakeSafe;
  /** The API key of every call. */
  readonly key: string | undefined;
  /** Default: the process's standard input. */
  readonly input?: Readable;
  /** Default: the process's standard output. */
  readonly output?: Writable;
  /** Called when the client has closed its end. */
  onDisconnect(): void;
}

/** A tool server for one client. */
export interface StdioServer {
  /** Notifies the client of a resource's change, if it has subscribed. @param tenant undefined: it is public */
  notifyChange(uri: string, tenant?: string): void;
  /** Returns the client's tenant, if it has subscribed to any resource. */
  subscribedTenants(): ReadonlySet<string>;
  close(): Promise<void>;
}

/** Address of a client that has started this process itself. */
const ADDRESS = "127.0.0.1";

/**
 * Serves the client at the other end of standard input and output, one message a line. As over HTTP, the key is checked
 * at every request, and every request is counted.
 *
 * @throws {Problem} there is no key, or it is not one for AI agents
 */
export async function serveStdio<C>(parts: StdioParts<C>): Promise<StdioServer> {
  const { operations, invoke, auth, log, makeSafe, key } = parts;
  if (key === undefined) {
    throw new Problem("Unauthenticated", "Set SEALOOP_MCP_KEY to the API key to act with");
  }
  const caller = await auth.authenticate(key, ADDRESS);
  const sender = { caller: { ...caller, keyId: caller.keyId! }, credential: key };
  const changes = createResourceChanges();
  const handlersOf = createHandlers({
    operations,
    invoke,
    auth,
    log,
    makeSafe,
    onResourceChange: changes.listen,
  });
  const lines = openLines(parts.input ?? process.stdin, parts.output ?? process.stdout);
  const refuse = (code: number, message: string, id: unknown = null) =>
    lines.write({ jsonrpc: "2.0", id, error: { code, message } });

  /** @returns true where the message may be handled; otherwise it was answered */
  async function admit(message: object): Promise<boolean> {
    if (!isMessage(message)) {
      const why = "Not a JSON-RPC message: one object a line, with jsonrpc and a method";
      refuse(JSON_RPC.invalidRequest, why);
      return false;
    }
    if (!isRequest(message)) return true;
    try {
      const current = await auth.authenticate(key, ADDRESS);
      if (!isCountedByOperation(message)) await auth.count(current);
      return true;
    } catch (error) {
      refuse(JSON_RPC.serverError, asProblem(error).message, message.id);
      return false;
    }
  }

  const pipe = servePipe(
    handlersOf(ownTools(bindTools(operations)), sender),
    () => ({ requestId: randomUUID(), address: ADDRESS, credential: key }),
    lines.write,
  );
  lines.read({
    refuse,
    receive: async (message) => {
      if (await admit(message)) pipe.receive(message);
    },
    closed: parts.onDisconnect,
  });
  return {
    notifyChange: changes.notify,
    subscribedTenants: () => changes.tenants,
    close: () => pipe.close(),
  };
}
