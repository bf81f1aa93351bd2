/** A Keycloak of a test: its token, organizations and admin events, in memory and in the documented shapes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type HostileServer, JSON_TYPE, SECRET } from "./_hostile.ts";

/** An organization as Keycloak shows it. */
interface StubOrganization {
  id: string;
  name: string;
  alias: string;
  enabled: boolean;
  domains: { name: string; verified: boolean }[];
  attributes: Record<string, string[]>;
  [field: string]: unknown;
}

/** Answers in the place of Keycloak; undefined: it answers itself. */
type Disturb = (request: IncomingMessage, response: ServerResponse) => boolean;

const TOKEN = "eyJhbGciOiJSUzI1NiJ9.token.of-the-test";

/** Has a server answer as Keycloak does. @returns what it holds, and the requests that it got */
export function answerAsKeycloak(server: HostileServer) {
  const organizations: StubOrganization[] = [];
  const requests: string[] = [];
  const stub = {
    organizations,
    requests,
    /** Called for each request but those for tokens; `true`: it has answered. */
    before: (() => false) as Disturb,
    /** Called when an organization was made, before it is said so; `true`: it has answered. */
    afterAdding: (() => false) as Disturb,
    eventsEnabled: true,
  };
  server.answer(async (request, response) => {
    const url = new URL(request.url!, "http://x");
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (status: number, value?: unknown) =>
      value === undefined
        ? response.writeHead(status).end()
        : response.writeHead(status, JSON_TYPE).end(JSON.stringify(value));
    if (url.pathname === "/realms/acme/protocol/openid-connect/token") {
      const basic = Buffer.from(`sealoop:${SECRET}`).toString("base64");
      const isOurs = request.headers.authorization === `Basic ${basic}` &&
        body === "grant_type=client_credentials";
      return isOurs
        ? json(200, { access_token: TOKEN, expires_in: 300, token_type: "Bearer" })
        : json(401, { error: "unauthorized_client" });
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      return json(401, { error: "HTTP 401" });
    }
    requests.push(`${request.method} ${url.pathname}`);
    if (stub.before(request, response)) return;
    const path = url.pathname.replace("/admin/realms/acme", "");
    if (path === "/events/config") return json(200, { adminEventsEnabled: stub.eventsEnabled });
    if (path === "/admin-events") return json(200, [EVENT]);
    if (path === "/organizations" && request.method === "GET") {
      const tenant = /^sealoop_tenant:"(.*)"$/.exec(url.searchParams.get("q") ?? "")?.[1];
      const first = Number(url.searchParams.get("first") ?? 0);
      const max = Number(url.searchParams.get("max") ?? 10);
      const found = organizations.filter(({ attributes }) =>
        tenant === undefined || attributes.sealoop_tenant?.includes(tenant)
      );
      return json(200, found.slice(first, first + max));
    }
    if (path === "/organizations") {
      const made = JSON.parse(body) as StubOrganization;
      const isTaken = organizations.some(({ name, alias }) =>
        name === made.name || alias === made.alias
      );
      if (isTaken) return json(409, { errorMessage: "A organization with the same name exists" });
      organizations.push({ ...made, id: `org-${organizations.length + 1}` });
      return stub.afterAdding(request, response) ? undefined : json(201);
    }
    const known = organizations.find(({ id }) => path === `/organizations/${id}`);
    if (!known || request.method !== "PUT") return json(404, { error: "Not found" });
    Object.assign(known, JSON.parse(body));
    return json(204);
  });
  return stub;
}

const EVENT = {
  id: "c027e617-1474-4e06-a015-48dc0996914e",
  time: 1782907200000,
  realmId: "f5dd7d21",
  authDetails: {
    realmId: "f5dd7d21",
    clientId: "99c75380",
    userId: "457934af-e4fd-4615-8d0f-85d728fa5747",
    ipAddress: "192.0.2.7",
  },
  operationType: "UPDATE",
  resourceType: "USER",
  resourcePath: "users/0c1d",
  representation: '{"credentials":[{"value":"hunter2hunter2"}]}',
};
