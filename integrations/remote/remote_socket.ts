import { openHttpClient } from "../http/mod.ts";
import { checkStatus, failureOf, hostOf, readHeaders, toRemoteFailure } from "./_exchange.ts";
import type { RemoteFailed } from "./errors.ts";
import { openGuard } from "./guard.ts";
import type { RemoteOptions } from "./remote_client.ts";

/** A question to a system of others that is asked over a WebSocket. */
interface RemoteQuestion<Answer> {
  /** Path and query, behind the system's address; begins with a slash. */
  readonly path: string;
  /**
   * Takes in a message of the system's, parsed.
   *
   * @returns the answer; or messages to send, as JSON; or undefined, where the message matters to nobody
   * @throws {RemoteFailed} made by `fail`
   */
  receive(message: unknown, fail: SocketFailure): SocketMove<Answer> | undefined;
}

/** The next step after a message. */
export type SocketMove<Answer> =
  | { readonly answer: Answer }
  | { readonly send: readonly unknown[] };

/** Makes failures that messages tell of. */
export interface SocketFailure {
  /** The system does not accept our credential. */
  credential(): RemoteFailed;
  /** A message that was waited for has another shape. */
  shape(): RemoteFailed;
}

/** A client of one system of others that speaks over WebSockets. Each question has a connection of its own. */
export interface RemoteSocket {
  /** Asks. What fails for a moment is tried again after a pause, within the time limit. @throws {RemoteFailed} */
  read<Answer>(question: RemoteQuestion<Answer>): Promise<Answer>;
  /** Describes that the system is not asked for now, as it failed again and again; undefined: it is asked. */
  pause(): string | undefined;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Opens a client. Nothing is connected. */
export function openRemoteSocket(options: RemoteOptions): RemoteSocket {
  const { system, url } = options;
  const guard = openGuard(options);
  const http = openHttpClient({ allowHosts: [hostOf(url)] });
  const fail = failureOf(system);
  const failure: SocketFailure = {
    credential: () => fail("credential", "does not accept our credential", "not_done"),
    shape: () => fail("shape", "gave an answer of another shape", "unknown"),
  };

  async function ask<Answer>(question: RemoteQuestion<Answer>, timeoutMs: number): Promise<Answer> {
    const end = await http.converse<{ readonly answer: Answer }>(url + question.path, {
      headers: readHeaders(options, fail),
      timeoutMs,
      maxBytes: MAX_BYTES,
      receive(text, send) {
        const move = question.receive(parseMessage(text), failure);
        if (move === undefined || "answer" in move) return move;
        for (const message of move.send) send(JSON.stringify(message));
        return undefined;
      },
    }).catch((error: unknown) => {
      throw toRemoteFailure(error, fail);
    });
    if ("result" in end) return end.result.answer;
    checkStatus(end.response, fail);
    throw fail("not_socket", "opens no WebSocket", "not_done");
  }

  /** @throws {RemoteFailed} */
  function parseMessage(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw fail("not_json", "gave an answer that is not JSON", "unknown");
    }
  }

  return {
    read: (question) => guard.read((msLeft) => ask(question, msLeft)),
    pause: () => guard.pause(),
  };
}
