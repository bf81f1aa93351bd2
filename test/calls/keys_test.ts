import assert from "node:assert/strict";
import { mkdtemp, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  ensureAdminKey,
  issueSealedKey,
  revokeSealedKey,
  rotateSealedKey,
} from "../../calls/mod.ts";
import { prepareRequest } from "../../ledger/mod.ts";
import type { Role, Store } from "../../store/mod.ts";
import { findKeyById, hasAdminKey, issueKey, type NewKey } from "../../store/keys/mod.ts";
import { testFolder } from "../_run.ts";
import { storeAs, testStore } from "../_servers.ts";

const PARTNER: NewKey = {
  tenant: "acme",
  tier: "partner",
  scope: "full",
  principal: "Ann",
  mayApprove: true,
  expiresAt: null,
};

describe("keys and their receipts", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  const stores = new Map<Role, Store>();
  before(async () => {
    test = await testStore("operator");
    for (const role of ["gateway", "tools", "worker", "engine", "sequencer", "ledger"] as const) {
      stores.set(role, await storeAs(test.store, role));
    }
  });
  after(() => test?.close());

  /** Returns the requested receipts about a key, oldest first. */
  async function receiptsOf(keyId: string) {
    const rows = await test.store.asPlatform().query(
      "SELECT payload FROM seal_outbox WHERE payload::json ->> 'subject' = $1 ORDER BY seq",
      [`key:${keyId}`],
    );
    return rows.map(({ payload }) => JSON.parse(payload));
  }

  it("are issued, replaced and revoked together", async () => {
    const { record } = await issueSealedKey(test.store, "operator", PARTNER);
    const rotated = await rotateSealedKey({ store: test.store }, "operator", record.id, 60);
    await revokeSealedKey({ store: test.store }, "operator", record.id);
    await assert.rejects(
      revokeSealedKey({ store: test.store }, "operator", record.id),
      /no valid key/,
    );
    const receipts = await receiptsOf(record.id);
    const categories = receipts.map(({ category }) => category);
    assert.deepEqual(categories, ["key_issued", "key_replaced", "key_revoked"]);
    const { tier, scope, may_approve } = receipts[0].details;
    assert.deepEqual([tier, scope, may_approve], ["partner", "full", true]);
    assert.equal(receipts[1].details.new_key, rotated.record.id);
    assert.equal((await receiptsOf(rotated.record.id)).length, 1);
  });

  it("are refused where the receipt says less than the key may do", async () => {
    const db = test.store.asPlatform();
    const receipt = (
      subject: string,
      details: Record<string, unknown>,
      category = "key_issued",
      id?: string,
    ) =>
      prepareRequest({
        ...(id ? { id } : {}),
        category,
        actor: "operator",
        subject,
        action: "keys.generate",
        outcome: "success",
        details,
        evidence: { tenant: "acme", principal: "Ann" },
      });
    const said = { tier: "partner", scope: "full", may_approve: true };
    const wrong: readonly ((id: string) => ReturnType<typeof prepareRequest>)[] = [
      (id) => receipt(`key:${id}`, { ...said, tier: "free" }),
      (id) => receipt(`key:${id}`, { ...said, may_approve: false }),
      (id) => receipt(`key:${id}`, {}),
      () => receipt("key:0123456789abcdef", said),
      (id) => receipt(`key:${id}`, said, "test"),
    ];
    const ids: string[] = [];
    for (const receiptOf of wrong) {
      const issuing = issueKey(db, PARTNER, (id) => {
        ids.push(id);
        return receiptOf(id);
      });
      await assert.rejects(issuing, { code: "23514" });
    }
    for (const id of ids) assert.equal(await findKeyById(db, id), undefined);
    const taken = (await issueSealedKey(test.store, "operator", PARTNER)).record;
    const [{ id }] = await receiptsOf(taken.id);
    const reused = (keyId: string) => ({ ...receipt(`key:${keyId}`, said, "key_issued", id), id });
    await assert.rejects(issueKey(db, PARTNER, reused), { code: "23505" });
  });

  it("are refused where the sequencer would refuse the receipt", async () => {
    const details = { tier: "partner", scope: "full", may_approve: true };
    const withPart = (part: string) => (text: string) => text.replace("{", `{${part},`);
    const changes: readonly ((payload: string) => string)[] = [
      withPart('"more":1'),
      withPart('"timestamp":"2026-01-01T00:00:00.000000+00:00"'),
      (text) => text.replace('"may_approve"', '"more":"\\ud800","may_approve"'),
      (text) => text.replace('"may_approve"', '"more":1e400,"may_approve"'),
      (text) => text.replace(/"id":"/, '"id":"0'),
      (text) => text.replace(/"timestamp":"\d{4}/, '"timestamp":"9'),
      (text) => text.replace(/"actor":"operator"/, '"actor":""'),
      (text) => text.replace(/"actor":"operator"/, `"actor":"${"x".repeat(300_000)}\n"`),
    ];
    for (const change of changes) {
      const issuing = issueKey(test.store.asPlatform(), PARTNER, (keyId) => {
        const { payload, ...receipt } = prepareRequest({
          category: "key_issued",
          actor: "operator",
          subject: `key:${keyId}`,
          action: "keys.generate",
          outcome: "success",
          details,
          evidence: { tenant: "acme", principal: "Ann" },
        });
        assert.notEqual(change(payload), payload);
        return { ...receipt, payload: change(payload) };
      });
      await assert.rejects(issuing, { name: "error" }); // PostgreSQL's
    }
  });

  it("of tier admin are issued by the operator alone", async () => {
    const admin: NewKey = { ...PARTNER, tier: "admin" };
    for (const role of ["gateway", "worker"] as const) {
      await issueSealedKey(stores.get(role)!, "operator", PARTNER);
      const issuing = issueSealedKey(stores.get(role)!, "operator", admin);
      await assert.rejects(issuing, /may not issue keys of tier admin/);
    }
  });

  it("can be issued and revoked by no other process", async () => {
    const { record } = await issueSealedKey(test.store, "operator", PARTNER);
    for (const role of ["tools", "engine", "sequencer", "ledger"] as const) {
      const store = stores.get(role)!;
      await assert.rejects(issueSealedKey(store, "operator", PARTNER), { code: "42501" });
      await assert.rejects(revokeSealedKey({ store }, "operator", record.id), { code: "42501" });
    }
  });

  it("begin with one of tier admin, in a file that only its owner can read", async () => {
    const path = join(await mkdtemp(join(await testFolder(), "keys-")), "admin.key");
    const key = (await ensureAdminKey(test.store, path))!;
    assert.equal(await readFile(path, "utf8"), `${key}\n`);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.ok(await hasAdminKey(test.store.asPlatform()));
    assert.equal(await ensureAdminKey(test.store, path), undefined, "there is one already");
  });
});
