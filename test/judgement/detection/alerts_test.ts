import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { loadConfig } from "../../../config.ts";
import {
  createServiceFinding,
  detectAll,
  findSilenceableAlerts,
  recheck,
} from "../../../judgement/detection/mod.ts";
import { openAlertSource } from "../../../integrations/alerts/mod.ts";
import type { Service } from "../../../integrations/host/mod.ts";
import { listOpenFindings } from "../../../store/incidents/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import { freePort } from "../../_run.ts";
import { ALERT_BOMB } from "../../integrations/strangers/_bombs.ts";
import { asSuperuser } from "../../_superuser.ts";
import { startAlertmanager, type TestAlertmanager } from "./_alertmanager.ts";
import { createTestContext, type TestContext } from "./_context.ts";

const RULES = `
alerts:
  rules:
    - { match: { alertname: Watchdog }, ignore: true }
    - { match: { alertname: ShopDown, job: "shop*" }, service: shop, code: down }
    - { match: { alertname: TargetDown }, service_label: service }
    - { match: { alertname: AcmeDown }, tenant: acme, service: portal }
    - { match: { alertname: DiskFull, instance: "db1:*" }, code: disk_full, host: db1, path: /srv }
`;
const PROBES = `service_probes: { timeout_ms: 5000, slow_ms: 5000 }${RULES}`;
const DOWN = { labels: { alertname: "ShopDown", job: "shop-1", severity: "critical" } };

describe("alerts of an Alertmanager", () => {
  let context: TestContext;
  let alertmanager: TestAlertmanager;
  before(async () => {
    [context, alertmanager] = await Promise.all([createTestContext(PROBES), startAlertmanager()]);
  });
  beforeEach(async () => {
    alertmanager.alerts = [];
    alertmanager.hostile = () => false;
    alertmanager.startedAt = new Date(Date.now() - 3_600_000);
    alertmanager.aheadMs = 0;
    for (const table of ["services", "findings"]) {
      await asSuperuser(context.store).execute(`DELETE FROM ${table}`);
    }
  });
  after(async () => {
    await alertmanager.stop();
    await context.close();
  });

  async function put(name: string, rest: Partial<Service> = {}, tenant = "platform") {
    const service: Service = {
      name,
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: null,
      restart: null,
      watched: true,
      dependsOn: [],
      ...rest,
    };
    await putService(context.store.asTenant(tenant), service);
    return service;
  }
  /** A context whose client has no failures behind it. */
  const fresh = async (yaml = PROBES, tenant = "platform", timeoutMs = 60_000) => {
    const config = loadConfig({
      SEALOOP_ALERTMANAGER_URL: alertmanager.url,
      SEALOOP_CREDENTIALS: JSON.stringify({ alertmanager: "robot:secret" }),
    });
    const alerts = openAlertSource(config, timeoutMs);
    return { ...await context.with(yaml), alerts, store: context.store.forTenant(tenant) };
  };
  const sweep = async (yaml = PROBES, tenant = "platform") =>
    await detectAll(await fresh(yaml, tenant), { save: true });
  const open = async () =>
    (await listOpenFindings(context.store.asPlatform())).map(({ code }) => code);
  const dead = async () => ({ tcp: `127.0.0.1:${await freePort()}` });

  it("are read with the credential, and become a finding of the service that a rule names", async () => {
    await put("shop");
    alertmanager.alerts = [DOWN, { labels: { alertname: "Watchdog" } }];
    const { findings: [found, ...others], incidents } = await sweep();
    assert.deepEqual(others, []);
    assert.equal(incidents.length, 1);
    const { service, check, code, severity, detector, summary } = found!;
    assert.deepEqual({ service, check, code, severity, detector, summary: String(summary) }, {
      service: "shop",
      check: "alert",
      code: "alert_down",
      severity: "critical",
      detector: "service_probes",
      summary: "Alertmanager reports ShopDown for shop",
    });
    const basic = Buffer.from("robot:secret").toString("base64");
    assert.equal(alertmanager.authorization, `Basic ${basic}`);
  });

  it("join what a probe finds of the same service: one finding, with the probe's code", async () => {
    const shop = await put("shop", { check: await dead() });
    const own = await createServiceFinding(context.store, shop, "refused");
    alertmanager.alerts = [DOWN, { labels: { alertname: "TargetDown", service: "shop" } }];
    const { findings, incidents } = await sweep();
    assert.deepEqual(findings.map(({ code, severity }) => [code, severity]), [
      ["refused", "critical"],
    ]);
    assert.deepEqual(incidents.map(({ fingerprint }) => fingerprint), [own.fingerprint]);
    assert.equal((findings[0]!.detail.alerts as unknown[]).length, 2);
    // Whoever sees it first: it is the same fault, so that there is one loop.
    const server = createServer((socket) => socket.end());
    server.listen(Number((shop.check as { tcp: string }).tcp.split(":")[1]), "127.0.0.1");
    await once(server, "listening");
    const again = await sweep();
    server.close();
    assert.deepEqual(again.findings.map(({ code, fingerprint }) => [code, fingerprint]), [
      ["alert_down", own.fingerprint],
    ]);
  });

  it("join what is found of a service that goes up and down, which people look after", async () => {
    await put("shop", { check: await dead() });
    const memory =
      "INSERT INTO probe_history (tenant_id, service, looks, flapping) VALUES ('platform', 'shop', $1, true)";
    await asSuperuser(context.store).execute(memory, ["ud".repeat(10)]);
    alertmanager.alerts = [DOWN];
    const { findings, incidents } = await sweep();
    assert.deepEqual(findings.map(({ code }) => code), ["flapping"]);
    assert.equal(incidents.length, 1);
  });

  it("join a disk that is measured, and stay when others still see it full", async () => {
    const folder = join(context.folder, "srv");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "data"), Buffer.alloc(2_000));
    const yaml = `host_resources:
  disks: [{ path: "${folder}", max_bytes: 1000 }]
  every_disk: false
  memory_percent: 100
  load_per_core: 1000
alerts:
  rules:
    - { match: { alertname: DiskFull }, code: disk_full, host: localhost, path: "${folder}" }
`;
    alertmanager.alerts = [{ labels: { alertname: "DiskFull", mountpoint: "/etc" } }];
    const both = await sweep(yaml);
    assert.deepEqual(both.findings.map(({ code }) => code), ["disk_full"]);
    assert.equal(both.findings[0]!.target.path, folder, "of the rule, never of a label");
    await rm(join(folder, "data"));
    const { findings, incidents } = await sweep(yaml);
    assert.deepEqual(findings.map(({ fingerprint }) => fingerprint), [
      both.findings[0]!.fingerprint,
    ]);
    alertmanager.alerts = [];
    assert.equal((await recheck(await fresh(yaml), incidents[0]!, "after"))!.present, false);
    await sweep(yaml);
    assert.deepEqual(await open(), []);
  });

  it("of other hosts are findings about these, and end there", async () => {
    const yaml =
      `host_resources: { every_disk: false, memory_percent: 100, load_per_core: 1000 }${RULES}`;
    alertmanager.alerts = [{ labels: { alertname: "DiskFull", instance: "db1:9100" } }];
    const { findings: [found], incidents } = await sweep(yaml);
    assert.deepEqual([found!.host, found!.code, found!.check], ["db1", "disk_full", "host"]);
    assert.equal((await recheck(await fresh(yaml), incidents[0]!, "before"))!.present, true);
    await sweep("host_resources: { every_disk: false, memory_percent: 100, load_per_core: 1000 }");
    assert.deepEqual(await open(), [], "nothing names the host any more");
    alertmanager.alerts = [];
    await sweep(yaml);
    assert.deepEqual(await open(), []);
  });

  it("that nobody can map are findings for people, and never a guess", async () => {
    await put("shop");
    await put("gateway-of-us", { origin: "platform" });
    alertmanager.alerts = [
      { labels: { alertname: "ShopSlow", job: "shop-1", instance: "web\u202e-7" } },
      { labels: { alertname: "TargetDown", service: "Shop" } },
      { labels: { alertname: "TargetDown", service: "gateway-of-us" } },
      { labels: { alertname: "TargetDown" } },
    ];
    const { findings } = await sweep();
    const told = findings.map(({ service, code, summary, detail }) => {
      return [service, code, String(summary), detail.alert_count];
    }).sort((a, b) => Number(a[3]) - Number(b[3]));
    assert.deepEqual(told, [
      [
        null,
        "alert_unmapped",
        "No rule maps the alert ShopSlow to something that is known (job=shop-1, instance=web⟨U+202E⟩-7)",
        1,
      ],
      [
        null,
        "alert_unmapped",
        "No rule maps the alert TargetDown to something that is known (service=Shop)",
        3,
      ],
    ]);
  });

  it("are of one tenant each, as their rule says", async () => {
    await put("portal", {}, "acme");
    alertmanager.alerts = [{ labels: { alertname: "AcmeDown" } }];
    assert.deepEqual((await sweep()).findings, []);
    const { findings } = await sweep(PROBES, "acme");
    assert.deepEqual(findings.map(({ service }) => service), ["portal"]);
    alertmanager.asked = [];
    assert.deepEqual((await sweep(PROBES, "other")).findings, []);
    assert.deepEqual(alertmanager.asked, [], "no rule names this tenant");
    const { alerts } = await fresh();
    await Promise.all([alerts!.listRecent(), alerts!.listRecent()]);
    assert.equal(alertmanager.asked.length, 1);
  });

  it("that people have silenced, or that others explain, begin nothing and end nothing", async () => {
    await put("shop");
    alertmanager.alerts = [{ ...DOWN, silencedBy: ["of-ann"] }];
    assert.deepEqual((await sweep()).findings, []);
    alertmanager.alerts = [DOWN];
    const { incidents: [incident] } = await sweep();
    for (const quiet of [{ silencedBy: ["of-ann"] }, { inhibitedBy: ["0f"] }]) {
      alertmanager.alerts = [{ ...DOWN, ...quiet }];
      assert.deepEqual((await sweep()).findings, []);
      assert.deepEqual(await open(), ["alert_down"]);
      assert.equal((await recheck(await fresh(), incident!, "after"))!.present, true);
    }
  });

  describe("when a fault is looked at again", () => {
    const find = async () => {
      await put("shop");
      alertmanager.alerts = [DOWN];
      return (await sweep()).incidents[0]!;
    };

    it("prove that it is over by being resolved", async () => {
      const incident = await find();
      const firing = await recheck(await fresh(), incident, "after");
      assert.deepEqual([firing!.present, firing!.code], [true, "alert_down"]);
      alertmanager.alerts = [];
      assert.deepEqual(await recheck(await fresh(), incident, "after"), {
        present: false,
        code: "alert_resolved",
      });
      assert.deepEqual(await open(), []);
    });

    it("prove nothing where Alertmanager can't be reached", async () => {
      const incident = await find();
      alertmanager.hostile = (_, response) => !!response.writeHead(500).end();
      const after = await recheck(await fresh(), incident, "after");
      assert.deepEqual([after!.present, after!.code], [true, "alerts_unknown"]);
      const before = await recheck(await fresh(), incident, "before");
      assert.deepEqual([before!.present, before!.code], [true, "alert_down"]);
      assert.deepEqual(await open(), ["alert_down"]);
    });

    it("prove nothing by ending unsent, or with an Alertmanager that has forgotten them", async () => {
      const incident = await find();
      alertmanager.alerts = [];
      alertmanager.startedAt = new Date(Date.now() + 1_000);
      assert.equal((await recheck(await fresh(), incident, "after"))!.code, "alerts_unknown");
      alertmanager.startedAt = new Date(0);
      await asSuperuser(context.store).execute(
        `UPDATE findings SET target = jsonb_set(target, '{alerts,0,ends_at}', '"2026-01-01T00:00:00Z"')`,
      );
      assert.equal((await recheck(await fresh(), incident, "after"))!.code, "alerts_unknown");
    });

    it("prove nothing where they end by themselves, by Alertmanager's clock", async () => {
      const incident = await find();
      alertmanager.alerts = [];
      alertmanager.aheadMs = 230_000; // its clock says that they were about to end
      assert.equal((await recheck(await fresh(), incident, "after"))!.code, "alerts_unknown");
      alertmanager.aheadMs = 0;
      assert.equal((await recheck(await fresh(), incident, "after"))!.code, "alert_resolved");
    });

    it("prove it also where they are sent for some seconds alone", async () => {
      await put("shop");
      alertmanager.alerts = [{ ...DOWN, endsIn: 29 }];
      const beganMs = Date.now();
      const { incidents: [incident] } = await sweep();
      alertmanager.alerts = [];
      alertmanager.aheadMs = beganMs - Date.now(); // no time has passed by its clock
      assert.equal((await recheck(await fresh(), incident!, "after"))!.code, "alert_resolved");
    });

    it("prove nothing by an edit of the rules while they fire", async () => {
      const incident = await find();
      const edited = PROBES.replace("ShopDown, job", "ShopGone, job");
      assert.equal((await recheck(await fresh(edited), incident, "after"))!.code, "alerts_unknown");
      assert.deepEqual(await recheck(await fresh(edited), incident, "before"), {
        present: false,
        code: "alert_not_mapped",
      });
    });

    it("are unknown for minutes after Alertmanager has begun anew", async () => {
      const incident = await find();
      alertmanager.alerts = [];
      alertmanager.startedAt = new Date(Date.now() + 1_000);
      assert.equal((await recheck(await fresh(), incident, "before"))!.present, true);
      await sweep();
      assert.deepEqual(await open(), ["alert_down"]);
      await asSuperuser(context.store).execute(
        `UPDATE findings SET target = jsonb_set(target, '{alerts,0,updated_at}', '"2026-01-01T00:00:00Z"')`,
      );
      alertmanager.startedAt = new Date(Date.now() - 301_000);
      await sweep();
      assert.deepEqual(await open(), []);
    });

    it("are silenced only where a silence touches no others", async () => {
      const incident = await find();
      const silenceable = async () =>
        (await findSilenceableAlerts(await fresh(), incident.fingerprint)).length;
      assert.equal(await silenceable(), 1);
      const more = { ...DOWN.labels, instance: "of-somebody-else" };
      alertmanager.alerts = [DOWN, { labels: { ...more, alertname: "Other" } }];
      assert.equal(await silenceable(), 1);
      alertmanager.alerts = [DOWN, { labels: more, silencedBy: ["of-ann"] }];
      assert.equal(await silenceable(), 0);
    });

    it("are not asked about what a probe alone has found", async () => {
      await put("shop", { check: await dead() });
      const { incidents: [incident] } = await sweep();
      await put("shop", { check: { command: ["true"] } });
      alertmanager.asked = [];
      assert.equal((await recheck(await fresh(), incident!, "after"))!.present, false);
      assert.deepEqual(alertmanager.asked, []);
    });
  });

  const json = { "content-type": "application/json" };
  const many = JSON.stringify(
    Array.from({ length: 5_001 }, () => ({
      fingerprint: "00",
      labels: {},
      endsAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-01T00:00:00Z",
      status: { silencedBy: [], inhibitedBy: [] },
    })),
  );
  const answers: readonly [string, string, TestAlertmanager["hostile"]][] = [
    ["no answer", "alerts_timeout", () => true],
    ["401", "alerts_credential", (_, to) => !!to.writeHead(401).end()],
    ["429", "alerts_limited", (_, to) => !!to.writeHead(429, { "retry-after": "9" }).end()],
    ["500", "alerts_failed", (_, to) => !!to.writeHead(500).end()],
    ["a body that is cut off", "alerts_unreachable", (_, to) => {
      to.writeHead(200, { ...json, "content-length": "9999" }).write("[");
      setTimeout(() => to.destroy(), 5);
      return true;
    }],
    ["another type", "alerts_not_json", (_, to) => !!to.writeHead(200).end("[]")],
    ["another shape", "alerts_shape", (_, to) => !!to.writeHead(200, json).end('[{"labels":1}]')],
    ["10 MB", "alerts_too_large", (_, to) => !!to.writeHead(200, json).end(" ".repeat(1e7))],
    ["a storm", "alerts_shape", (_, to) => !!to.writeHead(200, json).end(many)],
    ["a bomb", "alerts_too_many_labels", (_, to) => !!to.writeHead(200, json).end(ALERT_BOMB)],
    ["a redirect", "alerts_redirect", (_, to) => {
      return !!to.writeHead(302, { location: "http://169.254.169.254/" }).end();
    }],
  ];
  for (const [name, code, hostile] of answers) {
    it(`keep what was found, and leave probes alone, after ${name}`, async () => {
      await put("shop", { check: await dead() });
      await put("till");
      const till = { labels: { alertname: "TargetDown", service: "till" } };
      alertmanager.alerts = [DOWN, till];
      await sweep();
      alertmanager.hostile = hostile;
      const limited = await fresh(PROBES, "platform", code === "alerts_timeout" ? 300 : undefined);
      const { findings, runs } = await detectAll(limited, { save: true });
      assert.deepEqual(findings.map(({ service }) => service), ["shop"]);
      const run = runs.find(({ detector }) => detector === "service_probes")!;
      assert.equal(run.error, code);
      assert.deepEqual((await open()).sort(), ["alert_firing", "refused"]);
      const kept = (await listOpenFindings(context.store.asPlatform()))
        .map(({ target }) => (target.alerts as unknown[]).length);
      assert.deepEqual(kept, [1, 1], "so that their end must still be proven");
    });
  }

  it("may be thousands, with labels that are huge or not to be seen", async () => {
    await put("shop");
    const huge = "A".repeat(1_000);
    const evil = "x\u0000\u001b[2J'; rm -rf / #\u202e`$(reboot)`";
    alertmanager.alerts = [
      ...Array.from({ length: 3_000 }, (_, n) => ({
        labels: { alertname: `Alert${n % 100}`, instance: `${n}`, huge },
      })),
      { labels: { alertname: evil, ["__proto__"]: "x", constructor: evil } },
      { labels: { alertname: "TargetDown", service: evil } },
      { labels: { alertname: "ShopDown", job: `shop${huge}` } },
    ];
    const { findings, runs } = await sweep();
    assert.equal(runs.find(({ detector }) => detector === "service_probes")!.error, null);
    assert.equal(findings.length, 26, "25 names, and the others together");
    assert.ok(findings.every(({ service }) => service === null));
    const text = JSON.stringify(findings);
    assert.doesNotMatch(text, /rm -rf|\\u0000|\\u001b|\u202e|AAAA{100}|delete everything/);
  });
});
