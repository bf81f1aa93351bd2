import assert from "node:assert/strict";
import { listStops } from "../../store/calls/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

describe("the flags", () => {
  let gateway: TestGateway;
  let admin: string;
  let partner: string;
  before(async () => {
    gateway = await startGateway();
    admin = await gateway.key({ tier: "admin" });
    partner = await gateway.key();
  });
  after(() => gateway.stop());

  const flags = async () => (await gateway.call(admin, "GET", "/v1/admin/flags")).body;
  const set = (key: string, body: object, credential = admin) =>
    gateway.call(credential, "POST", `/v1/admin/flags/${key}`, body);
  const open = () =>
    gateway.call(partner, "POST", "/v1/itsm/tickets", { title: "Printer on floor 3 jams" });

  it("are false until they are set, and for admins alone", async () => {
    const { revision, flags: all } = await flags();
    assert.equal(revision, 0);
    assert.ok(all.length > 0 && all.every(({ value }: { value: boolean }) => value === false));
    assert.equal((await gateway.call(partner, "GET", "/v1/admin/flags")).status, 403);
    assert.equal((await set("read_only", { value: true }, partner)).status, 403);
    assert.equal((await gateway.call(partner, "PATCH", "/v1/admin/flags", {})).status, 403);
    assert.equal((await gateway.call(partner, "GET", "/v1/admin/integrations")).status, 403);
  });

  it("refuse unknown names, other types and stale revisions", async () => {
    assert.equal((await set("other", { value: true })).status, 422);
    assert.equal((await set("pause_sweeps", { value: "yes" })).status, 422);
    assert.equal((await set("pause_sweeps", { value: true, expected_revision: 7 })).status, 409);
    const { status } = await gateway.call(admin, "PATCH", "/v1/admin/flags", { other: true });
    assert.equal(status, 422);
    assert.equal((await flags()).revision, 0);
  });

  it("are set with a receipt each, whose reason stays private", async () => {
    const { status, body } = await set("pause_sweeps", { value: true, reason: "Moving day" });
    assert.equal(status, 200);
    const flag = body.flags.find(({ key }: { key: string }) => key === "pause_sweeps");
    assert.deepEqual([body.revision, flag.value], [1, true]);
    const row = await gateway.platform.store.asPlatform().first(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [flag.receipt_id],
    );
    const { category, details } = JSON.parse(row!.payload);
    assert.deepEqual([category, details.flag, details.value, details.revision], [
      "config_change",
      "pause_sweeps",
      true,
      1,
    ]);
    assert.doesNotMatch(row!.payload, /Moving day/);
    assert.equal((await set("pause_sweeps", { value: true })).body.revision, 1, "no change");
    const patched = await gateway.call(admin, "PATCH", "/v1/admin/flags", {
      pause_sweeps: false,
      require_two_approvers: true,
    });
    assert.equal(patched.body.revision, 3);
    assert.equal(await isFlagSet(gateway.platform.store.db, "require_two_approvers"), true);
  });

  it("stop everything and lift that stop again, by people alone", async () => {
    assert.equal((await open()).status, 200);
    assert.equal((await set("read_only", { value: true, reason: "Drill" })).status, 200);
    const refused = await open();
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail, /Everything that changes something is stopped: Drill/);
    assert.equal((await gateway.call(partner, "GET", "/v1/governance/decisions")).status, 200);
    assert.equal((await set("read_only", { value: false })).status, 200);
    assert.deepEqual(await listStops(gateway.platform.store.asPlatform()), []);
    assert.equal((await open()).status, 200);
  });

  it("leave the views of integrations to admins with their host, and never a credential", async () => {
    const { status, body } = await gateway.call(admin, "GET", "/v1/admin/integrations");
    assert.equal(status, 200);
    assert.equal(body.integrations.length, 8);
    const policy = body.integrations.find((one: { integration: string }) =>
      one.integration === "policy"
    );
    assert.deepEqual([policy.configured, policy.host, policy.credential_set], [false, null, false]);
    assert.ok(Date.parse(policy.last_ok_at) > 0);
  });
});
