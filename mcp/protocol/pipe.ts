/** A client of any revision at the other end of a pipe. */
import { type JSONRPCMessage, SdkError, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { RequestHandlers, RequestOrigin } from "../requests.ts";
import { withAbortReason } from "./_abort.ts";
import { createSubscriptions, limitSubscriptions } from "./_subscriptions.ts";
import { createStatelessServer, withProtocolErrors } from "./stateless_server.ts";

/** The connection to the client. */
export interface Pipe {
  /** Handles a message of JSON-RPC 2.0. */
  receive(message: object): void;
  close(): Promise<void>;
}

/**
 * Serves the client.
 *
 * @param origin returns the origin of the next request
 * @param send writes a message to the client
 */
export function servePipe(
  handlers: RequestHandlers,
  origin: () => RequestOrigin,
  send: (message: object) => void,
): Pipe {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => Promise.resolve(send(message)),
    close: () => Promise.resolve(transport.onclose?.()),
  };
  const { close } = serveStdio(({ era }) => {
    const server = createStatelessServer(
      handlers,
      origin,
      (signal) => withAbortReason(signal, () => signal.reason instanceof SdkError),
    );
    const notify = (uri: string) => server.sendResourceUpdated({ uri });
    if (era === "modern") { // the SDK itself keeps the subscriptions
      server.onclose = handlers.onResourceChange((uri) =>
        void notify(uri).catch(handlers.reportError)
      );
      return server;
    }
    const subscriptions = createSubscriptions(handlers, notify);
    server.onclose = subscriptions.close;
    server.setRequestHandler(
      "resources/subscribe",
      ({ params }) =>
        withProtocolErrors(Promise.resolve().then(() => subscriptions.add(params.uri))),
    );
    server.setRequestHandler(
      "resources/unsubscribe",
      ({ params }) => subscriptions.remove(params.uri),
    );
    return server;
  }, { transport, onerror: handlers.reportError });
  return {
    receive: (message) =>
      transport.onmessage?.(limitSubscriptions(message, handlers) as JSONRPCMessage),
    close,
  };
}
