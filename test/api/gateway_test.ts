import assert from "node:assert/strict";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { defineOperation } from "../../contract/mod.ts";
import { openSealer, runSequencer } from "../../ledger/mod.ts";
import {
  findKeys,
  hashKey,
  openStore,
  openTicket,
  putService,
  setPolicyFileStatus,
} from "../../store/mod.ts";
import { testFolder } from "../_servers.ts";
import { withinOneDay } from "../_time.ts";
import { openConnection } from "../web/_socket.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";
import type { Platform } from "../../calls/mod.ts";

interface Sent {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is where it is a text, else as JSON. */
  readonly body?: unknown;
}
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- whatever came, for the tests to look into
  readonly body: any;
}
type Described = Record<string, Record<string, { responses: Record<string, { content: object }> }>>;

const LIMIT = 5;

/** Fails as nothing should: with an error that nobody has thought of. */
const failing = defineOperation<Platform>()({
  name: "test.fail",
  group: "test",
  summary: "Fail",
  effect: "read",
  access: "public",
  input: z.object({ word: z.string().optional().describe("Any word") }),
  output: z.object({}),
  rest: { test_fail: "GET /v1/test/fail" },
  example: { input: {}, output: {} },
  run: () => Promise.reject(new Error("password in SELECT at /home/somebody")),
});

describe("the gateway", () => {
  let gateway: TestGateway;
  let described: Described;
  let partner: string;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const stop = new AbortController();
  let ended: Promise<unknown>;

  before(async () => {
    gateway = await startGateway({
      extra: [failing],
      settings: { SEALOOP_LIMIT_FREE: String(LIMIT), SEALOOP_TRUSTED_HOPS: "1" },
    });
    const description = await (await fetch(`${gateway.url}/openapi.json`)).json();
    described = (description as { paths: Described }).paths;
    ajv.addSchema(description as object, "description");
    partner = await gateway.key();
    const store = openStore(gateway.urls.sequencer, "sequencer");
    const keyFile = join(await testFolder(), "ledger.key");
    ended = runSequencer({ store, keyFile, signal: stop.signal }).finally(() => store.close());
  });
  after(async () => {
    stop.abort();
    await ended;
    await gateway.stop();
  });

  /** An operation answers with what its description says, and in that form. */
  function assertDescribed(path: string, method: string, status: number, text: string): void {
    const template = Object.keys(described).find((template) =>
      new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path.split("?")[0]!)
    );
    const door = template === undefined ? undefined : described[template]![method.toLowerCase()];
    if (!template || !door) return;
    assert.ok(String(status) in door.responses, `${status} at ${method} ${path}`);
    const steps = [
      "paths",
      template,
      method.toLowerCase(),
      "responses",
      String(status),
      "content",
      "application/json",
      "schema",
    ].map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
    const fits = ajv.compile({ $ref: `description#/${steps.join("/")}` });
    assert.ok(fits(JSON.parse(text)), `${path}: ${ajv.errorsText(fits.errors)}\n${text}`);
  }

  /** Calls a path; where it is an operation's, its answer must be one that the description has. */
  async function call(path: string, sent: Sent = {}): Promise<Answer> {
    const { method = sent.body === undefined ? "GET" : "POST", key, headers, body } = sent;
    const response = await fetch(gateway.url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assertDescribed(path, method, response.status, text);
    assert.ok(response.headers.get("x-request-id"), path);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
  }

  describe("says who may", () => {
    it("tells in its status that the policy's file is not followed, and not where that is", async () => {
      const store = openStore(gateway.urls.app, "app", 1);
      const trouble = async () => (await call("/v1/status/fresh", { key: partner })).body;
      const note = { path: "/etc/policy.yaml", error: "line 3: rule own" };
      await setPolicyFileStatus(store.asPlatform(), note);
      const { status, backends } = await trouble();
      assert.deepEqual([status, backends.governance.ok], ["degraded", false]);
      assert.match(backends.governance.error, /^the policy's file is not followed; [^/]*$/);
      await setPolicyFileStatus(store.asPlatform(), { ...note, error: null });
      assert.equal((await trouble()).backends.governance.ok, true);
      await store.close();
    });

    it("tells in its status that sealing stands still, when what waits is older than its turn", async () => {
      const store = openStore(gateway.urls.owner, "owner", 1);
      const ledger = async () =>
        (await call("/v1/status/fresh", { key: partner })).body.backends.ledger;
      const payload = JSON.stringify({ timestamp: "2026-01-01T00:00:00+00:00" });
      await store.asPlatform().execute(
        "INSERT INTO seal_outbox (seq, id, payload) OVERRIDING SYSTEM VALUE VALUES (-1, 'old', $1)",
        [payload],
      );
      const { ok, error } = await ledger();
      await store.asPlatform().execute("DELETE FROM seal_outbox WHERE seq = -1");
      assert.deepEqual([ok, error.replace(/\d+/g, "N")], [
        false,
        "sealing stands still: about N receipts wait, the oldest for N s",
      ]);
      await store.close();
    });

    it("counts no ticket and no service of drills in its status", async () => {
      const store = openStore(gateway.urls.app, "app", 1);
      const counted = async () => {
        const { backends } = (await call("/v1/status/fresh", { key: partner })).body;
        return [backends.tickets.detail.open ?? 0, backends.services.detail.unknown ?? 0];
      };
      const [tickets, services] = await counted();
      for (const [n, name] of ["test-0a1b2c3d", "attack-0a1b2c3d", "till"].entries()) {
        await openTicket(store.asPlatform(), {
          id: `INC-00000000d00${n}`,
          title: "It fails",
          description: "",
          severity: "high",
          phase: "ticketed",
          service: name,
          fingerprint: null,
          workflowId: null,
          runId: null,
          requestedBy: "test",
        });
        await putService(store.asPlatform(), {
          name,
          type: "web",
          host: "localhost",
          owner: null,
          origin: "file",
          check: null,
          restart: null,
          watched: false,
          dependsOn: [],
        });
      }
      assert.deepEqual(await counted(), [tickets + 1, services + 1]);
      await store.asPlatform().execute("DELETE FROM tickets WHERE id LIKE 'INC-00000000d00%'");
      await store.asPlatform().execute(
        "DELETE FROM services WHERE name = 'till' OR name LIKE '%-0a1b2c3d'",
      );
      await store.close();
    });

    it("401 without a key where one is needed, and of a key that is none, everywhere", async () => {
      const without = await call("/v1/itsm/incidents");
      assert.deepEqual([without.status, typeof without.body.detail], [401, "string"]);
      for (const key of ["slp_partner_nonsense", "x", `${partner}x`, partner.toUpperCase()]) {
        for (const path of ["/v1/itsm/incidents", "/v1/health"]) {
          assert.equal((await call(path, { key })).status, 401, `${key} ${path}`);
        }
      }
    });

    it("401 with the header that takes the key, where it was sent as to the tool server", async () => {
      const needs = "This needs an API key in the header x-api-key";
      const without = await call("/v1/itsm/incidents");
      assert.deepEqual(without.body, { detail: needs });
      const headers = { authorization: `Bearer ${partner}` };
      const elsewhere = await call("/v1/itsm/incidents", { headers });
      assert.deepEqual([elsewhere.status, elsewhere.body], [401, {
        detail: `${needs}; Authorization, which was sent, is for the tool server`,
      }]);
    });

    it("403 of a tier that is too low, and of an audit key that would write", async () => {
      const body = { tenant: "x", tier: "free" };
      assert.equal((await call("/v1/keys/generate", { key: partner, body })).status, 403);
      const audit = await gateway.key({ scope: "audit", tier: "enterprise" });
      const ticket = { title: "x", description: "y", severity: "low" };
      const refused = await call("/v1/itsm/tickets", { key: audit, body: ticket });
      assert.equal(refused.status, 403);
      const receipt = refused.headers.get("x-receipt-id")!;
      assert.match(receipt, /^[0-9a-f]{16}$/, "a refusal is sealed, too");
      assert.equal((await call("/v1/itsm/incidents", { key: audit })).status, 200);
    });

    it("422 of a key whose holder people could take for another by eye", async () => {
      const admin = await gateway.key({ tier: "admin" });
      const issue = (fields: object) =>
        call("/v1/keys/generate", {
          key: admin,
          body: { tenant: "acme", tier: "free", ...fields },
        });
      for (
        const principal of ["nіght-agent", "night\u200b-agent", "night\u202e-agent", "night\u00a0x"]
      ) {
        const { status, body } = await issue({ principal });
        assert.deepEqual([status, body.detail[0].loc], [422, ["body", "principal"]], principal);
      }
      assert.equal((await issue({ tenant: "a\u2063cme" })).status, 422);
      for (const principal of ["Zoë Müller", "Анна Example", "山田 太郎", "Αθηνά"]) {
        assert.equal((await issue({ principal })).status, 200, principal);
      }
    });

    it("401 of a key that has expired", async () => {
      const key = await gateway.key({ expiresAt: new Date(Date.now() - 1000) });
      assert.equal((await call("/v1/itsm/incidents", { key })).status, 401);
    });
  });

  describe("says what was wrong", () => {
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
      it(`with a number or text that does not fit: ${path}`, async () => {
        const { status, body } = await call(path, { key: partner });
        assert.equal(status, 422);
        const [issue] = body.detail;
        assert.deepEqual(issue.loc, loc);
        assert.ok(issue.msg.length > 0 && issue.type.length > 0);
      });
    }

    it("with a field that is missing, unknown, or of another type, all at once", async () => {
      const body = { titel: "x", description: 1, severity: "grave" };
      const answer = await call("/v1/itsm/tickets", { key: partner, body });
      assert.equal(answer.status, 422);
      const found = answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) =>
        [...loc, type].join(" ")
      );
      assert.deepEqual(found.toSorted(), [
        "body description string_type",
        "body severity enum",
        "body titel extra_forbidden",
        "body title missing",
      ]);
      const bare = await call("/api/v1/receipts/seal", { key: partner, body: {} });
      assert.deepEqual(bare.body.detail.map(({ type }: { type: string }) => type), [
        "missing",
        "missing",
        "missing", // one of them has a list of values to choose from
      ]);
    });

    it("with a field of the query that is unknown, and which there are, once it is known who asks", async () => {
      const path = "/v1/itsm/incidents?statsu=resolved&status=lost&constructor=x";
      assert.equal((await call(path)).status, 401);
      const { status, body } = await call(path, { key: partner });
      assert.equal(status, 422);
      const found = body.detail.map(({ loc, type }: { loc: string[]; type: string }) =>
        [...loc, type].join(" ")
      );
      assert.deepEqual(found.toSorted(), [
        "query constructor extra_forbidden",
        "query statsu extra_forbidden",
        "query status enum",
      ]);
      const { msg } = body.detail.find(({ loc }: { loc: string[] }) => loc[1] === "statsu");
      assert.match(msg, /^Unknown field; the query's fields are .*status/);
    });

    for (
      const [path, body, loc] of [
        ["/v1/itsm/tickets?dry_run=true", {}, ["query", "dry_run"]],
        ["/v1/itsm/tickets/INC-000000000000?ticket_id=x", undefined, ["query", "ticket_id"]],
        ["/v1/itsm/webhooks/deliveries?webhookid=x", undefined, ["query", "webhookid"]],
      ] as const
    ) {
      it(`with a field where it is not looked for: ${path}`, async () => {
        const answer = await call(path, { key: partner, body });
        assert.equal(answer.status, 422);
        assert.deepEqual(answer.body.detail.map(({ loc }: { loc: string[] }) => loc), [loc]);
      });
    }

    it("with a field of a body that has none, without naming the path's", async () => {
      const path = "/v1/approvals/APR-000000000000/approve";
      const { status, body } = await call(path, { key: partner, body: { reason: "x" } });
      assert.deepEqual([status, body.detail], [422, [{
        loc: ["body", "reason"],
        msg: "Unknown field; the body has none",
        type: "extra_forbidden",
      }]]);
    });

    for (const [what, body] of Object.entries({ "a list": "[]", "a text": '"x"', null: "null" })) {
      it(`with a body that is ${what} and no object`, async () => {
        const answer = await call("/v1/itsm/tickets", { key: partner, body });
        assert.equal(answer.status, 422);
        assert.equal(answer.body.detail[0].loc[0], "body");
      });
    }

    it("with malformed JSON, another type, and too much", async () => {
      const path = "/v1/itsm/tickets";
      const malformed = await call(path, { key: partner, body: "{" });
      assert.deepEqual([malformed.status, malformed.body.detail[0].type], [422, "json_invalid"]);
      const headers = { "content-type": "text/plain" };
      assert.equal((await call(path, { key: partner, body: "{}", headers })).status, 415);
      const large = await call(path, { key: partner, body: `"${"x".repeat(1024 * 1024)}"` });
      assert.deepEqual([large.status, typeof large.body.detail], [413, "string"]);
    });

    it("with a text that nothing can keep", async () => {
      const body = { title: "a\0b", description: "x", severity: "low" };
      assert.equal((await call("/v1/itsm/tickets", { key: partner, body })).status, 422);
    });

    it("with a path or method that there is not", async () => {
      assert.deepEqual((await call("/v2")).body, {
        detail: "There is nothing at GET /v2; /docs lists what there is",
      });
      const wrong = await call("/v1/ledger", { method: "DELETE" });
      assert.equal(wrong.status, 405);
      assert.match(wrong.headers.get("allow") ?? "", /^HEAD, GET$/);
      assert.equal((await call("/v1/receipt/%ff")).status, 422);
    });
  });

  for (
    const [asked, meant] of [
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
    it(`names ${meant ?? "no other path"} to who asked for ${asked.slice(0, 40)}`, async () => {
      const [method, path] = asked.split(" ") as [string, string];
      const { status, body } = await call(path, { method });
      assert.equal(status, 404);
      const near = meant === undefined ? "" : `did you mean ${meant}? `;
      assert.equal(body.detail, `There is nothing at ${asked}; ${near}/docs lists what there is`);
    });
  }

  describe("says of receipts", () => {
    before(async () => {
      const store = openStore(gateway.urls.app, "app");
      const sealer = await openSealer(store);
      for (const id of ["twinned-1", "twinned-2"]) {
        await sealer.request({
          id,
          category: "test",
          actor: "a",
          subject: "s",
          action: "x",
          outcome: "ok",
        });
        await sealer.sealed(id);
      }
      await sealer.close();
      await store.close();
    });

    it("404 and the id of one that is not there", async () => {
      const { status, body } = await call("/v1/receipt/0123456789abcdef", { key: partner });
      assert.deepEqual([status, body.receipt_id], [404, "0123456789abcdef"]);
      assert.equal(typeof body.error, "string");
    });

    it("409 and the matches of a prefix that fits several", async () => {
      const { status, body } = await call("/v1/receipt/TWINNED-", { key: partner });
      assert.equal(status, 409);
      assert.deepEqual([body.receipt_id, body.matches], ["TWINNED-", ["twinned-1", "twinned-2"]]);
    });

    it("the receipt for the whole id in any case, and HEAD without it", async () => {
      const path = "/v1/receipt/Twinned-1";
      const { status, text } = await call(path, { key: partner });
      assert.equal(status, 200);
      const head = await fetch(gateway.url + path, {
        method: "HEAD",
        headers: { "x-api-key": partner },
      });
      assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(text)));
      assert.equal(await head.text(), "");
    });
  });

  describe("counts", () => {
    beforeEach(() => withinOneDay(60)); // which they are counted by

    it("exactly as many as the limit, of one more at once", async () => {
      const key = await gateway.key({ tier: "free" });
      const answers = await Promise.all(
        Array.from({ length: LIMIT + 1 }, () => call("/v1/ledger", { key })),
      );
      const passed = answers.filter(({ status }) => status === 200);
      assert.equal(passed.length, LIMIT);
      const left = passed.map(({ headers }) => Number(headers.get("ratelimit-remaining")));
      assert.deepEqual(left.toSorted((a, b) => a - b), [0, 1, 2, 3, 4]);
      const refused = answers.find(({ status }) => status === 429)!;
      assert.deepEqual(refused.body, { detail: `Rate limit exceeded (${LIMIT}/day)` });
      const seconds = Number(refused.headers.get("retry-after"));
      assert.ok(seconds > 0 && seconds <= 86_400);
      assert.equal(refused.headers.get("ratelimit-limit"), String(LIMIT));
      assert.equal(refused.headers.get("ratelimit-remaining"), "0");
      assert.equal(refused.headers.get("ratelimit-reset"), String(seconds));
    });

    it("callers without a key by their address, as the trusted proxy saw it", async () => {
      const from = (address: string) => ({ headers: { "x-forwarded-for": `9.9.9.9, ${address}` } });
      const all = await Promise.all(
        Array.from({ length: LIMIT + 1 }, () => call("/v1/ledger", from("203.0.113.1"))),
      );
      assert.equal(all.filter(({ status }) => status === 429).length, 1);
      assert.equal((await call("/v1/ledger", from("203.0.113.2"))).status, 200);
    });

    it("neither health nor the pages", async () => {
      const headers = { "x-forwarded-for": "203.0.113.3" };
      for (let i = 0; i <= LIMIT; i++) {
        assert.equal((await call("/v1/health", { headers })).status, 200);
        assert.equal((await fetch(`${gateway.url}/docs`, { headers })).status, 200);
      }
      assert.equal((await call("/v1/ledger", { headers })).status, 200);
    });
  });

  it("says nothing of itself when it fails", async () => {
    const { status, body } = await call("/v1/test/fail?word=hunter1", { key: partner });
    assert.equal(status, 500);
    assert.deepEqual(body, {
      detail: "The service failed to do this; the request id is in x-request-id",
    });
  });

  it("logs no key, no query and no body, though it failed", async () => {
    const body = { title: "hunter2", severity: "grave" };
    await call("/v1/itsm/tickets?secret=hunter3", { key: partner, body });
    await call("/v1/itsm/tickets", { key: `${partner}hunter4`, body });
    const log = gateway.log();
    assert.match(log, /"route":"\/v1\/itsm\/tickets"/);
    assert.doesNotMatch(log, /hunter/);
    assert.ok(!log.includes(partner));
  });

  it("logs the id of the key that called, also where it was refused, and null where none was", async () => {
    const body = { tenant: "x", tier: "free" };
    const secret = await gateway.key();
    const { id } = (await findKeys(gateway.platform.store.asPlatform(), [hashKey(secret)]))[0]!;
    const answers = [
      await call("/v1/itsm/incidents", { key: secret }),
      await call("/v1/keys/generate", { key: secret, body }),
      await call("/v1/health"),
      await call("/v1/health", { key: `${secret}x` }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [200, 403, 200, 401]);
    const lines = gateway.log().trim().split("\n").map((line) => JSON.parse(line));
    const logged = answers.map(({ headers }) =>
      lines.find(({ request_id }) => request_id === headers.get("x-request-id")).key_id
    );
    assert.deepEqual(logged, [id, id, null, null]);
  });

  it("answers what runs when it stops, and then nobody", async () => {
    let letGo = () => {};
    const mayEnd = new Promise<void>((resolve) => letGo = resolve);
    let begun = () => {};
    const runs = new Promise<void>((resolve) => begun = resolve);
    const slow = defineOperation<Platform>()({
      ...failing,
      name: "test.wait",
      summary: "Wait",
      rest: { test_wait: "GET /v1/test/wait" },
      async run() {
        begun();
        await mayEnd;
        return {};
      },
    });
    const stopping = await startGateway({ extra: [slow] });
    const connection = await openConnection(stopping.port);
    connection.write("GET /v1/test/wait HTTP/1.1\r\nhost: x\r\n\r\n");
    await runs;
    const drained = stopping.drain();
    letGo();
    const answer = await connection.answer();
    assert.equal(answer.status, 200);
    await Promise.all([drained, connection.ended]);
    await assert.rejects(openConnection(stopping.port), /ECONNREFUSED/);
    await stopping.stop(); // which waits for no Temporal that is away
  });
});
