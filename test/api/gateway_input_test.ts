import assert from "node:assert/strict";
import { describedGateway } from "./_described_gateway.ts";

interface Issue {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

describe("the gateway's validation", () => {
  const described = describedGateway();
  const call: typeof described.call = (path, request = {}) =>
    described.call(path, { key: described.partner, ...request });
  const summaries = ({ detail }: { detail: Issue[] }) =>
    detail.map(({ loc, type }) => [...loc, type].join(" ")).toSorted();

  for (
    const [path, loc] of [
      ["/v1/ledger?limit=0", ["query", "limit"]],
      ["/v1/ledger?limit=201", ["query", "limit"]],
      ["/v1/ledger?limit=1e1", ["query", "limit"]],
      ["/v1/ledger?limit=1&limit=2", ["query", "limit"]],
      ["/v1/itsm/tickets/nonsense", ["path", "ticket_id"]],
      ["/v1/receipt/0123456", ["path", "receipt_id"]],
    ] as const
  ) {
    it(`names the field of an invalid value: ${path}`, async () => {
      const { status, body } = await call(path);
      assert.equal(status, 422);
      const [issue] = body.detail;
      assert.deepEqual(issue.loc, loc);
      assert.ok(issue.msg.length > 0 && issue.type.length > 0);
    });
  }

  it("names all missing, unknown and wrongly typed fields at once", async () => {
    const body = { titel: "x", description: 1, severity: "grave" };
    const answer = await call("/v1/itsm/tickets", { body });
    assert.equal(answer.status, 422);
    assert.deepEqual(summaries(answer.body), [
      "body description string_type",
      "body severity enum",
      "body titel extra_forbidden",
      "body title missing",
    ]);
    const empty = await call("/api/v1/receipts/seal", { body: {} });
    const types = empty.body.detail.map(({ type }: Issue) => type);
    assert.deepEqual(types, ["missing", "missing", "missing"]);
  });

  it("lists the query's fields where one is unknown, after authentication", async () => {
    const path = "/v1/itsm/incidents?statsu=resolved&status=lost&constructor=x";
    assert.equal((await call(path, { key: undefined })).status, 401);
    const { status, body } = await call(path);
    assert.equal(status, 422);
    assert.deepEqual(summaries(body), [
      "query constructor extra_forbidden",
      "query statsu extra_forbidden",
      "query status enum",
    ]);
    const { msg } = body.detail.find(({ loc }: Issue) => loc[1] === "statsu");
    assert.match(msg, /^Unknown field; the query's fields are .*status/);
  });

  for (
    const [path, body, loc] of [
      ["/v1/itsm/tickets?dry_run=true", {}, ["query", "dry_run"]],
      ["/v1/itsm/tickets/INC-000000000000?ticket_id=x", undefined, ["query", "ticket_id"]],
      ["/v1/itsm/webhooks/deliveries?webhookid=x", undefined, ["query", "webhookid"]],
    ] as const
  ) {
    it(`refuses a field in the wrong place: ${path}`, async () => {
      const answer = await call(path, { body });
      assert.equal(answer.status, 422);
      assert.deepEqual(answer.body.detail.map(({ loc }: Issue) => loc), [loc]);
    });
  }

  it("refuses a field of a body that has none, without naming the path's", async () => {
    const path = "/v1/workflows/loop-0123456789abcdef/cancel";
    const { status, body } = await call(path, { body: { reason: "x" } });
    assert.deepEqual([status, body.detail], [422, [{
      loc: ["body", "reason"],
      msg: "Unknown field; the body has none",
      type: "extra_forbidden",
    }]]);
  });

  for (const [kind, body] of Object.entries({ "a list": "[]", "a text": '"x"', null: "null" })) {
    it(`refuses a body that is ${kind} and not an object`, async () => {
      for (const path of ["/v1/itsm/tickets", "/v1/itsm/test"]) {
        const answer = await call(path, { body });
        assert.equal(answer.status, 422, path);
        assert.deepEqual(answer.body.detail, [
          { loc: ["body"], msg: "Expected a JSON object", type: "object_type" },
        ]);
      }
    });
  }

  it("refuses malformed JSON, another content type, and too large a body", async () => {
    const path = "/v1/itsm/tickets";
    const malformed = await call(path, { body: "{" });
    assert.deepEqual([malformed.status, malformed.body.detail[0].type], [422, "json_invalid"]);
    const headers = { "content-type": "text/plain" };
    assert.equal((await call(path, { body: "{}", headers })).status, 415);
    const large = await call(path, { body: `"${"x".repeat(1024 * 1024)}"` });
    assert.deepEqual([large.status, typeof large.body.detail], [413, "string"]);
  });

  it("refuses U+0000 in a text", async () => {
    const body = { title: "a\0b", description: "x", severity: "low" };
    assert.equal((await call("/v1/itsm/tickets", { body })).status, 422);
  });

  it("refuses unknown paths and methods", async () => {
    assert.deepEqual((await call("/v2")).body, {
      detail: "There is nothing at GET /v2; /docs lists what there is",
    });
    const wrong = await call("/v1/ledger", { method: "DELETE" });
    assert.equal(wrong.status, 405);
    assert.match(wrong.headers.get("allow") ?? "", /^HEAD, GET$/);
    assert.equal((await call("/v1/receipt/%ff")).status, 422);
  });

  for (
    const [sent, similar] of [
      ["GET /v1/itsm/incidnets", "GET /v1/itsm/incidents"],
      ["GET /v1/itsm/tset", "POST /v1/itsm/test"],
      ["GET /v1/itsm/tikcets/INC-1", "GET /v1/itsm/tickets/INC-1"],
      ["GET /v1/itsm/approvals", "GET /v1/approvals"],
      ["POST /approvals/APR-1/approve", "POST /v1/approvals/APR-1/approve"],
      ["GET /v1/receipt", "GET /v1/receipt/{receipt_id}"],
      ["GET /health", "GET /v1/health"],
      ["GET /openapi", "GET /openapi.json"],
      ["GET /v1/itsm/tickets/INC-1/postmortem", undefined],
      ["GET /v1/xyz", undefined],
      ["GET /v1", undefined],
      [`GET /v1/ledger${"r".repeat(300)}`, undefined],
    ] as const
  ) {
    it(`suggests ${similar ?? "no other path"} for ${sent.slice(0, 40)}`, async () => {
      const [method, path] = sent.split(" ") as [string, string];
      const { status, body } = await call(path, { method });
      assert.equal(status, 404);
      const advice = similar === undefined ? "" : `did you mean ${similar}? `;
      assert.equal(body.detail, `There is nothing at ${sent}; ${advice}/docs lists what there is`);
    });
  }
});
