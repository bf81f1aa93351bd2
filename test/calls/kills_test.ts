import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadConfig } from "../../config.ts";
import { Problem, type Recovery } from "../../contract/mod.ts";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import { registry } from "../../operations/mod.ts";
import { type OpenPlatform, openPlatform } from "../../processes/mod.ts";
import {
  addDecisions,
  getHeldCall,
  getTicket,
  HOLDER_LOCK,
  intendHeldCall,
  issueKey,
  listDecisions,
  putApproval,
  putHeldCall,
  type Row,
} from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { program } from "../_programs.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { deadly } from "./_killed.ts";
import { actionOf, sha256 } from "../../calls/approvals/mod.ts";
import { createInvoke } from "../../calls/mod.ts";
import { settleLostCalls } from "../../calls/recover/mod.ts";

describe("a governed call whose process is killed", () => {
  let database: TestDatabase;
  let open: OpenPlatform;
  let key: Awaited<ReturnType<typeof issueKey>>;
  before(async () => {
    database = await testDatabase();
    open = await openPlatform({
      config: loadConfig({}),
      log: createLog("test", "silent"),
      databaseUrl: () => database.urls.app,
    });
    key = await issueKey(open.platform.store.asPlatform(), {
      tenant: "test",
      tier: "partner",
      scope: "full",
      principal: "agent",
      mayApprove: false,
      expiresAt: null,
    });
  });
  after(async () => {
    await open.close();
    await database.drop();
  });

  const holders = async () => {
    const { rows: [{ n }] } = await open.platform.store.pool.query(
      `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [HOLDER_LOCK],
    );
    return n;
  };
  const killed = async (...words: string[]) => {
    const before = await holders();
    const file = await program("test/calls/_killed.ts");
    const env = { PATH: process.env.PATH, APP_URL: database.urls.app };
    const child = spawn(process.execPath, [file, ...words], {
      env,
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    assert.equal(signal, "SIGKILL");
    await eventually(async () => (await holders()) === before || undefined); // its connection ends a moment later
  };
  const receiptsOf = async (id: string) => {
    const { rows } = await open.platform.store.pool.query(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [id],
    );
    return rows.map(({ payload }) => JSON.parse(payload));
  };
  const decisions = async () =>
    await open.platform.store.asPlatform().query(
      "SELECT * FROM governance_decisions ORDER BY at DESC",
    ) as [Row, ...Row[]];
  /** As if some minutes had gone by. */
  const later = () =>
    open.platform.store.asPlatform().execute(
      "UPDATE governance_decisions SET at = now() - interval '5 minutes'",
    );
  const settle = () => settleLostCalls(open.platform);
  const timesRun = async (n: number) =>
    (await open.platform.store.asPlatform().query(
      "SELECT FROM usage WHERE subject = 'deadly' AND kind = $1",
      [String(n)],
    )).length;

  it("after the decision is sealed as unknown, once, and not before its process is gone", async () => {
    await killed("call", key.key);
    const [decision] = await decisions();
    assert.deepEqual([decision.decision, decision.settled], ["allow", false]);
    assert.equal((await receiptsOf(decision.receipt_id))[0].outcome, "allow");
    assert.deepEqual(await receiptsOf(decision.call_receipt_id), []);
    assert.equal(await settle(), 0, "it is too early to tell");
    await later();
    assert.equal(await settle(), 1);
    assert.equal(await settle(), 0);
    const [{ outcome, details }] = await receiptsOf(decision.call_receipt_id);
    assert.deepEqual([outcome, details.decision_id], ["unknown", decision.id]);
  });

  for (const [when, outcome] of [["before", "not_done"], ["after", "success"]] as const) {
    it(`${when} it opened its ticket is proven by that to be ${outcome}`, async () => {
      const { pool } = open.platform.store;
      const count = async () =>
        (await pool.query("SELECT count(*)::int AS n FROM tickets")).rows[0].n;
      const before = await count();
      await killed("ticket", key.key, when);
      const [decision] = await decisions();
      assert.deepEqual([decision.tool, decision.settled], ["itsm_create_ticket", false]);
      await later();
      assert.equal(await settle(), 1);
      const [{ outcome: sealed, details }] = await receiptsOf(decision.call_receipt_id);
      assert.equal(sealed, outcome);
      const opened = when === "after" ? 1 : 0;
      assert.equal(await count() - before, opened, "nobody is asked to look");
      if (opened) {
        const ticket = await getTicket(open.platform.store.asPlatform(), details.found.ticket_id);
        assert.equal(ticket?.title, "Printer jams");
      }
    });
  }

  it("is looked for again where that can't be done at the moment", async () => {
    await killed("ticket", key.key, "after");
    const [{ call_receipt_id }] = await decisions();
    await later();
    const away = () => Promise.reject(new Problem("Unavailable", "Temporal is away"));
    const ticket = { ...registry.get("tickets.create")!, recover: away };
    const operations = new Map([[ticket.name, ticket]]);
    assert.equal(await settleLostCalls({ ...open.platform, operations }), 0);
    assert.deepEqual(await receiptsOf(call_receipt_id), []);
    assert.equal(await settle(), 1);
    assert.equal((await receiptsOf(call_receipt_id))[0].outcome, "success");
  });

  it("before its decision was sealed was provably not done", async () => {
    const [known] = await listDecisions(open.platform.store.asPlatform(), {
      tenant: "test",
      limit: 1,
    });
    await addDecisions(open.platform.store.asPlatform(), [{
      ...known!,
      id: "GOV-000000000001",
      receiptId: "never-sealed",
      callReceiptId: "not-done",
      runs: true,
      holder: null,
    }]);
    await later();
    assert.equal(await settle(), 1);
    assert.equal((await receiptsOf("not-done"))[0].outcome, "not_done");
  });

  it("is waited for as long as its process lives, and an end that comes late corrects the record", async () => {
    let finish = () => {};
    const going = new Promise<void>((resolve) => finish = resolve);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => begin = resolve);
    const slow = {
      ...deadly,
      run: async () => {
        begin();
        await going;
        return {};
      },
    };
    const outcome = createInvoke(open.platform)(slow, {
      door: "mcp",
      requestId: "1",
      credential: key.key,
      address: "127.0.0.1",
      as: "deadly",
      input: { n: 2 },
      signal: new AbortController().signal,
    });
    await begun;
    await later();
    assert.equal(await settle(), 0, "its process lives");
    const open_ = (await decisions()).find(({ settled }) => !settled)!;
    await open.platform.store.asPlatform().execute(
      "UPDATE governance_decisions SET holder = 1 WHERE id = $1", // as if its connection had been lost
      [open_.id],
    );
    assert.equal(await settle(), 1);
    finish();
    const { receiptId } = await outcome;
    assert.notEqual(receiptId, open_.call_receipt_id);
    const [correction] = await receiptsOf(receiptId!);
    assert.deepEqual([correction.outcome, correction.supersedes], [
      "success",
      open_.call_receipt_id,
    ]);
  });

  const approved = async (approvalId: string, n: number) => {
    const { store } = open.platform;
    const call = {
      operation: deadly,
      request: { as: "deadly" },
      input: { n },
      caller: { keyId: key.record.id, tenant: "test" },
    };
    const { action, text } = actionOf(call);
    await putApproval(store.asPlatform(), {
      id: approvalId,
      subject: "tool:deadly",
      ticketId: null,
      description: "",
      action,
      actionSha256: sha256(text),
      requestedBy: "agent",
      requestedByKey: key.record.id,
      needed: 1,
      expiresInSeconds: 60,
      escalateAfterSeconds: 0,
      askingRun: null,
    });
    await store.asPlatform().execute(
      "UPDATE approvals SET status = 'approved', decided_at = now() WHERE id = $1",
      [approvalId],
    );
    await putHeldCall(store.asPlatform(), {
      approvalId,
      decisionId: "GOV-1",
      door: "mcp",
      tool: "deadly",
      operation: deadly.name,
      input: JSON.stringify({ n }),
      actionSha256: sha256(text),
      tenant: "test",
      keyId: key.record.id,
      address: "127.0.0.1",
    });
  };
  const again = (approvalId: string, operation = deadly) =>
    createHeldCallRunner({
      ...open.platform,
      operations: new Map([[operation.name, operation]]),
    })({
      approvalId,
      run: { workflow_id: `act-${approvalId}`, run_id: "first" },
      intentReceiptId: `${approvalId}-intent`,
      outcomeReceiptId: `${approvalId}-outcome`,
    });

  it("in the midst of an approved act is sealed as unknown, and never run twice", async () => {
    const id = "APR-000000000003";
    await approved(id, 3);
    await killed("act", id);
    assert.equal((await getHeldCall(open.platform.store.asPlatform(), id))?.state, "begun");
    assert.equal((await receiptsOf(`${id}-intent`))[0].outcome, "intended");
    const result = await again(id);
    assert.equal(result.state, "unknown");
    assert.deepEqual(await again(id), result);
    assert.equal(await timesRun(3), 1);
    const { rows: tickets } = await open.platform.store.pool.query(
      "SELECT title FROM tickets WHERE escalated AND status = 'open'",
    );
    assert.ok(tickets.length >= 1);
    assert.match(tickets[0].title, /Nobody knows whether deadly was done/);
    assert.equal((await receiptsOf(`${id}-outcome`))[0].outcome, "unknown");
    const { error } = (await getHeldCall(open.platform.store.asPlatform(), id))!;
    assert.equal(error?.name, "OutcomeUnknown");
    assert.match(
      error.message,
      /^APR-000000000003 was begun, .* It may have been done: look at what it acts on, .* in ticket INC-\w{12}$/,
    );
    const look = /INC-\w{12}/.exec(error.message)![0];
    assert.equal((await getTicket(open.platform.store.asPlatform(), look))?.escalated, true);
  });

  for (
    const [found, state, name, outcome] of [
      [{ state: "done", ids: { disk: "sda" }, output: { n: 1 } }, "done", undefined, "success"],
      [{ state: "not_done" }, "refused", "Unavailable", "not_done"],
      [{ state: "unknown", look: "at disk sda" }, "unknown", "OutcomeUnknown", "unknown"],
    ] as const satisfies [Recovery, string, string | undefined, string][]
  ) {
    it(`in the midst of an approved act that is found to be ${found.state} is sealed as that`, async () => {
      const n = 10 + found.state.length;
      const id = `APR-0000000000${n}`;
      await approved(id, n);
      await killed("act", id);
      const traced = { ...deadly, recover: () => Promise.resolve(found) };
      const result = await again(id, traced);
      assert.deepEqual([result.state, result.error], [state, name ?? null]);
      assert.deepEqual(await again(id, traced), result);
      assert.equal(await timesRun(n), 1);
      const { output, error } = (await getHeldCall(open.platform.store.asPlatform(), id))!;
      const [receipt] = await receiptsOf(`${id}-outcome`);
      assert.equal(receipt.outcome, outcome);
      if (found.state === "done") {
        assert.deepEqual([JSON.parse(output!), receipt.details.found], [found.output, found.ids]);
      } else if (found.state === "unknown") {
        assert.match(error!.message, /look at disk sda, as people are asked to in ticket INC-/);
      }
    });
  }

  it("between the intent and the beginning of an approved act is run, once", async () => {
    const id = "APR-000000000004";
    await approved(id, 4);
    await intendHeldCall(open.platform.store.asPlatform(), id);
    let runs = 0;
    const harmless = { ...deadly, run: () => Promise.resolve({ n: ++runs }) };
    const results = await Promise.allSettled([again(id, harmless), again(id, harmless)]);
    assert.ok(results.some((one) => one.status === "fulfilled" && one.value.state === "done"));
    assert.equal((await again(id, harmless)).state, "done");
    assert.equal(runs, 1);
  });
});
