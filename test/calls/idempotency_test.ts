/** Calls with an idempotency key, over REST. */
import assert from "node:assert/strict";
import { createInvoke } from "../../calls/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";
import { outputValue, Problem } from "../../contract/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { addStop, removeStop } from "../../store/calls/mod.ts";
import { setGovernance } from "../_governance.ts";
import { asSuperuser } from "../_superuser.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { issueAgentKey, type Json } from "./_platform.ts";
import { idempotentCaller, LIMIT } from "./_idempotent_caller.ts";

const TICKETS = "/v1/itsm/tickets";

describe("a call with an idempotency key", () => {
  const caller = idempotentCaller();
  const { flaky, newKey, post, fail, db } = caller;

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
      const { category, outcome, details } = await caller.agent.getReceipt(
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
      const two = await post("program", path, { wait: false, error: "none" }, key);
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
      await setGovernance(caller.agent.people.store, { rules: [denial] });
      await isDenied();
      await isDenied();
      await setGovernance(caller.agent.people.store, {});
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
      await setGovernance(caller.agent.people.store, { rules: [denial] });
      const again = await fail({ error: "none" }, key);
      await setGovernance(caller.agent.people.store, {});
      assert.deepEqual([again.status, again.text], [200, first.text]);
    });

    it("seals an event once, where its caller gave up waiting for the sequencer", async () => {
      const { platform } = caller.agent.people;
      const seal = platform.operations.get("receipts.seal")!;
      const invoke = createInvoke({
        ...platform,
        sealer: {
          ...platform.sealer,
          sealed: () => Promise.reject(new Problem("Unavailable", "It takes too long")),
        },
      });
      const { key, record } = await issueAgentKey(caller.agent.people.store);
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
      const output = await caller.agent.people.eventually(() =>
        call().then((result) => outputValue(result.output) as Json, (error) => {
          assert.equal(error.name, "StillRunning");
          return undefined;
        })
      );
      const receipts = await exportReceipts(caller.agent.people.store, { from: 0, to: 10_000 });
      const sealed = receipts.filter(({ text }) =>
        text.includes('"api_seal"') && text.includes(record.id)
      );
      assert.deepEqual(sealed.map(({ id }) => id), [output.receipt_id]);
    });

    it("is not used up by input that is invalid, or by a dry run", async () => {
      const key = newKey();
      assert.equal((await post("program", TICKETS, { name: "x" }, key)).status, 422);
      const headers = { "idempotency-key": key, "x-dry-run": "true" };
      const dry = await caller.agent.people.call(
        "POST",
        TICKETS,
        "program",
        { title: "x" },
        headers,
      );
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
      const input = { error: "none", wait: true };
      let answered = 0;
      const calls = Array.from({ length: 12 }, async () => {
        const answer = await fail(input, key);
        answered++;
        return answer;
      });
      await caller.agent.people.eventually(() =>
        Promise.resolve(answered === 11 || flaky.runs.count > 1 || undefined)
      );
      flaky.release();
      const answers = await Promise.all(calls);
      assert.equal(flaky.runs.count, 1);
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array(11).fill(409)]);
      const running = answers.find(({ status }) => status === 409)!;
      assert.match(running.body.detail, /is still running/);
      assert.match(String(running.headers.get("retry-after")), /^\d+$/);
      assert.equal((await fail(input, key)).body.run, 1);
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
      const { status, body } = await caller.agent.people.call("POST", TICKETS, "program", {
        title: "x",
      }, headers);
      assert.equal(status, 422);
      assert.match(body.detail[0].msg, /did you mean idempotency-key\?/);
    });

    it("only reads where the operation reads", async () => {
      const headers = { "idempotency-key": newKey() };
      const list = () =>
        caller.agent.people.call("GET", "/v1/approvals", "program", undefined, headers);
      assert.equal((await list()).headers.get("x-earlier"), null);
      assert.equal((await list()).headers.get("x-earlier"), null);
    });
  });

  it("is a new call after a day, and what was kept is removed", async () => {
    const key = newKey();
    assert.equal((await fail({ error: "none" }, key)).body.run, 1);
    const age = () =>
      asSuperuser(caller.agent.people.store).execute(
        "UPDATE idempotent_calls SET first_at = first_at - interval '25 hours'",
      );
    await age();
    assert.equal((await fail({ error: "none" }, key)).body.run, 2);
    assert.equal((await fail({ error: "none" }, key)).body.run, 2);
    await age();
    await settleLostCalls(caller.agent.people.loop);
    assert.deepEqual(await db().query("SELECT FROM idempotent_calls"), []);
  });

  it("has a limit a day, and a call without one has not", async () => {
    await ensureSecondsLeftInDay(60);
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
