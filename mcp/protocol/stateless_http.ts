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
  /** Notifies the clients that listen to a resource of its change. @param tenant undefined: it is public */
  notifyChange(uri: string, tenant?: string): void;
  /** Returns the tenants of the clients that listen to any resource. */
  tenants(): string[];
  /** Ends the streams of those who listen. */
  close(): Promise<void>;
}

/** Serves such clients: those of each tenant apart. @param reportError logs an error that no response can carry */
export function serveStatelessClients(reportError: (error: Error) => void): StatelessClients {
  const byTenant = new Map<string, TenantClients>();
  const clientsOf = (tenant: string) => {
    const clients = byTenant.get(tenant) ?? serveTenant(reportError);
    byTenant.set(tenant, clients);
    return clients;
  };
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
      const authInfo = toAuthInfo({ ...origin, handlers });
      return clientsOf(handlers.tenant).fetch(request, { parsedBody, authInfo });
    },
    notifyChange(uri, owner) {
      for (const [tenant, { bus }] of byTenant) {
        if (owner === undefined || owner === tenant) bus.publish({ kind: "resource_updated", uri });
      }
    },
    tenants: () =>
      [...byTenant].flatMap(([tenant, { bus }]) => bus.listenerCount > 0 ? [tenant] : []),
    close: async () => {
      await Promise.all([...byTenant.values()].map(({ close }) => close()));
    },
  };
}

/** The clients of one tenant. */
type TenantClients = ReturnType<typeof serveTenant>;

function serveTenant(reportError: (error: Error) => void) {
  const bus = new InMemoryServerEventBus(reportError);
  const { fetch, close } = createMcpHandler(
    ({ authInfo }) => {
      const { handlers, ...origin } = authInfo!.extra as unknown as RequestExtra;
      return createStatelessServer(handlers, () => origin);
    },
    { legacy: "reject", onerror: reportError, bus },
  );
  return { bus, fetch, close };
}

type RequestExtra = RequestOrigin & { readonly handlers: RequestHandlers };
