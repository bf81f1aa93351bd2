import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createServiceFinding,
  detectAll,
  type DetectedFinding,
  detectorsFilePath,
  openDetectionContext,
  recheck,
} from "../../../judgement/detection/mod.ts";
import type { Service } from "../../../integrations/host/mod.ts";
import { getFinding, getProbeHistories, putProbeHistories } from "../../../store/incidents/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import { whileCollectingGarbage } from "../../_garbage.ts";
import { freePort } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { asSuperuser } from "../../_superuser.ts";

/** Settings for a busy machine. */
const PATIENT = "service_probes: { timeout_ms: 5000, slow_ms: 5000 }";

describe("service_probes", () => {
  let context: TestContext;
  let server: Server;
  let answer: { status: number; afterMs: number };

  before(async () => {
    context = await createTestContext(PATIENT);
    server = createServer((_, response) => {
      const { status, afterMs } = answer;
      setTimeout(() => response.writeHead(status).end(), afterMs);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  beforeEach(async () => {
    answer = { status: 200, afterMs: 0 };
    await asSuperuser(context.store).execute("DELETE FROM services");
    await asSuperuser(context.store).execute("DELETE FROM findings");
  });
  after(async () => {
    server.close();
    await context.close();
  });

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  async function put(name: string, rest: Partial<Service> = {}): Promise<Service> {
    const service: Service = {
      name,
      type: "service",
      host: "localhost",
      owner: null,
      origin: "file",
      restart: null,
      check: { http: url() },
      watched: true,
      dependsOn: [],
      ...rest,
    };
    await putService(context.store.asPlatform(), service);
    return service;
  }
  const sweep = async (yaml = PATIENT) => {
    const { incidents, findings } = await detectAll(await context.with(yaml), { save: true });
    return {
      incidents,
      findings,
      codes: findings.map(({ service, code }) => `${service} ${code}`),
    };
  };

  it("finds a failing service, and the end of the failure", async () => {
    const service = await put("web");
    assert.deepEqual((await sweep()).findings, []);
    answer = { status: 503, afterMs: 0 };
    const { incidents: [incident] } = await sweep();
    assert.deepEqual([incident!.code, incident!.severity], ["status_503", "high"]);
    assert.equal(
      incident!.fingerprint,
      (await createServiceFinding(context.store, service, "refused")).fingerprint,
    );
    const known = await getFinding(context.store.asPlatform(), incident!.fingerprint);
    assert.equal(known!.summary, "web fails its http check (status_503)");
    assert.equal(known!.cleared_at, null);
    assert.deepEqual(await recheck(context, incident!, "before"), {
      present: true,
      code: "status_503",
    });
    answer = { status: 200, afterMs: 0 };
    assert.deepEqual(await recheck(context, incident!, "after"), { present: false, code: "ok" });
    assert.notEqual(
      (await getFinding(context.store.asPlatform(), incident!.fingerprint))!.cleared_at,
      null,
    );
  });

  it("makes one incident of a service and those that fail with it", async () => {
    const nowhere = { tcp: `127.0.0.1:${await freePort()}` };
    await put("database", { check: nowhere });
    await put("api", { check: nowhere, dependsOn: [{ service: "database", kind: "depends_on" }] });
    await put("web", {
      check: { command: ["false"] },
      dependsOn: [{ service: "api", kind: "depends_on" }],
    });
    await put("mail");
    const { incidents, findings } = await sweep();
    assert.equal(findings.length, 3);
    assert.equal(incidents.length, 1);
    const [{ service, severity, related }] = incidents as [DetectedFinding];
    assert.deepEqual([service, severity], ["database", "critical"]);
    assert.deepEqual(related?.map(({ service, code }) => [service, code]), [
      ["api", "refused"],
      ["web", "exit_1"],
    ]);
    const roots = await context.store.asPlatform().query("SELECT DISTINCT root FROM findings");
    assert.deepEqual(roots, [{ root: incidents[0]!.fingerprint }]);
  });

  it("reports a part of the platform, and those that depend on it, only when it has failed twice", async () => {
    const nowhere = { tcp: `127.0.0.1:${await freePort()}` };
    await put("postgresql", { origin: "platform", check: nowhere });
    await put("shop", {
      check: nowhere,
      dependsOn: [{ service: "postgresql", kind: "depends_on" }],
    });
    assert.deepEqual((await sweep()).incidents, []);
    const { incidents: [incident] } = await sweep();
    assert.equal(incident!.service, "postgresql");
    assert.deepEqual(incident!.related?.map(({ service }) => service), ["shop"]);
  });

  it("reports a slow service after three slow probes, as another fault than its failure", async () => {
    const service = await put("slow");
    const settings = PATIENT.replace("}", ", services: { slow: { slow_ms: 2000 } } }");
    answer = { status: 200, afterMs: 2_100 };
    assert.deepEqual((await sweep(settings)).codes, []);
    assert.deepEqual((await sweep(settings)).codes, []);
    const { codes, incidents: [incident] } = await sweep(settings);
    assert.deepEqual(codes, ["slow slow"]);
    assert.equal(incident!.severity, "medium");
    assert.notEqual(
      incident!.fingerprint,
      (await createServiceFinding(context.store, service, "refused")).fingerprint,
    );
    assert.equal((await recheck(await context.with(settings), incident!, "before"))?.present, true);
    answer = { status: 200, afterMs: 0 };
    assert.equal((await recheck(context, incident!, "after"))?.present, false);
    assert.deepEqual((await sweep()).codes, []);
  });

  it("tells how far a slow service is off its own past, which slow probes don't change", async () => {
    const db = context.store.asPlatform();
    for (const name of ["once-fast", "always-slow", "new"]) await put(name);
    const add = (service: string, ...all: number[]) =>
      Promise.all(
        all.map((elapsedMs) =>
          putProbeHistories(db, [{ service, looks: "u", flapping: false, elapsedMs }])
        ),
      );
    await add("once-fast", 10, 10);
    await add("always-slow", 1_000_000, 1_000_000);
    answer = { status: 200, afterMs: 100 };
    const { findings } = await sweep(
      PATIENT.replace("slow_ms: 5000", "slow_ms: 50, slow_looks: 1"),
    );
    const deviations = new Map(findings.map(({ service, deviation }) => [service, deviation]));
    assert.deepEqual([...deviations.keys()].sort(), ["always-slow", "new", "once-fast"]);
    const { kind, excess, score } = deviations.get("once-fast")!;
    assert.equal(kind, "latency");
    assert.ok(excess > 0.08, `${excess}`);
    assert.ok(score > 100, `${score}`);
    assert.equal(deviations.get("always-slow"), undefined);
    assert.equal(deviations.get("new"), undefined);
    const histories = await getProbeHistories(db);
    const marks = ["once-fast", "new"].map((name) => {
      const { usualMs, spreadMs } = histories.get(name)!;
      return [usualMs, spreadMs];
    });
    assert.deepEqual(marks, [[10, 0], [null, null]]);
  });

  it("keeps what is usual, and by how much probes are off that", async () => {
    const db = context.store.asPlatform();
    await put("web");
    const seen: (number | null)[][] = [];
    for (const elapsedMs of [100, 120, null, 100]) {
      await putProbeHistories(db, [{ service: "web", looks: "u", flapping: false, elapsedMs }]);
      const { usualMs, spreadMs } = (await getProbeHistories(db)).get("web")!;
      seen.push([usualMs, spreadMs].map((one) => one === null ? null : Number(one.toFixed(6))));
    }
    assert.deepEqual(seen, [[100, null], [102, 20], [102, 20], [101.8, 18.2]]);
  });

  it("reports a service that goes up and down as one fault, until it is steady", async () => {
    const service = await put("flappy");
    const settings = PATIENT.replace("}", ", flapping: { looks: 10, begins: 0.4, ends: 0.2 } }");
    const seen: string[] = [];
    for (const status of [500, 200, 500, 200, 500, 200, 200]) {
      answer = { status, afterMs: 0 };
      seen.push((await sweep(settings)).codes.join());
    }
    assert.deepEqual(seen, [
      "flappy status_500",
      "",
      "flappy status_500",
      "",
      "flappy flapping",
      "flappy flapping",
      "flappy flapping",
    ]);
    const finding = await createServiceFinding(context.store, service, "flapping");
    assert.notEqual(
      finding.fingerprint,
      (await createServiceFinding(context.store, service, "status_500")).fingerprint,
      "a failure is found while people look at the flapping",
    );
    const flapping = await context.with(settings);
    assert.deepEqual(await recheck(flapping, finding, "before"), {
      present: true,
      code: "flapping",
    });
    answer = { status: 503, afterMs: 0 };
    assert.deepEqual(await recheck(flapping, finding, "before"), {
      present: true,
      code: "status_503",
    });
    answer = { status: 200, afterMs: 0 };
    assert.deepEqual(await recheck(flapping, finding, "after"), { present: false, code: "ok" });
    assert.deepEqual((await sweep(settings)).codes, []);
  });

  it("saves nothing where it is not asked to", async () => {
    await put("web", { origin: "platform" });
    answer = { status: 500, afterMs: 0 };
    for (let i = 0; i < 3; i++) {
      const { incidents } = await detectAll(context, { save: false });
      assert.deepEqual(incidents, []);
    }
    assert.deepEqual(await context.store.asPlatform().query("SELECT FROM findings"), []);
  });

  it("probes services side by side, so that those that do not answer hold nothing up", async () => {
    const hanging = createServer(() => {}).listen(0, "127.0.0.1");
    await once(hanging, "listening");
    const { port } = hanging.address() as AddressInfo;
    for (let i = 0; i < 300; i++) {
      await put(`s${i}`, { check: { http: `http://127.0.0.1:${port}/` } });
    }
    const { runs, findings } = await detectAll(
      await context.with("service_probes: { timeout_ms: 1000 }"), // 300 seconds one by one
      { save: true },
    );
    hanging.closeAllConnections();
    hanging.close();
    assert.equal(runs[0]!.error, null);
    assert.equal(findings.length, 300);
  });

  it("goes on with the settings before while the detectors' file is wrong, and says so", async () => {
    await put("gone", { check: { tcp: `127.0.0.1:${await freePort()}` } });
    const { settings } = await context.with(PATIENT);
    await writeFile(detectorsFilePath(context.config), "logs: {}\nlogz: {}\n");
    const now = openDetectionContext(context);
    assert.deepEqual(now.settings, settings);
    const { runs, findings } = await detectAll(now, { save: true });
    assert.equal(runs[0]!.error, "detectors_file_line_2");
    assert.deepEqual(findings.map(({ service }) => service), ["gone"]);
    await context.with(PATIENT);
    assert.equal(openDetectionContext(context).settingsProblem, undefined);
  });

  it("begins with the services that the last sweep had no time for", async () => {
    const count = 160;
    for (let i = 0; i < count; i++) await put(`c${i}`, { check: { command: ["sleep", "60"] } });
    const settings = "service_probes: { timeout_ms: 500 }"; // 32 at a time: more than can be probed in time
    const short = { ...await context.with(settings), timeoutMs: 2_000 };
    const look = () => detectAll(short, { save: true });
    const first = await whileCollectingGarbage(look, 1_000); // its time is certainly over
    assert.ok(first.findings.length < count);
    await eventually(async () => { // a busy machine may probe few in a sweep
      const { runs } = await look();
      assert.match(runs[0]!.error!, /^\d+_services_not_probed_in_time$/);
      const probed = await context.store.asPlatform().query(
        "SELECT FROM services WHERE checked_at IS NOT NULL",
      );
      return probed.length > first.findings.length || undefined;
    });
  });
});
