import assert from "node:assert/strict";
import { detectAll, recheck } from "../../../judgement/detection/mod.ts";
import { readShieldPolicy } from "../../../judgement/shield/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { setPolicy } from "../../../store/calls/mod.ts";
import { listOpenFindings } from "../../../store/incidents/mod.ts";
import { listWatchedTenants } from "../../../store/keys/mod.ts";
import { report, rightNow, storeDevice } from "../shield/_stored_device.ts";
import { asSuperuser } from "../../_superuser.ts";
import { createTestContext, type TestContext } from "./_context.ts";

const POLICY = `policies:
  - { id: own-time, title: Time, severity: high, check: { time_synchronized: true }, finding: true,
      remedy_script_id: time-sync-on }
`;
const DISKS = [{ mount: "/", size_bytes: 100_000_000, free_bytes: 60_000_000 }];
const MEMORY = { total_bytes: 1_000_000, available_bytes: 500_000 };

describe("host_resources of devices", () => {
  let context: TestContext;
  let superuser: Db;
  let device: string;
  before(async () => {
    context = await createTestContext(
      "host_resources: { every_disk: false, memory_percent: 99, load_per_core: 1000 }",
    );
    superuser = asSuperuser({ url: context.store.url, tenant: "acme" });
    device = await storeDevice(superuser);
    await setPolicy(context.store.asPlatform(), "shield_policies", {
      ...readShieldPolicy(POLICY),
    });
  });
  after(() => context.close());

  /** Facts of a device on which all is right, but for these. */
  const tell = async (changes: object, posture: object = {}) => {
    const right = rightNow();
    const inventory = {
      ...right,
      posture: { ...right.posture, ...posture },
      disks: DISKS,
      memory: MEMORY,
      ...changes,
    };
    await report(superuser, device, { inventory });
  };
  const acme = () => ({ ...context, store: context.store.forTenant("acme") });
  const sweep = async () => await detectAll(acme(), { save: true });
  const open = async () =>
    (await listOpenFindings(context.store.asTenant("acme"))).map(({ code }) => code);

  it("are looked at in the name of their tenant, which needs no service", async () => {
    assert.ok((await listWatchedTenants(context.store.asPlatform())).includes("acme"));
    await tell({});
    const { findings, runs } = await sweep();
    assert.deepEqual(findings, []);
    const run = runs.find(({ detector }) => detector === "host_resources")!;
    assert.deepEqual([run.probed, run.error], [1, null], "the device, and not the platform's host");
    await detectAll(context, { save: true });
    assert.deepEqual(await listOpenFindings(context.store.asPlatform()), []);
  });

  it("become findings where a policy names one, with its code and its remedy", async () => {
    await tell({}, { time_synchronized: false, disk_encrypted: false });
    const { findings: [found, ...others], incidents } = await sweep();
    assert.deepEqual(others, [], "a policy that names no finding makes none");
    assert.deepEqual(
      [found!.code, found!.severity, found!.host, found!.service],
      ["posture_time_synchronized", "high", device, null],
    );
    assert.equal(found!.target.remedy_script_id, "time-sync-on");
    assert.match(String(found!.summary), /^web-1 \(DEV-[0-9a-f]{12}\) fails the policy own-time: /);
    assert.equal(incidents.length, 1);
    assert.deepEqual(await recheck(acme(), incidents[0]!, "before"), {
      present: true,
      code: "posture_time_synchronized",
    });
  });

  it("stay while nothing is known, as unknown is never a pass", async () => {
    const { incidents: [incident] } = await sweep();
    await tell({ disks: null }, { time_synchronized: null });
    assert.deepEqual((await sweep()).findings, []);
    assert.deepEqual(await open(), ["posture_time_synchronized"]);
    assert.equal((await recheck(acme(), incident!, "after"))?.present, true);
  });

  it("end once the device reports that it is right", async () => {
    await tell({}, { time_synchronized: false });
    const { incidents: [incident] } = await sweep();
    await tell({});
    assert.deepEqual(await recheck(acme(), incident!, "after"), { present: false, code: "ok" });
    assert.deepEqual(await open(), []);
  });

  it("are full disks and low memory, by the bounds of the detectors' file", async () => {
    const disks = [...DISKS, { mount: "/srv", size_bytes: 1_000, free_bytes: 20 }];
    await tell({ disks, memory: { total_bytes: 1_000, available_bytes: 5 } });
    const { findings, incidents } = await sweep();
    assert.deepEqual(findings.map(({ code }) => code).sort(), ["disk_full", "memory_low"]);
    await tell({ disks: null, memory: null });
    await sweep();
    assert.deepEqual((await open()).sort(), ["disk_full", "memory_low"], "nothing is known");
    await tell({});
    await sweep();
    assert.deepEqual(await open(), []);
    for (const incident of incidents) {
      assert.equal((await recheck(acme(), incident, "before"))?.present, false);
    }
  });

  it("are so many of one device at most, the fullest disks first", async () => {
    const disks = Array.from({ length: 500 }, (_, n) => ({
      mount: `/srv/${n}`,
      size_bytes: 10_000,
      free_bytes: 500 - n,
    }));
    await tell({ disks });
    const { findings } = await sweep();
    assert.equal(findings.length, 32);
    assert.ok(
      findings.some(({ summary }) => String(summary).startsWith("The disk at /srv/499 of")),
    );
    await sweep();
    assert.equal((await open()).length, 32);
    await tell({ disks: disks.slice(0, 3) });
    await sweep(); // the others are gone, and there is room again
    await sweep();
    assert.equal((await open()).length, 3);
    await tell({});
    await sweep();
  });
});

describe("service_probes of devices", () => {
  let context: TestContext;
  let superuser: Db;
  let device: string;
  before(async () => {
    context = await createTestContext("service_probes: {}");
    superuser = asSuperuser({ url: context.store.url, tenant: "acme" });
    device = await storeDevice(superuser);
    await setOnline(new Date());
  });
  after(() => context.close());

  /** Has the device listed as heard from since a time; null: as offline. */
  const setOnline = async (since: Date | null) =>
    await superuser.execute("UPDATE device_states SET online_since = $1", [since]);
  /** Has the device list units, by name and state. */
  const tell = async (units: Record<string, string> | null) => {
    const services = units &&
      Object.entries(units).map(([name, active]) => ({ active, name, sub: active }));
    await report(superuser, device, { inventory: { services } });
  };
  const acme = () => ({ ...context, store: context.store.forTenant("acme") });
  const sweep = async () => await detectAll(acme(), { save: true });
  const open = async () =>
    (await listOpenFindings(context.store.asTenant("acme"))).map(({ code }) => code);

  it("are the units that failed, which a script of the catalogue restarts", async () => {
    await tell({ "ssh.service": "active", "web@1.service": "failed", "bad name": "failed" });
    const { findings: [found, ...others], incidents, runs } = await sweep();
    assert.deepEqual(others, []);
    assert.equal(runs.find(({ detector }) => detector === "service_probes")!.probed, 1);
    assert.deepEqual(
      [found!.detector, found!.code, found!.severity, found!.host, found!.service],
      ["service_probes", "unit_failed", "high", device, null],
    );
    assert.deepEqual(
      [found!.target.remedy_script_id, found!.target.remedy_parameters],
      ["service-restart", { unit: "web@1.service" }],
    );
    assert.deepEqual(await recheck(acme(), incidents[0]!, "before"), {
      present: true,
      code: "unit_failed",
    });
    await detectAll(context, { save: true });
    assert.deepEqual(await listOpenFindings(context.store.asPlatform()), [], "it is its tenant's");
  });

  it("stay while the device does not tell its units, or not all of them", async () => {
    const { incidents: [incident] } = await sweep();
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`unit-${n}.service`, "active"]),
    );
    for (const units of [null, many]) {
      await tell(units);
      assert.deepEqual((await sweep()).findings, []);
      assert.deepEqual(await open(), ["unit_failed"]);
      assert.equal((await recheck(acme(), incident!, "after"))?.present, true);
    }
  });

  it("are so many of one device at most", async () => {
    const units = Array.from({ length: 200 }, (_, n) => [`unit-${n}.service`, "failed"]);
    await tell(Object.fromEntries(units));
    await sweep(); // the one of before is gone
    await sweep();
    assert.equal((await open()).length, 32);
    await tell({});
    await sweep();
    assert.deepEqual(await open(), []);
  });

  it("end once the device reports that the unit has not failed", async () => {
    await tell({ "web@1.service": "failed" });
    const { incidents: [incident] } = await sweep();
    await tell({ "web@1.service": "active" });
    assert.deepEqual(await recheck(acme(), incident!, "after"), { present: false, code: "ok" });
    assert.deepEqual(await open(), []);
  });

  it("are devices that are offline, until they are online again", async () => {
    const lastSeenAt = new Date("2026-05-04T03:02:01Z");
    await report(superuser, device, { inventory: {}, lastSeenAt });
    await setOnline(null);
    const { findings: [found, ...others], incidents: [incident] } = await sweep();
    assert.deepEqual(others, []);
    assert.deepEqual([found!.code, found!.target.remedy_script_id], ["device_offline", null]);
    assert.match(
      String(found!.summary),
      /is offline: its last heartbeat came at 2026-05-04T03:02:01.000Z/,
    );
    await superuser.execute("UPDATE devices SET status = 'quarantined', quarantine = 'clone'");
    await sweep();
    assert.deepEqual(await open(), ["device_offline"], "its presence is not known");
    await superuser.execute("UPDATE devices SET status = 'active', quarantine = NULL");
    assert.equal((await recheck(acme(), incident!, "before"))?.present, true);
    await setOnline(new Date());
    assert.deepEqual(await recheck(acme(), incident!, "after"), { present: false, code: "ok" });
    assert.deepEqual(await open(), []);
  });
});
