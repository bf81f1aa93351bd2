/** Calls that could not be run: nobody is asked to approve them. */
import assert from "node:assert/strict";
import { setGovernance } from "../_governance.ts";
import { governanceOf, openAgent, type TestAgent } from "./_agent.ts";
import type { Json } from "./_platform.ts";

const TOKEN = "a-token-that-others-share-0123456789";
const NO_TICKET = "INC-000000000000";
const message = (more: Json = {}) => ({
  messageId: "m-1",
  parts: [{ kind: "data", data: { a: 1 } }],
  ...more,
});

describe("a call that can't be run", () => {
  let agent: TestAgent;
  let open: string;
  let closed: string;
  before(async () => {
    agent = await openAgent([], { SEALOOP_A2A_TOKEN: TOKEN });
    const create = async (title: string) =>
      (await post("/v1/itsm/tickets", { title })).body.ticket_id;
    open = await create("It jams");
    closed = await create("It jammed");
    const path = `/v1/itsm/tickets/${closed}/close`;
    assert.equal((await post(path, { resolution: "Turned it" })).status, 200);
    await setGovernance(agent.people.store, {
      rules: [{ name: "ask", when: { tools: ["*"] }, then: "needs_approval", guardrails: false }],
    });
  });
  after(() => agent?.people.stop());

  const post = (path: string, body: Json, who: string | undefined = "program", headers = {}) =>
    agent.people.call("POST", path, who, body, headers);
  async function countApprovals(): Promise<number> {
    const row = await agent.people.store.asPlatform().first(
      "SELECT (SELECT count(*) FROM approvals)::int + (SELECT count(*) FROM held_calls)::int AS n",
    );
    return row!.n;
  }

  const cases: readonly [string, () => ReturnType<typeof post>, number, RegExp][] = [
    [
      "a webhook in a private network",
      () => post("/v1/itsm/webhooks", { url: "http://10.0.0.1/hook" }),
      422,
      /url_refused/,
    ],
    [
      "a webhook with a password",
      () => post("/v1/itsm/webhooks", { url: "https://me:secret@hooks.example.com/" }),
      422,
      /url/,
    ],
    [
      "removing a webhook that is not there",
      () => post("/v1/itsm/webhooks", { url: "https://nobody.example.com/", events: [] }),
      404,
      /has no webhook/,
    ],
    [
      "closing a ticket that is not there",
      () => post(`/v1/itsm/tickets/${NO_TICKET}/close`, { resolution: "x" }),
      404,
      /There is no ticket/,
    ],
    [
      "closing a closed ticket",
      () => post(`/v1/itsm/tickets/${closed}/close`, { resolution: "x" }),
      409,
      /only an open ticket can be closed/,
    ],
    [
      "embedding a receipt that is not there",
      () => post(`/v1/itsm/tickets/${open}/receipt`, { receipt_id: "0000000000000000" }),
      404,
      /eceipt/,
    ],
    [
      "a key that has expired",
      () =>
        post("/v1/keys/generate", {
          tenant: "acme",
          tier: "free",
          expires_at: "2020-01-01T00:00:00Z",
        }, "admin"),
      422,
      /in the past/,
    ],
    [
      "a key whose tenant looks like another one",
      () => post("/v1/keys/generate", { tenant: "acm\u0435", tier: "free" }, "admin"),
      422,
      /The name/,
    ],
    [
      "an approval about a ticket that is not there",
      () => post("/v1/approvals", { action: { a: 1 }, ticket_id: NO_TICKET }),
      404,
      /There is no ticket/,
    ],
    [
      "an approval that nobody could read",
      () => post("/v1/approvals", { action: { a: "x".repeat(70_000) } }),
      413,
      /too large/,
    ],
    [
      "a loop for a service that nobody knows",
      () => post("/v1/itsm/loop", { service: "no-such-service" }),
      404,
      /There is no service/,
    ],
    [
      "starting what only the platform starts",
      () => post("/v1/workflows/start", { type: "governedAct" }),
      409,
      /only the platform does/,
    ],
    [
      "an event that has no canonical form",
      () =>
        post("/api/v1/receipts/seal", {
          service: "billing",
          event: "backup",
          status: "complete",
          details: { text: "\ud800" },
        }),
      422,
      /details/,
    ],
    [
      "a message to a task that is not there",
      () =>
        post("/api/v1/a2a/receive", message({ taskId: "no-task" }), undefined, {
          "x-a2a-token": TOKEN,
        }),
      404,
      /Task not found/,
    ],
    [
      "a report without a text",
      () => post("/api/v1/a2a/dispatch", message(), undefined, { "x-a2a-token": TOKEN }),
      422,
      /Expected a text part/,
    ],
  ];
  for (const [what, call, status, pattern] of cases) {
    it(`is refused at once, and people are asked nothing: ${what}`, async () => {
      const asked = await countApprovals();
      const answer = await call();
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(JSON.stringify(answer.body), pattern);
      assert.equal(await countApprovals(), asked);
    });
  }

  it("is refused at once over MCP, too", async () => {
    const asked = await countApprovals();
    for (
      const [tool, input, error] of [
        ["itsm_register_webhook", { url: "http://10.0.0.1/hook" }, "InvalidInput"],
        ["itsm_close_ticket", { ticket_id: closed, resolution: "x" }, "Conflict"],
        ["approve_learning_item", { item_id: "LRN-000000000000" }, "NotFound"],
        ["approve_sie_finding", { index: 7 }, "NotFound"],
      ] as const
    ) {
      assert.equal((await agent.call(tool, input))._meta?.["sealoop/error"], error, tool);
    }
    assert.equal(await countApprovals(), asked);
  });

  it("is held where it can be run", async () => {
    assert.equal((await post("/v1/itsm/webhooks", { url: "https://a.example.com/" })).status, 202);
    const input = { ticket_id: open, resolution: "Turned the roller" };
    const { approval_id } = governanceOf(await agent.call("itsm_close_ticket", input));
    await agent.decide(approval_id, "approve");
    assert.equal((await agent.waitForEnd(approval_id)).state, "done");
    const result = await agent.call("itsm_close_ticket", input);
    assert.equal((result.structuredContent as Json).status, "resolved", "its result, once");
    assert.equal(
      (await agent.call("itsm_close_ticket", input))._meta?.["sealoop/error"],
      "Conflict",
    );
  });
});
