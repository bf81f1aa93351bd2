/** The doors through which the key of a tenant calls operations. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import type { People } from "../api/_people.ts";
import { type Browser, signedInPeople } from "../api/_signed_in.ts";
import { a2aClient, type Json, skill } from "../mcp/_a2a.ts";
import type { TestToolServer } from "../mcp/_tool_server.ts";
import type { Tenant } from "./_tenant.ts";

/** One way to call an operation. */
interface Door {
  readonly name: string;
  call(input: Readonly<Record<string, unknown>>): Promise<{ status: string; text: string }>;
}

/** The servers, and the tenant that calls them. */
interface DoorParts {
  readonly people: People;
  readonly server: TestToolServer;
  readonly client: Client;
  readonly rival: Tenant;
}

/** Returns the function that lists the doors of an operation. */
export function openDoors({ people, server, client, rival }: DoorParts) {
  /** Returns the doors through which a key of `rival` can call an operation. */
  function doorsOf({ rest = {}, tool = {}, presentation, access }: Operation<Platform>) {
    const { resource = {}, prompt = {} } = presentation ?? {};
    const doors: Door[] = [];
    const proof = async () =>
      access === "session" ? await signInRival() : { "x-api-key": rival.personKey };
    for (const route of Object.values(rest)) {
      const call: Door["call"] = async (input) => await callRest(route, input, await proof());
      doors.push({ name: `REST ${route}`, call });
    }
    const answer = async (work: Promise<unknown>) => {
      const { isError, ...result } = await work.catch((error) => ({
        isError: true,
        code: error.code,
        message: error.message,
      })) as Json;
      return { status: isError ? "error" : "ok", text: JSON.stringify(result) };
    };
    for (const name of Object.keys(tool)) {
      doors.push({
        name: `MCP ${name}`,
        call: (input) => answer(client.callTool({ name, arguments: input })),
      }, {
        name: `A2A ${name}`,
        call: async (input) => {
          const params = skill(name, input);
          const { result, error } = await a2aClient(server.url, rival.key)
            .ask("message/send", params);
          return { status: error ? "error" : "ok", text: JSON.stringify(result ?? error) };
        },
      });
    }
    for (const template of Object.keys(resource)) {
      doors.push({
        name: `MCP ${template}`,
        call: (input) => answer(client.readResource({ uri: expand(template, input) })),
      });
    }
    for (const name of Object.keys(prompt)) {
      doors.push({
        name: `MCP prompt ${name}`,
        call: (input) =>
          answer(client.getPrompt({ name, arguments: input as Record<string, string> })),
      });
    }
    return doors;
  }

  /** Signs the person of `rival` in, anew for each call, as some end the session. @returns headers of the browser */
  async function signInRival(): Promise<Browser> {
    const keyId = () => rival.personKeyId;
    return await signedInPeople(() => ({ ...people, keyId })).signIn("rival");
  }

  async function callRest(
    route: string,
    input: Readonly<Record<string, unknown>>,
    proof: Readonly<Record<string, string>>,
  ) {
    const [method, template] = route.split(" ") as [string, string];
    const path = expand(template, input);
    const rest = Object.entries(input).filter(([name]) => !template.includes(`{${name}}`));
    const query = new URLSearchParams(
      rest.map(([name, value]): [string, string] => [name, String(value)]),
    );
    const response = await fetch(`${people.url}${path}${method === "GET" ? `?${query}` : ""}`, {
      method,
      headers: { ...proof, "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: JSON.stringify(Object.fromEntries(rest)) }),
    });
    return { status: String(response.status), text: await response.text() };
  }

  return doorsOf;
}

/** Returns the input of an operation's example, about these things. What is written down is not their words. */
export function inputOf(
  { name: operation, input, example, effect }: Operation<Platform>,
  things: Record<string, string>,
  acme: Tenant,
) {
  const fields = Object.keys(input.shape);
  const valueOf = (field: string) => {
    const value = things[`${operation}.${field}`] ?? things[field];
    return field === "approval_ids" ? [value] : value;
  };
  const about = fields.filter((name) =>
    Object.hasOwn(things, name) && (effect === "read" || !Object.hasOwn(acme.texts, name))
  );
  const wait = fields.includes("wait_seconds") ? { wait_seconds: 0 } : {};
  const timeout = fields.includes("timeout_seconds") ? { timeout_seconds: 0 } : {};
  return {
    ...example.input,
    ...wait,
    ...timeout,
    ...(fields.includes("on_duplicate") ? { on_duplicate: "merge" } : {}), // a second call is no other
    ...Object.fromEntries(about.map((name) => [name, valueOf(name)])),
  };
}

/** Returns a path with the fields of an input in its places. */
export function expand(template: string, input: Readonly<Record<string, unknown>>): string {
  return template.replace(
    /\{(\w+)\}/g,
    (_, name) => encodeURIComponent(String(input[name] ?? "none")),
  );
}
