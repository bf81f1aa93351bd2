import assert from "node:assert/strict";
import { sealArguments } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  addStop,
  type DecisionRecord,
  findStop,
  governanceInForce,
  listDecisions,
  listStops,
  recordDecisions,
  removeStop,
  setPolicy,
  type Stop,
  stopFor,
} from "../../store/calls/mod.ts";
import { storeAs, testStore } from "../_servers.ts";

const ALL: Stop = { kind: "all", name: "", reason: "An audit" };
const KEY: Stop = { kind: "key", name: "0123456789abcdef", reason: "Leaked" };
const TOOL: Stop = { kind: "tool", name: "itsm_close_ticket", reason: "Broken" };

describe("governance", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let db: Db;
  before(async () => {
    test = await testStore();
    db = test.store.asPlatform();
  });
  after(() => test?.close());

  it("is in force with the newest policy and all stops", async () => {
    assert.deepEqual(await governanceInForce(db), { version: 0, stops: [] });
    const first = await setPolicy(db, "governance_policies", { rules: [] });
    assert.deepEqual([first.before, first.after.version], [undefined, 1]);
    const same = await setPolicy(db, "governance_policies", { rules: [] });
    assert.equal(same.after, same.before, "it is in force already");
    await setPolicy(db, "governance_policies", { rules: [1] });
    assert.ok(await addStop(db, TOOL));
    assert.ok(await addStop(db, ALL));
    assert.ok(!await addStop(db, ALL), "it is set already");
    assert.deepEqual(await governanceInForce(db), {
      version: 2,
      stops: [ALL, TOOL],
    });
    assert.ok(await removeStop(db, ALL));
    assert.ok(!await removeStop(db, ALL), "it is removed already");
    assert.deepEqual((await listStops(db)).map(({ name }) => name), [TOOL.name]);
  });

  it("finds the widest stop of a key and of a tool's names", async () => {
    await removeStop(db, TOOL);
    const subject = { keyId: KEY.name, names: ["tickets.close", TOOL.name] };
    const other = { keyId: "fedcba9876543210", names: ["tickets.list"] };
    assert.equal(await findStop(db, subject), undefined);
    for (const [stop, applies] of [[TOOL, false], [KEY, false], [ALL, true]] as const) {
      await addStop(db, stop);
      assert.equal((await findStop(db, subject))!.kind, stop.kind);
      assert.equal((await findStop(db, other))?.kind, applies ? stop.kind : undefined);
      assert.equal(
        (await findStop(db, { ...other, keyId: null }))?.kind,
        applies ? stop.kind : undefined,
      );
    }
    assert.equal(stopFor([TOOL, KEY], subject), TOOL);
    assert.equal(stopFor([TOOL, KEY], other), undefined);
  });

  it("records any number of decisions with one statement, and lists those of a tenant", async () => {
    const decisions = Array.from({ length: 300 }, (_, n): DecisionRecord => ({
      id: `GOV-${String(n).padStart(12, "0")}`,
      tenant: n % 3 ? "acme" : "other",
      keyId: KEY.name,
      principal: 'Ann "the" O\'Neill',
      door: "mcp",
      tool: n % 2 ? "itsm_close_ticket" : "itsm_list_tickets",
      operation: "tickets.close",
      effect: "run",
      decision: n % 5 ? "allow" : "needs_approval",
      rule: "default",
      reasons: ["First.", "Second."],
      callerApproves: n % 2 > 0,
      policyVersion: "2",
      dryRun: false,
      approvalId: n % 5 ? null : "APR-000000000001",
      receiptId: `decision-${n}`,
      callReceiptId: n % 7 ? `call-${n}` : null,
      runs: n % 5 > 0,
      holder: n,
    }));
    const gateway = (await storeAs(test.store, "gateway")).asPlatform();
    await recordDecisions(gateway, decisions, sealArguments(gateway, []));
    await recordDecisions(gateway, [], sealArguments(gateway, []));
    const found = await listDecisions(test.store.asTenant("acme"), { limit: 1_000 });
    assert.equal(found.length, 200);
    const { runs: _, holder: __, ...expected } = decisions[1]!;
    const { at, ...shown } = found.find(({ id }) => id === expected.id)!;
    assert.deepEqual(shown, expected);
    assert.ok(at instanceof Date);
    const search = {
      decision: "needs_approval",
      tool: "itsm_close_ticket",
    } as const;
    const acme = test.store.asTenant("acme");
    const matches = await listDecisions(acme, {
      ...search,
      approvalId: "APR-000000000001",
      limit: 5,
    });
    assert.equal(matches.length, 5);
    const unsettled = await acme.query("SELECT FROM governance_decisions WHERE NOT settled");
    const open = decisions.filter(({ tenant, runs, callReceiptId }) =>
      tenant === "acme" && runs && callReceiptId !== null
    );
    assert.equal(unsettled.length, open.length);
  });
});
