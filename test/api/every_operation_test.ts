import assert from "node:assert/strict";
import { isGoverned, type Operation } from "../../contract/mod.ts";
import { ledgerOperations } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";
import { createAnswerCheck } from "../_described_answers.ts";
import { serveLedger } from "../ledger/_ledger.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

/** A route with a request that its operation's example gives. */
interface Route {
  readonly id: string;
  readonly operation: Operation<never>;
  readonly method: string;
  /** With the parameters of the path, and a query where it has no body. */
  readonly path: string;
  readonly template: string;
  readonly body?: string;
}

const routesOf = (all: readonly Operation<never>[]): Route[] =>
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

/** Requests at a time. Some wait for what is away. */
const CALLERS = 24;

/** Asks for a route, and leaves a stream at once. */
async function ask(server: string, { method, path, body }: Route, headers: Record<string, string>) {
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

describe("every operation of the gateway", () => {
  const routes = routesOf(operations);
  let gateway: TestGateway;
  let keys: Record<"partner" | "admin", string>;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_PARTNER: "1000000" } });
    keys = {
      partner: await gateway.key(),
      admin: await gateway.key({ tier: "admin" }),
    };
  });
  after(() => gateway.stop());

  // What an answer does not have in common with its description fails a hook of the harness.
  const askAll = async (headers: Record<string, string>) => {
    const answers = new Map<string, Awaited<ReturnType<typeof ask>>>();
    const waiting = [...routes];
    const askNext = async () => {
      for (let route = waiting.shift(); route; route = waiting.shift()) {
        answers.set(route.id, await ask(gateway.url, route, headers));
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, askNext));
    return answers;
  };

  it("answers as described to anybody, and asks for a key where it needs one", async () => {
    const answers = await askAll({});
    for (const { id, operation: { access, signedByDevice } } of routes) {
      const needsKey = ["key", "partner", "admin"].includes(access) && !signedByDevice;
      if (needsKey) assert.equal(answers.get(id)!.status, 401, id);
    }
  });

  it("answers as described to keys", async () => {
    for (const key of [keys.partner, keys.admin]) {
      const answers = await askAll({ "x-api-key": key });
      assert.ok([...answers.values()].some(({ status }) => status === 200));
    }
  });

  it("answers as described to a dry run", async () => {
    const answers = await askAll({ "x-api-key": keys.admin, "x-dry-run": "true" });
    const tried = [...answers.values()].filter(({ body }) => body?.governance?.dry_run === true);
    assert.ok(tried.length > 20);
  });

  it("names its methods, and no others, in Allow", async () => {
    for (const template of new Set(routes.map(({ template }) => template))) {
      const own = routes.filter((route) => route.template === template);
      const methods = own.flatMap(({ method }) => method === "GET" ? ["HEAD", "GET"] : [method]);
      const [path] = own[0]!.path.split("?");
      for (const method of ["OPTIONS", "PUT", "PROPFIND"]) {
        const answer = await fetch(gateway.url + path, { method });
        await answer.text();
        const allow = answer.headers.get("allow")!.split(", ");
        assert.deepEqual(allow.toSorted(), methods.toSorted(), `${method} ${path}`);
        assert.equal(answer.status, method === "OPTIONS" ? 200 : 405, `${method} ${path}`);
      }
    }
  });

  it("is not taken for one whose path has a parameter in its place", async () => {
    for (const path of ["/v1/workflows/start", "/V1/Workflows/Start/"]) {
      for (const method of ["GET", "HEAD", "DELETE"]) {
        const answer = await fetch(gateway.url + path, { method });
        assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "POST"], path);
      }
    }
  });

  it("that governance decides about can be held or not, and says so", () => {
    const check = createAnswerCheck(operations);
    const answer = { status: 202, type: "application/json", body: {} };
    for (const { id, operation } of routes.filter(({ operation }) => !isGoverned(operation))) {
      if (operation.status === 202) continue;
      assert.match(String(check({ ...answer, operationId: id })), /status is not described/);
    }
    assert.match(String(check({ ...answer, operationId: "agent_message" })), /must/);
  });
});

describe("every operation of the public ledger", () => {
  it("answers as described, needs no key, and says so", async () => {
    const gateway = await startGateway();
    const ledger = await serveLedger(gateway);
    const check = createAnswerCheck(ledgerOperations, { keys: false });
    for (const route of routesOf(ledgerOperations)) {
      const answer = await ask(ledger.address, route, {});
      assert.equal(check({ ...answer, operationId: route.id }), undefined);
      assert.notEqual(answer.status, 401);
    }
    const description = await (await fetch(`${ledger.address}/openapi.json`)).json() as {
      info: { description: string };
      security: unknown;
      components: object;
    };
    assert.match(description.info.description, /needs no key/);
    assert.deepEqual(description.security, []);
    assert.ok(!("securitySchemes" in description.components));
    await ledger.stop();
    await gateway.stop();
  });
});
