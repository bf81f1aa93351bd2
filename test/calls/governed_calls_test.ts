import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import pg from "pg";
import { z } from "zod";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { addStop, endHeldCall, getHeldCall, removeStop } from "../../store/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import { vote } from "../workflows/_people.ts";
import { setGovernance } from "../_governance.ts";
import { dangerous } from "./_dangerous.ts";
import type { Platform } from "../../calls/mod.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;

describe("a call that changes something", () => {
  const { operation, runs, letGo } = dangerous();
  const line = ["first", "second"];
  const takeNext = defineOperation<Platform>()({
    name: "test.take",
    summary: "Take the next",
    group: "test",
    access: "key",
    effect: "run",
    input: z.object({ place: z.number(), name: z.string().optional() }),
    output: z.object({ taken: z.string() }),
    tool: { take_next: ["full"] },
    example: { input: { place: 0 }, output: { taken: "first" } },
    resolveStableInput({ place }) {
      const name = line[place];
      if (name === undefined) throw new Problem("NotFound", "There is nobody");
      return Promise.resolve({ input: { place, name }, about: `it is called ${name}` });
    },
    run: ({ name }) => Promise.resolve({ taken: name! }),
  });
  let people: People;
  let agent: Client;
  before(async () => {
    people = await openPeople({ SEALOOP_LIMIT_TOOLS: "1000" }, [operation, takeNext]);
    agent = await people.agent();
    await agent.listTools(); // from now on the client holds results against the schemas
  });
  after(() => people?.stop());
  beforeEach(() => {
    runs.length = 0;
  });

  const call = async (name: string, args: Json = {}, _meta?: Json) =>
    await agent.callTool({ name, arguments: args, _meta }) as CallToolResult;
  const governanceOf = (result: CallToolResult): Json =>
    (result.structuredContent as Json).governance;
  const info = async (id: string) =>
    (await people.call("GET", `/v1/approvals/${id}/info`, "ann")).body;
  const ended = (id: string) =>
    people.eventually(async () => {
      const { act } = await info(id);
      return act.ended_at ? act : undefined;
    });
  const asSuperuser = async (statement: string) => {
    const client = new pg.Client({ connectionString: people.loop.database.superuserUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const receipt = async (id: string): Promise<Json> => {
    await people.sealed(id);
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).find((one) => one.id === id);
  };

  it("waits for people where a rule says so, and then runs exactly once with what they saw", async () => {
    const held = await call("wipe_disk", { disk: "sda" });
    assert.ok(!held.isError, JSON.stringify(held));
    const { approval_id, decision_id, ...told } = governanceOf(held);
    assert.deepEqual([told.decision, told.status, told.rule], [
      "needs_approval",
      "pending",
      "unlisted",
    ]);
    assert.deepEqual(told.arguments, { disk: "sda", passes: 1 });
    assert.match(told.next, /call again with the same arguments/);
    assert.equal(held._meta?.["sealoop/approval_id"], approval_id);
    const again = governanceOf(await call("wipe_disk", { disk: "sda" }));
    assert.equal(again.approval_id, approval_id, "the same call joins what waits");
    assert.equal(runs.length, 0);

    const { action } = await info(approval_id);
    assert.deepEqual(action.arguments, { disk: "sda", passes: 1 });
    const approved = await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    const act = await ended(approval_id);
    assert.deepEqual([act.state, act.output], ["done", { wiped: "sda", passes: 1 }]);
    assert.deepEqual(runs, [{ disk: "sda", passes: 1 }]);

    const result = await call("wipe_disk", { disk: "sda" });
    assert.deepEqual(result.structuredContent, { wiped: "sda", passes: 1 });
    assert.equal(result._meta?.["sealoop/earlier"], act.ended_at, "it is told to be no new one");
    assert.equal(held._meta?.["sealoop/earlier"], undefined);
    assert.equal(runs.length, 1, "the result was collected, and nothing was run again");
    const next = governanceOf(await call("wipe_disk", { disk: "sda" }));
    assert.notEqual(next.approval_id, approval_id, "another time takes another approval");

    const sealed = await receipt(act.receipt_id);
    assert.deepEqual([sealed.category, sealed.outcome, sealed.details.approval_id], [
      "governed_act",
      "success",
      approval_id,
    ]);
    assert.equal(sealed.details.decision_id, decision_id);
    assert.ok(!JSON.stringify(sealed).includes("sda"), "arguments stay private");
    const heldReceipt = await receipt(String(held._meta?.receipt_id));
    assert.deepEqual([heldReceipt.outcome, heldReceipt.details.decision], [
      "held",
      "needs_approval",
    ]);
  });

  it("of which nobody knows what became is told as that, and not as failed", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "lost" }));
    const message = "It was begun, and may have been done: look at the disk";
    const error = { name: "OutcomeUnknown", message };
    const end = { state: "unknown", output: null, error, receiptId: "unknown-end" } as const;
    assert.ok(await endHeldCall(people.store.asPlatform(), approval_id, end));
    const told = await call("wipe_disk", { disk: "lost" });
    assert.equal(told.isError, true);
    assert.equal(
      (told.content as Json)[0].text,
      `${message}\nIt may have been done: check its target before you call again, or ask a person.`,
    );
    assert.equal(told._meta?.["sealoop/error"], "OutcomeUnknown");
    assert.match(String(told._meta?.["sealoop/earlier"]), /^\d{4}-\d\d-\d\dT/);
    assert.equal((await receipt(String(told._meta?.receipt_id))).outcome, "unknown");
  });

  it("is told to be run now, and not to wait for a person, once it is approved", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "slow" }));
    const approved = await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
    await people.eventually(() => Promise.resolve(runs.length > 0 || undefined));
    try {
      const told = governanceOf(await call("wipe_disk", { disk: "slow" }));
      assert.equal(told.status, "approved");
      assert.match(told.next, /is approved, and exactly these arguments are run now/);
      assert.doesNotMatch(told.next, /Nothing was done|a person decides/);
    } finally {
      letGo();
    }
    assert.equal((await ended(approval_id)).state, "done");
    assert.equal(runs.length, 1);
  });

  it("gives a secret to the caller alone, and keeps it no longer than until then", async () => {
    const disk = "whsec_ABCDEFGHIJKLMNOP";
    const { approval_id } = governanceOf(await call("wipe_disk", { disk }));
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    assert.deepEqual((await ended(approval_id)).output, { wiped: "[secret]", passes: 1 });
    const result = await call("wipe_disk", { disk });
    assert.deepEqual(result.structuredContent, { wiped: disk, passes: 1 });
    const { output } = (await getHeldCall(people.store.asPlatform(), approval_id))!;
    assert.deepEqual(JSON.parse(output!), { wiped: "[secret]", passes: 1 });
  });

  it("is refused where a person denies it", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdb" }));
    await people.call("POST", `/v1/approvals/${approval_id}/deny`, "ann");
    const refused = await call("wipe_disk", { disk: "sdb" });
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /a person has denied it/);
    assert.equal(runs.length, 0);
  });

  it("runs after an approval that was denied at first and then reopened", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdc" }));
    for (const move of ["deny", "reopen", "approve"]) {
      const { status } = await people.call("POST", `/v1/approvals/${approval_id}/${move}`, "ann");
      assert.equal(status, 200, move);
    }
    assert.equal((await ended(approval_id)).state, "done");
    assert.deepEqual(runs, [{ disk: "sdc", passes: 1 }]);
  });

  it("runs with its secrets where its caller was told of the denial before it was reopened", async () => {
    const disk = "whsec_QRSTUVWXYZABCDEF";
    const { approval_id } = governanceOf(await call("wipe_disk", { disk }));
    await people.call("POST", `/v1/approvals/${approval_id}/deny`, "ann");
    assert.match(JSON.stringify((await call("wipe_disk", { disk })).content), /has denied it/);
    for (const move of ["reopen", "approve"]) {
      const { status } = await people.call("POST", `/v1/approvals/${approval_id}/${move}`, "ann");
      assert.equal(status, 200, move);
    }
    const { state, error } = await ended(approval_id);
    assert.deepEqual([state, error], ["done", null]);
    assert.deepEqual(runs, [{ disk, passes: 1 }]);
    const { input, output } = (await getHeldCall(people.store.asPlatform(), approval_id))!;
    assert.ok(!`${input}${output}`.includes(disk), "nobody is given it any more");
  });

  it("gives what it gave also where that could not be put on record at first", async () => {
    const disk = "whsec_GHIJKLMNOPQRSTUV";
    const { approval_id } = governanceOf(await call("wipe_disk", { disk }));
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    await ended(approval_id);
    const refuse = "ALTER TABLE governance_decisions ADD CONSTRAINT none CHECK (false) NOT VALID";
    await asSuperuser(refuse);
    try {
      assert.equal((await call("wipe_disk", { disk })).isError, true);
    } finally {
      await asSuperuser("ALTER TABLE governance_decisions DROP CONSTRAINT none");
    }
    const result = await call("wipe_disk", { disk });
    assert.deepEqual(result.structuredContent, { wiped: disk, passes: 1 });
    assert.equal(runs.length, 1);
  });

  it("is held by the same rule over REST, with status 202 and the same body", async () => {
    const answer = await people.call("POST", "/v1/test/wipe", "program", { disk: "sdd" });
    assert.equal(answer.status, 200, "REST is the way of people and programs: its tiers allow it");
    await setGovernance(people.store, {
      rules: [{ name: "wiping", when: { tools: ["wipe_disk"] }, then: "needs_approval" }],
    });
    const held = await people.call("POST", "/v1/test/wipe", "program", { disk: "sdd" });
    assert.equal(held.status, 202);
    assert.equal(held.body.governance.rule, "wiping");
    assert.match(String(held.headers.get("x-receipt-id")), /^\w{16}$/);
    assert.equal(runs.length, 1);
    const { approval_id } = held.body.governance;
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    const act = await ended(approval_id);
    const collected = await people.call("POST", "/v1/test/wipe", "program", { disk: "sdd" });
    assert.deepEqual(
      [collected.status, collected.headers.get("x-earlier")],
      [200, act.ended_at],
    );
    await setGovernance(people.store, {});
  });

  it("that fails after its approval says why, and is not run again", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "busy" }));
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    const act = await ended(approval_id);
    assert.deepEqual([act.state, act.error.name], ["failed", "Conflict"]);
    const told = await call("wipe_disk", { disk: "busy" });
    assert.equal(told.isError, true);
    assert.match(JSON.stringify(told.content), /is mounted/);
    assert.equal(runs.length, 1);
  });

  it("is for what it meant when people were asked, where its meaning moves", async () => {
    const held = await call("take_next", { place: 0 });
    const { approval_id, arguments: asked } = governanceOf(held);
    assert.deepEqual(asked, { place: 0, name: "first" });
    const { action, description } = await info(approval_id);
    assert.deepEqual(action.arguments, { place: 0, name: "first" });
    assert.match(description, /^Take the next: it is called first\. Asked because/);
    line.reverse();
    assert.equal(governanceOf(await call("take_next", { place: 0 })).approval_id, approval_id);
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    assert.deepEqual((await ended(approval_id)).output, { taken: "first" });
    const collected = await call("take_next", { place: 0 });
    assert.deepEqual(collected.structuredContent, { taken: "first" });
    const next = governanceOf(await call("take_next", { place: 0 }));
    assert.deepEqual([next.arguments.name, next.status], ["second", "pending"]);
    const nothing = await call("take_next", { place: 7 });
    assert.equal(nothing._meta?.["sealoop/error"], "NotFound", "nobody is asked about nothing");
  });

  it("is only decided in a dry run, and that is sealed", async () => {
    const dry = await call("wipe_disk", { disk: "sde" }, { "sealoop/dry_run": true });
    const told = governanceOf(dry);
    assert.deepEqual([told.decision, told.dry_run, told.approval_id], [
      "needs_approval",
      true,
      null,
    ]);
    const { outcome, details } = await receipt(String(dry._meta?.receipt_id));
    assert.deepEqual([outcome, details.dry_run], ["dry_run", true]);
    assert.equal(runs.length, 0);
  });

  for (
    const [meta, why] of [
      [{ "sealoop/dry_run": "true" }, /sealoop\/dry_run has to be true or false, without quotes/],
      [{ "sealoop/dry_run": 1 }, /has to be true or false/],
      [{ "sealoop/dryrun": true }, /has no sealoop\/dryrun; did you mean sealoop\/dry_run\?/],
      [{ "sealoop/other": true }, /has no sealoop\/other\. Nothing was done/],
      [{ dry_run: true }, /has no dry_run; did you mean sealoop\/dry_run\?/],
    ] as const
  ) {
    it(`is not done where a dry run is misspelt: ${JSON.stringify(meta)}`, async () => {
      await assert.rejects(call("wipe_disk", { disk: "sdf" }, meta), why);
      assert.equal(runs.length, 0);
      assert.equal(
        governanceOf(
          await call("wipe_disk", { disk: "sdf" }, {
            "sealoop/dry_run": true,
          }),
        ).dry_run,
        true,
      );
    });
  }

  it("is refused while a switch stops it, everything or its key; and reading goes on", async () => {
    for (
      const stop of [
        { kind: "tool", name: "wipe_disk" },
        { kind: "all", name: "" },
      ] as const
    ) {
      await addStop(people.store.asPlatform(), { ...stop, reason: "we look into it" });
      const refused = await call("wipe_disk", { disk: "sdf" });
      assert.equal(refused._meta?.["sealoop/error"], "Denied");
      assert.deepEqual([refused._meta?.["sealoop/decision"], refused._meta?.["sealoop/rule"]], [
        "deny",
        "stopped",
      ]);
      assert.match(String(refused._meta?.["sealoop/decision_id"]), /^GOV-[0-9a-f]{12}$/);
      assert.match(JSON.stringify(refused.content), /is stopped: we look into it/);
      assert.ok(!(await call("ledger.search_receipts")).isError);
      await removeStop(people.store.asPlatform(), stop);
    }
    assert.equal(runs.length, 0);
  });

  it("is not run where it is stopped between its approval and its run", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdg" }));
    await addStop(people.store.asPlatform(), { kind: "all", name: "", reason: "halt" });
    await vote(people.loop, approval_id, "approved", { id: people.keyId("ann") });
    const act = await ended(approval_id);
    await removeStop(people.store.asPlatform(), { kind: "all", name: "" });
    assert.equal(act.state, "refused");
    assert.equal(runs.length, 0);
  });

  it("can't be approved while it is stopped, and waits on until it goes on", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdj" }));
    const approve = () => people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    for (
      const [stop, said] of [
        [{ kind: "all", name: "" }, "everything that changes something is stopped (halt)"],
        [{ kind: "tool", name: "wipe_disk" }, "tool wipe_disk is stopped (halt)"],
      ] as const
    ) {
      await addStop(people.store.asPlatform(), { ...stop, reason: "halt" });
      const { status, body } = await approve();
      await removeStop(people.store.asPlatform(), stop);
      assert.equal(status, 409);
      assert.equal(
        body.detail,
        `Cannot approve ${approval_id} now, as it would be in vain: ${said}. It stays pending; approve it after ` +
          `npm run governance -- resume ${stop.kind}${stop.name ? ` ${stop.name}` : ""}`,
      );
    }
    assert.equal((await info(approval_id)).status, "pending");
    assert.equal((await approve()).body.status, "approved");
    assert.equal((await ended(approval_id)).state, "done");
    runs.length = 0;
  });

  it("can't be approved once the key that asked is not valid any more", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdk" }));
    await people.store.asPlatform().execute(
      "UPDATE held_calls SET key_id = repeat('0', 16) WHERE approval_id = $1",
      [approval_id],
    );
    const { status, body } = await people.call(
      "POST",
      `/v1/approvals/${approval_id}/approve`,
      "ann",
    );
    assert.equal(status, 409);
    assert.match(body.detail, /in vain: the key that asked was revoked or has expired/);
    assert.equal((await info(approval_id)).status, "pending");
  });

  it("is not run with other arguments than those that were approved", async () => {
    const { approval_id } = governanceOf(await call("wipe_disk", { disk: "sdh" }));
    await people.store.asPlatform().execute(
      "UPDATE held_calls SET input = $2 WHERE approval_id = $1",
      [approval_id, '{"disk":"all"}'],
    );
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    const act = await ended(approval_id);
    assert.deepEqual([act.state, act.error.name], ["refused", "Denied"]);
    assert.equal(runs.length, 0);
    assert.equal((await receipt(act.receipt_id)).outcome, "refused");
  });

  it("applies what was learnt when a person has approved that, and seals what it was learnt from", async () => {
    const words = "Label printer of the warehouse prints blank labels";
    const ticket = (await call("itsm_create_ticket", { title: words })).structuredContent as Json;
    const { ticket_id } = ticket;
    const resolution =
      "Turned the \u202eribbon of the label printer around and cleaned its print head";
    const closing = await people.call("POST", `/v1/itsm/tickets/${ticket_id}/close`, "ann", {
      resolution,
    });
    const { receipt_id } = closing.body;
    const item = await people.eventually(async () => {
      const { items } = (await call("get_learning_queue")).structuredContent as Json;
      return items.find((one: Json) => one.ticket_id === ticket_id);
    });
    assert.ok(item.score >= 50 && item.score <= 85, `${item.score}`);
    const known = async () => {
      const { rag_context } = await people.platform.engine.classify({
        description: words,
        source: "test",
      });
      return rag_context.passages.some(({ id }) => id === ticket_id);
    };

    const { item_id } = item;
    const { approval_id, rule } = governanceOf(await call("approve_learning_item", { item_id }));
    assert.equal(rule, "acts-on-the-outside", "as the policy has it that ships");
    const { body: asked } = await people.call("GET", `/v1/approvals/${approval_id}/info`, "ann");
    assert.ok(
      asked.description.includes(`Resolution: Turned the ⟨U+202E⟩ribbon`),
      asked.description,
    );
    assert.match(asked.description, /It scored \d+ \(closed_by_a_person 25, /);
    assert.ok(!await known());
    await people.call("POST", `/v1/approvals/${approval_id}/approve`, "ann");
    const act = await ended(approval_id);
    assert.deepEqual([act.state, act.output.state, act.output.learned_from], [
      "done",
      "applied",
      [receipt_id],
    ]);
    assert.ok(await known(), "diagnoses may rest on it now");
    const lesson = await receipt(act.output.receipt_id);
    assert.deepEqual([lesson.category, lesson.subject, lesson.learned_from], [
      "learning_receipt",
      ticket_id,
      [receipt_id],
    ]);
    const source = await receipt(receipt_id);
    assert.deepEqual([source.category, source.subject], ["ticket_closed", ticket_id]);
    const collected = await call("approve_learning_item", { item_id });
    assert.deepEqual(collected.structuredContent, act.output);
  });

  it("is on record with its reasons, for its own tenant", async () => {
    const { body } = await people.call("GET", "/v1/governance/decisions?limit=200", "program");
    const kinds = new Set(body.decisions.map(({ decision }: Json) => decision));
    assert.deepEqual([...kinds].sort(), ["allow", "deny", "needs_approval"]);
    const denied = body.decisions.find(({ rule }: Json) => rule === "stopped");
    assert.match(denied.reasons[0], /is stopped/);
    const { category, outcome } = await receipt(denied.receipt_id);
    assert.deepEqual([category, outcome], ["governance_decision", "deny"]);
    const anonymous = await people.call("GET", "/v1/governance/decisions");
    assert.equal(anonymous.status, 401);
  });
});
