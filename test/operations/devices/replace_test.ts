import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  approversText,
  changeApprovers,
  readDeviceRoots,
  signAsApprover,
} from "../../../operations/devices/protocol/mod.ts";
import { getDevice } from "../../../store/devices/mod.ts";
import { replaceTenantToken } from "../../../store/keys/mod.ts";
import { openPeople, type People } from "../../api/_people.ts";
import { asSuperuser } from "../../_superuser.ts";
import { approvalBegins } from "./_commands.ts";
import { install } from "./_platform.ts";

const PYTHON = process.env.SEALOOP_TEST_PYTHON ?? "python3";
const DAY_MS = 24 * 60 * 60_000;

describe("devices with people", () => {
  let people: People;
  let token: string;
  const agents: ChildProcess[] = [];
  before(async () => {
    people = await openPeople();
    ({ token } = await people.store.db.transaction((trx) =>
      replaceTenantToken(trx, new Date(Date.now() + DAY_MS))
    ));
    await people.eventually(() => readDeviceRoots(people.store).catch(() => undefined));
  });
  after(async () => {
    for (const agent of agents) agent.kill();
    await people?.stop();
  });

  /** Installs the agent in a folder of its own. */
  async function add(...args: string[]) {
    const answer = await fetch(`${people.url}/v1/devices/agent/install/${token}`);
    const script = (await answer.text()).replace(/server='[^']*'/, `server='${people.url}'`);
    const installed = await install(script, { args });
    const id = /This machine is the device (DEV-[0-9a-f]{12})/.exec(installed.output)?.[1] ?? "";
    return { ...installed, id };
  }
  const deviceOf = async (id: string) => (await getDevice(people.store.db, id))!;

  it("takes the place of one whose keys are lost once a person has approved, and not before", async () => {
    const old = await add();
    const fresh = await add("--replaces", old.id);
    assert.match(fresh.output, new RegExp(`It replaces ${old.id} as soon as a person approves`));
    assert.equal((await deviceOf(old.id)).status, "active");
    const approvalId = `APR-${fresh.id.slice(4)}`;
    await approvalBegins(people, approvalId);
    const { body: shown } = await people.call("GET", `/v1/approvals/${approvalId}/info`, "ann");
    assert.deepEqual(shown.action, {
      kind: "replace_device",
      device_id: fresh.id,
      replaces: old.id,
    });
    const vote = await people.vote(approvalId, "approve", "ann");
    assert.equal(vote.status, 200, JSON.stringify(vote.body));
    await people.eventually(async () => (await deviceOf(fresh.id)).replaces ?? undefined);
    assert.equal((await deviceOf(fresh.id)).replaces, old.id);
    const { status, quarantine } = await deviceOf(old.id);
    assert.deepEqual([status, quarantine], ["quarantined", "replaced"]);
  });

  it("is listed for its organization, and for nobody else's", async () => {
    const list = (who: string, org: string) =>
      people.call("GET", `/v1/tenants/${org}/devices`, who);
    const own = await list("program", "platform");
    assert.equal(own.body.org_id, "platform");
    assert.equal(own.body.total, own.body.devices.length);
    assert.ok(own.body.total > 0);
    assert.equal((await list("operator", "platform")).body.total, own.body.total);
    assert.deepEqual((await list("rival", "elsewhere")).body.devices, []);
    const statuses = [await list("rival", "platform"), await list("operator", "nowhere")];
    assert.deepEqual(statuses.map(({ status }) => status), [404, 404]);
  });

  it("takes nobody's place where a person denies it, or there is no such device", async () => {
    const old = await add();
    const fresh = await add("--replaces", old.id);
    const approvalId = `APR-${fresh.id.slice(4)}`;
    await approvalBegins(people, approvalId);
    const denied = await people.call("POST", `/v1/approvals/${approvalId}/deny`, "ann", {});
    assert.equal(denied.status, 200, JSON.stringify(denied.body));
    assert.deepEqual([(await deviceOf(old.id)).status, (await deviceOf(fresh.id)).replaces], [
      "active",
      null,
    ]);
    const stray = await add("--replaces", "DEV-000000000000");
    assert.equal(stray.code, 1);
    assert.match(stray.output, /There is no device DEV-000000000000/);
  });

  it("takes other approvers where those that it has pinned have signed them, and no others", async () => {
    const [first, second] = [makeApprover(), makeApprover()];
    const name = (version: number, keys: readonly string[], by?: KeyObject) => {
      const approvers = { signatures_required: 1, keys };
      const text = approversText("platform", { approvers, version });
      const signatures = by ? [signAsApprover(text, by)] : [];
      const next = { approvers, version, signatures };
      return people.store.db.transaction((trx) => changeApprovers(trx, "operator", next));
    };
    // The operator's role alone may name approvers.
    await asSuperuser(people.store).query(
      "GRANT INSERT ON tenant_approvers TO sealoop_worker; INSERT INTO seal_categories VALUES ('sealoop_worker', 'tenant_approvers')",
    );
    await name(1, [first.hex]);
    const device = await add();
    assert.match(device.output, /signatures required: 1/);
    const trust = () => readTrust(device.folder);
    assert.deepEqual(trust().approvers.keys, [first.hex]);
    await assert.rejects(name(2, [second.hex]), /only with 1 signatures of approvers/);
    await assert.rejects(name(2, [second.hex], second.privateKey), /and it has 0/);
    await assert.rejects(name(3, [second.hex], first.privateKey), /The next version/);
    await name(2, [second.hex], first.privateKey);
    // Whoever has the database and all keys of the servers can store a version; the device refuses it.
    await asSuperuser(people.store).query(
      `INSERT INTO tenant_approvers (tenant_id, version, approvers, signatures, receipt_id)
       VALUES ('platform', 3, $1, '[]', 'none')`,
      [JSON.stringify({ signatures_required: 0, keys: [] })],
    );
    run(device.folder);
    await people.eventually(async () =>
      (await deviceOf(device.id)).approversRefused === 3 || undefined
    );
    assert.equal((await deviceOf(device.id)).approversVersion, 2);
    assert.deepEqual(trust().approvers, {
      keys: [second.hex],
      signatures_required: 1,
      version: 2,
    });
    // What it had refused does not keep it from later ones; it hears of them while its heartbeat waits, and what the
    // platform believes to be pinned on it does not count.
    await asSuperuser(people.store).query(
      "DELETE FROM tenant_approvers WHERE version = 3; UPDATE devices SET approvers_version = 7",
    );
    await name(3, [first.hex], second.privateKey);
    await name(4, [first.hex, second.hex], first.privateKey);
    await people.eventually(async () => trust().approvers.version === 4 || undefined);
    await people.eventually(async () =>
      (await deviceOf(device.id)).approversVersion === 4 || undefined
    );
  });

  function run(folder: string): void {
    const args = ["-I", join(folder, "sealoop_agent.py"), "run", "--state", join(folder, "state")];
    agents.push(spawn(PYTHON, args, { stdio: "ignore" }));
  }
});

const readTrust = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "state", "runner", "trust.json"), "utf8"));

function makeApprover() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const hex = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
  return { privateKey, hex };
}
