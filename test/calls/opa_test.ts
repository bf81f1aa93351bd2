/** A second opinion from a stub that answers in OPA's documented shape; `test/remote/` asks a real one. */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startGateway, type TestGateway } from "../api/_gateway.ts";

describe("the second opinion of OPA", () => {
  let opa: Server;
  let gateway: TestGateway;
  let key: string;
  let asked: { path: string; authorization: string | undefined; body: string }[] = [];
  let answer: unknown;
  let status = 200;

  before(async () => {
    opa = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      asked.push({ path: request.url!, authorization: request.headers.authorization, body });
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(request.url === "/health" ? {} : answer));
    });
    await new Promise<void>((resolve) => opa.listen(0, "127.0.0.1", resolve));
    gateway = await startGateway({
      settings: {
        SEALOOP_OPA_URL: `http://127.0.0.1:${(opa.address() as AddressInfo).port}`,
        SEALOOP_CREDENTIALS: '{"opa":"token-of-the-test"}',
      },
    });
    key = await gateway.key();
  });
  beforeEach(() => {
    asked = [];
    status = 200;
  });
  after(async () => {
    await gateway?.stop();
    opa.closeAllConnections();
    opa.close();
  });

  const open = (title = "Printer jams", description?: string) =>
    gateway.call(key, "POST", "/v1/itsm/tickets", { title, description });
  const newest = async () =>
    (await gateway.call(key, "GET", "/v1/governance/decisions?limit=1")).body.decisions[0];

  it("is asked about each change, with secrets replaced, and its decision's id is sealed", async () => {
    answer = { decision_id: "5b1e09c7", result: true };
    assert.equal((await open("Printer jams", "password=hunter2hunter2")).status, 200);
    assert.deepEqual(asked.map(({ path, authorization }) => [path, authorization]), [
      ["/v1/data/sealoop/decision", "Bearer token-of-the-test"],
    ]);
    const { input } = JSON.parse(asked[0]!.body);
    assert.deepEqual([input.operation, input.effect, input.decision], [
      "tickets.create",
      "run",
      "allow",
    ]);
    assert.doesNotMatch(asked[0]!.body, /hunter2/);
    const { receipt_id, decision } = await newest();
    assert.equal(decision, "allow");
    const row = await gateway.platform.store.asPlatform().first(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [receipt_id],
    );
    assert.equal(JSON.parse(row!.payload).details.opa_decision_id, "5b1e09c7");
  });

  for (
    const [name, given, reason] of [
      ["a refusal", { result: false }, /refuses it/],
      ["an undefined result", {}, /says nothing/],
      ["reasons", { result: { decision: "deny", reasons: ["Not today"] } }, /Not today/],
    ] as const
  ) {
    it(`denies on ${name}`, async () => {
      answer = given;
      const { status, body } = await open();
      assert.equal(status, 403);
      assert.match(body.detail, reason);
      assert.equal((await newest()).rule, "opa");
    });
  }

  it("has people asked where it wants them, and can't allow what the platform does not", async () => {
    answer = { result: { decision: "needs_approval" } };
    const response = await fetch(`${gateway.url}/v1/itsm/tickets`, {
      method: "POST",
      headers: { "x-api-key": key, "x-dry-run": "true", "content-type": "application/json" },
      body: JSON.stringify({ title: "Printer jams" }),
    });
    const { governance } = await response.json() as { governance: Record<string, unknown> };
    assert.deepEqual([governance.decision, governance.rule], ["needs_approval", "opa"]);
  });

  it("does not ask about reading", async () => {
    assert.equal((await gateway.call(key, "GET", "/v1/governance/decisions")).status, 200);
    assert.deepEqual(asked, []);
  });

  it("denies while there is no opinion, and shows the pause in the view, and no secret anywhere", async () => {
    const view = async () => {
      const response = await fetch(`${gateway.url}/v1/integrations/all?name=policy`);
      return (await response.json() as { integrations: Record<"status" | "detail", string>[] })
        .integrations[0]!;
    };
    assert.equal((await view()).status, "ok");
    status = 401;
    for (let n = 0; n < 5; n++) {
      const { status, body } = await open();
      assert.equal(status, 503);
      assert.match(body.detail, /^OPA does not accept our credential \(401\)/);
      assert.equal((await newest()).rule, "opa-away");
    }
    asked = [];
    assert.match((await open()).body.detail, /^OPA failed again and again/);
    const { status: given, detail } = await view();
    assert.equal(given, "down", "the view that is cached shows the pause");
    assert.match(detail, /^OPA failed again and again, and is asked again in \d+ s$/);
    assert.deepEqual(asked, []);
    assert.doesNotMatch(gateway.log(), /token-of-the-test/);
  });
});
