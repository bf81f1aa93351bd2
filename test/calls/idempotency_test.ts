/** Calls with an idempotency key, over REST and MCP. */
import assert from "node:assert/strict";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { createInvoke, type Platform } from "../../calls/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { defineOperation, outputValue, Problem } from "../../contract/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { addStop, removeStop } from "../../store/mod.ts";
import { setGovernance } from "../_governance.ts";
import { asSuperuser } from "../_superuser.ts";
import { governanceOf, openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import { issueAgentKey, type Json } from "./_platform.ts";

const LIMIT = 60;
const TICKETS = "/v1/itsm/tickets";

/** Fails as often as it is told to, by an error of a kind. */
function createFlaky() {
  const runs = { count: 0 };
  const operation = defineOperation<Platform>()({
    name: "test.flaky",
    summary: "Fail",
    group: "test",
    effect: "write",
    shippedRule: "key-decides",
    access: "public",
    input: z.object({
      error: z.enum(["Conflict", "RateLimited", "Unavailable", "Cancelled", "none"]),
      large: z.boolean().default(false),
      wait_ms: z.number().default(0),
    }),
    output: z.object({ run: z.number(), padding: z.string() }),
    tool: { fail_once: ["full"] },
    rest: { test_flaky: "POST /v1/test/flaky" },
    example: { input: { error: "none" }, output: { run: 1, padding: "" } },
    async run({ error, large, wait_ms }) {
      const run = ++runs.count;
      await new Promise((done) => setTimeout(done, wait_ms));
      if (error !== "none" && run === 1) throw new Problem(error, `Run ${run} failed`);
      return { run, padding: large ? "x".repeat(200_000) : "" };
    },
  });
  return { operation, runs };
}

describe("a call with an idempotency key", () => {
  const wiper = createDiskWiper();
  const flaky = createFlaky();
  let agent: TestAgent;
  let number = 0;
  before(async () => {
    agent = await openAgent([wiper.operation, flaky.operation], {
      SEALOOP_LIMIT_IDEMPOTENCY: String(LIMIT),
      SEALOOP_LIMIT_FREE: "1000",
    });
  });
  after(() => agent?.people.stop());
  beforeEach(() => {
    wiper.runs.length = 0;
    flaky.runs.count = 0;
  });

  const newKey = () => `test call ${++number}`;
  async function post(who: string | undefined, path: string, body: Json, key?: string) {
    const { people } = agent;
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    const answer = await people.call("POST", path, who, body, headers);
    return {
      ...answer,
      text: JSON.stringify(answer.body),
      earlier: answer.headers.get("x-earlier"),
    };
  }
  const fail = (fields: Json, key: string, who = "program") =>
    post(who, "/v1/test/flaky", fields, key);
  const callTool = (tool: string, input: Json, key: string) =>
    agent.call(tool, input, { "sealoop/idempotency_key": key });
  const errorOf = (result: CallToolResult) => result._meta?.["sealoop/error"];
  const db = () => agent.people.store.asPlatform();

  describe("over REST", () => {
    it("gives the first answer again, and does nothing more", async () => {
      const key = newKey();
      const first = await post("program", TICKETS, { title: "Printer jams" }, key);
      const again = await post("program", TICKETS, { title: "Printer jams" }, key);
      assert.equal(first.status, 200, first.text);
      assert.deepEqual([again.status, again.text], [first.status, first.text]);
      assert.equal(first.earlier, null);
      assert.match(String(again.earlier), /^\d{4}-\d\d-\d\dT/);
      const other = await post("program", TICKETS, { title: "Printer jams" }, newKey());
      assert.notEqual(other.body.ticket_id, first.body.ticket_id);
    });

    it("is sealed as repeated, with the decision of the first", async () => {
      const key = newKey();
      const first = await post("program", TICKETS, { title: "Fan rattles" }, key);
      const again = await post("program", TICKETS, { title: "Fan rattles" }, key);
      const { category, outcome, details } = await agent.getReceipt(
        String(again.headers.get("x-receipt-id")),
      );
      assert.deepEqual([category, outcome, details.repeats], [
        "api_call",
        "repeated",
        first.headers.get("x-governance-decision-id"),
      ]);
      assert.equal(again.headers.get("x-governance-decision-id"), null, "nothing was decided");
    });

    it("takes fields in another order, and defaults spelled out, as the same input", async () => {
      const key = newKey();
      const path = "/v1/test/flaky";
      const one = await post("program", path, { error: "none", large: false }, key);
      const two = await post("program", path, { wait_ms: 0, error: "none" }, key);
      assert.deepEqual([two.text, flaky.runs.count], [one.text, 1]);
    });

    it("is refused with other input", async () => {
      const key = newKey();
      await post("program", TICKETS, { title: "One" }, key);
      const { status, body } = await post("program", TICKETS, { title: "Two" }, key);
      assert.equal(status, 409);
      assert.match(body.detail, /belongs to another call of tickets\.create, with other arguments/);
    });

    it("is another call for another API key, operation or address", async () => {
      const key = newKey();
      const body = { error: "none" };
      const runs = [
        await fail(body, key),
        await fail(body, key, "ann"),
        await post(undefined, "/v1/test/flaky", body, key),
      ].map(({ body: { run } }) => run);
      assert.deepEqual(runs, [1, 2, 3]);
      assert.equal((await post(undefined, "/v1/test/flaky", body, key)).body.run, 3);
      assert.equal((await post("program", TICKETS, { title: "Same key" }, key)).status, 200);
    });

    it("gives an error of the caller's again", async () => {
      const key = newKey();
      const first = await fail({ error: "Conflict" }, key);
      const again = await fail({ error: "Conflict" }, key);
      assert.deepEqual([first.status, first.body], [409, { detail: "Run 1 failed" }]);
      assert.deepEqual([again.status, again.text, flaky.runs.count], [409, first.text, 1]);
      assert.ok(again.earlier);
      const past = { tenant: "acme", tier: "free", expires_at: "2020-01-01T00:00:00Z" };
      const invalid = newKey();
      const refused = await post("admin", "/v1/keys/generate", past, invalid);
      assert.equal(refused.status, 422);
      assert.equal((await post("admin", "/v1/keys/generate", past, invalid)).text, refused.text);
    });

    for (const error of ["RateLimited", "Unavailable", "Cancelled"] as const) {
      it(`runs again after ${error}, once`, async () => {
        const key = newKey();
        const statuses = [];
        for (let n = 0; n < 3; n++) statuses.push((await fail({ error }, key)).status);
        assert.notEqual(statuses[0], 200);
        assert.deepEqual([statuses.slice(1), flaky.runs.count], [[200, 200], 2]);
      });
    }

    it("is decided about anew after it was denied, and runs once it may", async () => {
      const key = newKey();
      const input = { error: "none" };
      const decisions = new Set<string | null>();
      async function isDenied() {
        const { status, earlier, headers } = await fail(input, key);
        assert.deepEqual([status, earlier], [403, null]);
        decisions.add(headers.get("x-governance-decision-id"));
      }
      const denial = { name: "own", when: { tools: ["fail_once"] }, then: "deny" };
      await setGovernance(agent.people.store, { rules: [denial] });
      await isDenied();
      await isDenied();
      await setGovernance(agent.people.store, {});
      const stop = { kind: "all", name: "" } as const;
      await addStop(db(), { ...stop, reason: "we look into it" });
      await isDenied();
      assert.equal(decisions.size, 3, "each has its own decision");
      assert.equal(flaky.runs.count, 0);
      await removeStop(db(), stop);
      const first = await fail(input, key);
      const again = await fail(input, key);
      assert.deepEqual([first.status, again.text, flaky.runs.count], [200, first.text, 1]);
      assert.ok(again.earlier);
    });

    it("keeps an answer that was given before a rule denied it", async () => {
      const key = newKey();
      const first = await fail({ error: "none" }, key);
      const denial = { name: "own", when: { tools: ["fail_once"] }, then: "deny" };
      await setGovernance(agent.people.store, { rules: [denial] });
      const again = await fail({ error: "none" }, key);
      await setGovernance(agent.people.store, {});
      assert.deepEqual([again.status, again.text], [200, first.text]);
    });

    it("seals an event once, where its caller gave up waiting for the sequencer", async () => {
      const { platform } = agent.people;
      const seal = platform.operations.get("receipts.seal")!;
      const invoke = createInvoke({
        ...platform,
        sealer: {
          ...platform.sealer,
          sealed: () => Promise.reject(new Problem("Unavailable", "It takes too long")),
        },
      });
      const { key, record } = await issueAgentKey(agent.people.store);
      const call = () =>
        invoke(seal, {
          door: "rest",
          as: "seal",
          input: { service: "billing", event: "backup", status: "complete" },
          credential: key,
          idempotencyKey: "seal once",
          requestId: "1",
          address: "127.0.0.1",
          signal: new AbortController().signal,
        });
      await assert.rejects(call(), /It takes too long/);
      const output = await agent.people.eventually(() =>
        call().then((result) => outputValue(result.output) as Json, (error) => {
          assert.equal(error.name, "StillRunning");
          return undefined;
        })
      );
      const receipts = await exportReceipts(agent.people.store, { from: 0, to: 10_000 });
      const sealed = receipts.filter(({ text }) =>
        text.includes('"api_seal"') && text.includes(record.id)
      );
      assert.deepEqual(sealed.map(({ id }) => id), [output.receipt_id]);
    });

    it("is not used up by input that is invalid, or by a dry run", async () => {
      const key = newKey();
      assert.equal((await post("program", TICKETS, { name: "x" }, key)).status, 422);
      const headers = { "idempotency-key": key, "x-dry-run": "true" };
      const dry = await agent.people.call("POST", TICKETS, "program", { title: "x" }, headers);
      assert.equal(dry.body.governance.dry_run, true);
      const { body } = await post("program", TICKETS, { title: "y" }, key);
      assert.match(body.ticket_id, /^INC-/);
    });

    it("has no secret in a repeated answer, and none is kept", async () => {
      const key = newKey();
      const input = { tenant: "acme", tier: "free" };
      const first = await post("admin", "/v1/keys/generate", input, key);
      const again = await post("admin", "/v1/keys/generate", input, key);
      assert.match(first.body.api_key, /^slp_free_/);
      assert.equal(again.text, JSON.stringify({ ...first.body, api_key: null }));
      const url = { url: "https://hooks.example.com/x" };
      const hook = await post("ann", "/v1/itsm/webhooks", url, key);
      assert.match(hook.body.secret, /^whsec_/);
      assert.equal((await post("ann", "/v1/itsm/webhooks", url, key)).body.secret, null);
      const kept = JSON.stringify(await db().query("SELECT * FROM idempotent_calls"));
      assert.ok(!kept.includes(first.body.api_key) && !kept.includes(hook.body.secret));
    });

    it("runs once where it is sent many times at once", async () => {
      const key = newKey();
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => fail({ error: "none", wait_ms: 300 }, key)),
      );
      assert.equal(flaky.runs.count, 1);
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array(11).fill(409)]);
      const running = answers.find(({ status }) => status === 409)!;
      assert.match(running.body.detail, /is still running/);
      assert.match(String(running.headers.get("retry-after")), /^\d+$/);
      assert.equal((await fail({ error: "none", wait_ms: 300 }, key)).body.run, 1);
    });

    it("is not run again if its answer was too large to keep", async () => {
      const key = newKey();
      assert.equal((await fail({ error: "none", large: true }, key)).status, 200);
      const { status, body } = await fail({ error: "none", large: true }, key);
      assert.deepEqual([status, flaky.runs.count], [409, 1]);
      assert.match(body.detail, /was done; its answer was too large/);
    });

    it("is refused with a key that can't be one, or a misspelt header", async () => {
      for (const key of ["", " ", "é", "x".repeat(256)]) {
        const { status, body } = await post("program", TICKETS, { title: "x" }, key);
        assert.deepEqual([status, body.detail?.[0].loc], [422, ["header", "idempotency-key"]], key);
      }
      const headers = { "x-idempotency-key": "a" };
      const { status, body } = await agent.people.call("POST", TICKETS, "program", {
        title: "x",
      }, headers);
      assert.equal(status, 422);
      assert.match(body.detail[0].msg, /did you mean idempotency-key\?/);
    });

    it("only reads where the operation reads", async () => {
      const headers = { "idempotency-key": newKey() };
      const list = () => agent.people.call("GET", "/v1/approvals", "program", undefined, headers);
      assert.equal((await list()).headers.get("x-earlier"), null);
      assert.equal((await list()).headers.get("x-earlier"), null);
    });
  });

  describe("over MCP", () => {
    it("gives the first answer again, and does nothing more", async () => {
      const key = newKey();
      const first = await callTool("itsm_create_ticket", { title: "Disk fills" }, key);
      const again = await callTool("itsm_create_ticket", { title: "Disk fills" }, key);
      assert.ok(!first.isError, JSON.stringify(first));
      assert.deepEqual([again.content, again.structuredContent], [
        first.content,
        first.structuredContent,
      ]);
      assert.match(String(again._meta?.["sealoop/earlier"]), /^\d{4}-\d\d-\d\dT/);
      assert.equal((await agent.getReceipt(String(again._meta?.receipt_id))).outcome, "repeated");
    });

    it("is refused with other input", async () => {
      const key = newKey();
      await callTool("itsm_create_ticket", { title: "One" }, key);
      const result = await callTool("itsm_create_ticket", { title: "Two" }, key);
      assert.equal(errorOf(result), "IdempotencyKeyReused");
      assert.match(JSON.stringify(result.content), /Use a new idempotency key/);
    });

    it("gives an error of the caller's again, and runs again after one of the service", async () => {
      const [conflict, away] = [newKey(), newKey()];
      const first = await callTool("fail_once", { error: "Conflict" }, conflict);
      const again = await callTool("fail_once", { error: "Conflict" }, conflict);
      assert.deepEqual([again.content, again.isError], [first.content, true]);
      assert.ok(again._meta?.["sealoop/earlier"]);
      flaky.runs.count = 0;
      const input = { error: "Unavailable" };
      assert.equal(errorOf(await callTool("fail_once", input, away)), "Unavailable");
      assert.ok(!(await callTool("fail_once", input, away)).isError);
    });

    for (
      const [meta, message] of [
        [{ "sealoop/idempotency-key": "a" }, /did you mean sealoop\/idempotency_key\?/],
        [{ idempotencyKey: "a" }, /did you mean sealoop\/idempotency_key\?/],
        [{ "sealoop/idempotency_key": 7 }, /has to have 1 to 255 visible ASCII characters/],
      ] as const
    ) {
      it(`is refused where its key is misspelt: ${JSON.stringify(meta)}`, async () => {
        await assert.rejects(agent.call("fail_once", { error: "none" }, meta), message);
        assert.equal(flaky.runs.count, 0);
      });
    }
  });

  describe("that waits for people", () => {
    it("tells how its approval stands, and its result once", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sda" }, key);
      const held = await wipe();
      const { approval_id } = governanceOf(held);
      const pending = await wipe();
      assert.deepEqual(pending.structuredContent, held.structuredContent, "nothing has changed");
      await agent.decide(approval_id, "approve");
      await agent.waitForEnd(approval_id);
      const result = await wipe();
      assert.deepEqual(result.structuredContent, { wiped: "sda", passes: 1 });
      assert.ok(result._meta?.["sealoop/earlier"]);
      const collected = governanceOf(await wipe());
      assert.deepEqual([collected.approval_id, collected.status], [approval_id, "approved"]);
      assert.match(collected.next, /was run, once, and you were given its result/);
      assert.equal(wiper.runs.length, 1);
      const next = governanceOf(await callTool("wipe_disk", { disk: "sda" }, newKey()));
      assert.notEqual(next.approval_id, approval_id, "another key is another call");
    });

    it("answers 202 over REST until it has run", async () => {
      const key = newKey();
      const wipe = () => post("program", "/v1/test/wipe", { disk: "sdb" }, key);
      const held = await wipe();
      const pending = await wipe();
      assert.deepEqual([pending.status, pending.text], [202, held.text]);
      const { approval_id } = held.body.governance;
      await agent.decide(approval_id, "approve");
      await agent.waitForEnd(approval_id);
      const result = await wipe();
      assert.deepEqual([result.status, result.body], [200, { wiped: "sdb", passes: 1 }]);
      assert.equal((await wipe()).status, 202);
      assert.equal(wiper.runs.length, 1);
    });

    it("stays denied, and runs if its approval is reopened and approved", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sdc" }, key);
      const { approval_id } = governanceOf(await wipe());
      await agent.decide(approval_id, "deny");
      for (let n = 0; n < 2; n++) assert.match(JSON.stringify(await wipe()), /has denied it/);
      await agent.decide(approval_id, "reopen", "approve");
      await agent.waitForEnd(approval_id);
      assert.equal(governanceOf(await wipe()).approval_id, approval_id);
      assert.equal(wiper.runs.length, 1);
    });

    it("stays with its approval when the rules no longer ask", async () => {
      const key = newKey();
      const wipe = () => callTool("wipe_disk", { disk: "sdd" }, key);
      const { approval_id } = governanceOf(await wipe());
      await setGovernance(agent.people.store, {
        rules: [{ name: "own", when: { tools: ["wipe_disk"] }, then: "allow" }],
      });
      const pending = governanceOf(await wipe());
      await setGovernance(agent.people.store, {});
      assert.deepEqual([pending.approval_id, wiper.runs.length], [approval_id, 0]);
    });
  });

  it("is a new call after a day, and what was kept is removed", async () => {
    const key = newKey();
    assert.equal((await fail({ error: "none" }, key)).body.run, 1);
    const age = () =>
      asSuperuser(agent.people.store).execute(
        "UPDATE idempotent_calls SET first_at = first_at - interval '25 hours'",
      );
    await age();
    assert.equal((await fail({ error: "none" }, key)).body.run, 2);
    assert.equal((await fail({ error: "none" }, key)).body.run, 2);
    await age();
    await settleLostCalls(agent.people.loop);
    assert.deepEqual(await db().query("SELECT FROM idempotent_calls"), []);
  });

  it("has a limit a day, and a call without one has not", async () => {
    let status = 200;
    for (let n = 0; n <= LIMIT && status === 200; n++) {
      ({ status } = await fail({ error: "none" }, newKey(), "free"));
    }
    assert.equal(status, 429);
    const refused = await fail({ error: "none" }, newKey(), "free");
    assert.match(refused.body.detail, /\(60\/day with idempotency keys\)/);
    assert.equal((await post("free", "/v1/test/flaky", { error: "none" })).status, 200);
  });
});
