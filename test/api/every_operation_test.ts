import assert from "node:assert/strict";
import { isGoverned } from "../../contract/mod.ts";
import { ledgerOperations } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";
import { createAnswerCheck } from "../_described_answers.ts";
import { serveLedger } from "../ledger/_ledger.ts";
import { ask, routesOf } from "./_example_requests.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

/** Requests at a time. Some wait for what is away. */
const CALLERS = 24;

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
    for (const { id, operation: { access, governance } } of routes) {
      const needsKey = ["key", "partner", "admin"].includes(access) &&
        !governance?.signedByDevice;
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
      if (operation.presentation?.status === 202) continue;
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
