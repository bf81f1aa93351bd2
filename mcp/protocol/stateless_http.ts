import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryServerEventBus,
} from "@modelcontextprotocol/server";
import type { RequestHandlers, RequestOrigin } from "../requests.ts";
import { toAuthInfo } from "./_shared.ts";
import { limitSubscriptions } from "./_subscriptions.ts";
import type { HttpExchange } from "./session_transports.ts";
import { createStatelessServer } from "./stateless_server.ts";

/** Clients of revisions without a handshake, over HTTP. */
export interface StatelessClients {
  /** Returns true where a request is not of a revision with a handshake. */
  accepts(exchange: HttpExchange): boolean;
  handle(exchange: HttpExchange, handlers: RequestHandlers): Promise<Response>;
  /** Notifies the clients that listen to a resource of its change. */
  notifyChange(uri: string): void;
  /** Returns true where a client listens to any resource. */
  hasListeners(): boolean;
  /** Ends the streams of those who listen. */
  close(): Promise<void>;
}

/** Serves such clients. @param reportError logs an error that no response can carry */
export function serveStatelessClients(reportError: (error: Error) => void): StatelessClients {
  const bus = new InMemoryServerEventBus(reportError);
  const { fetch, close } = createMcpHandler(
    ({ authInfo }) => {
      const { handlers, ...origin } = authInfo!.extra as unknown as RequestExtra;
      return createStatelessServer(handlers, () => origin);
    },
    { legacy: "reject", onerror: reportError, bus },
  );
  return {
    accepts({ request: { method, headers }, body }) {
      const header = (name: string) => headers.get(name) ?? undefined;
      return classifyInboundRequest({
        httpMethod: method,
        protocolVersionHeader: header("mcp-protocol-version"),
        mcpMethodHeader: header("mcp-method"),
        mcpNameHeader: header("mcp-name"),
        body,
      }).kind !== "legacy";
    },
    handle({ request, body, ...origin }, handlers) {
      const parsedBody = limitSubscriptions(body, handlers);
      return fetch(request, { parsedBody, authInfo: toAuthInfo({ ...origin, handlers }) });
    },
    notifyChange: (uri) => bus.publish({ kind: "resource_updated", uri }),
    hasListeners: () => bus.listenerCount > 0,
    close,
  };
}

type RequestExtra = RequestOrigin & { readonly handlers: RequestHandlers };
