/** Requests by the examples of operations. */
import type { Operation } from "../../contract/mod.ts";

/** A route with a request that its operation's example gives. */
export interface Route {
  readonly id: string;
  readonly operation: Operation<never>;
  readonly method: string;
  /** With the parameters of the path, and a query where it has no body. */
  readonly path: string;
  readonly template: string;
  readonly body?: string;
}

/** Returns all routes of operations, with the requests of their examples. */
export const routesOf = (all: readonly Operation<never>[]): Route[] =>
  all.flatMap((operation) =>
    Object.entries(operation.rest ?? {}).map(([id, route]) => {
      const [method, template] = route.split(" ") as [string, string];
      const input = operation.example.input as Record<string, unknown>;
      const path = template.replace(/\{(\w+)\}/g, (_, name) =>
        encodeURIComponent(String(input[name])));
      const others = Object.entries(input).filter(([name]) =>
        !template.includes(`{${name}}`)
      );
      const inQuery = method === "GET" || method === "DELETE";
      const query = inQuery && others.length > 0
        ? `?${new URLSearchParams(
          others.map(([name, value]): [string, string] => [name, String(value)]),
        )}`
        : "";
      const body = inQuery || others.length === 0
        ? {}
        : { body: JSON.stringify(Object.fromEntries(others)) };
      return { id, operation, method, template, path: path + query, ...body };
    })
  );

/** Asks for a route, and leaves a stream at once. */
export async function ask(
  server: string,
  { method, path, body }: Route,
  headers: Record<string, string>,
) {
  const response = await fetch(server + path, {
    method,
    headers: { ...headers, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body } : {}),
  });
  const type = String(response.headers.get("content-type"));
  if (type.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return { status: response.status, type, body: undefined };
  }
  const text = await response.text();
  return { status: response.status, type, body: type.includes("json") ? JSON.parse(text) : text };
}
