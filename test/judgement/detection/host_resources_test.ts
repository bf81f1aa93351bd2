import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { detectAll, recheck } from "../../../judgement/detection/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import { freePort } from "../../_run.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { asSuperuser } from "../../_superuser.ts";

describe("host_resources", () => {
  let context: TestContext;
  let folder: string;
  before(async () => {
    context = await createTestContext("");
    folder = join(context.folder, "spool");
  });
  beforeEach(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, "deep", "er"), { recursive: true });
    await asSuperuser(context.store).execute("DELETE FROM findings");
    await asSuperuser(context.store).execute("DELETE FROM services");
  });
  after(() => context.close());

  /** Settings by which this machine's own disks and load don't matter. */
  const settings = (
    disk: string,
    rest = "every_disk: false, memory_percent: 100, load_per_core: 1000",
  ) => `host_resources: { disks: [${disk}], ${rest} }`;
  const sweep = async (yaml: string) => {
    const { findings, incidents, runs } = await detectAll(await context.with(yaml), {
      save: true,
    });
    return { findings, incidents, codes: findings.map(({ code }) => code), runs };
  };

  it("finds a folder that fills up and is full, as one fault, and its end", async () => {
    const disk = settings(`{ path: "${folder}", max_bytes: 10000, service: orders-db }`);
    await writeFile(join(folder, "deep", "er", "a"), Buffer.alloc(8_000));
    assert.deepEqual((await sweep(disk)).codes, []);
    await writeFile(join(folder, "b"), Buffer.alloc(1_200));
    const { findings: [filling] } = await sweep(disk);
    const { code, severity, service, host } = filling!;
    assert.deepEqual([code, severity, service, host], [
      "disk_filling",
      "medium",
      "orders-db",
      context.config.place,
    ]);
    await writeFile(join(folder, "c"), Buffer.alloc(400));
    const { findings: [full], incidents: [incident] } = await sweep(disk);
    assert.deepEqual([full!.code, full!.severity], ["disk_full", "high"]);
    assert.equal(full!.fingerprint, filling!.fingerprint);
    assert.equal(
      String(full!.summary),
      `The bound of the folder ${folder} on ${context.config.place} is 96 % used up`,
    );
    assert.deepEqual([full!.detail.used_bytes, full!.detail.free_bytes], [9_600, 400]);
    const configured = await context.with(disk);
    assert.deepEqual(await recheck(configured, incident!, "before"), {
      present: true,
      code: "disk_full",
    });
    await rm(join(folder, "c"));
    assert.deepEqual(await recheck(configured, incident!, "after"), {
      present: false,
      code: "disk_filling",
    });
    await rm(join(folder, "b"));
    assert.deepEqual(await recheck(configured, filling!, "after"), { present: false, code: "ok" });
    assert.deepEqual((await sweep(disk)).codes, []);
  });

  it("is critical where nothing is left", async () => {
    await writeFile(join(folder, "a"), Buffer.alloc(10_000));
    const { findings: [found] } = await sweep(settings(`{ path: "${folder}", max_bytes: 10000 }`));
    assert.equal(found!.severity, "critical");
  });

  it("counts a file system as df does", async function () {
    const df = () => {
      const [, line] = execFileSync("df", ["-Pk", folder]).toString().trim().split("\n");
      const [, , used, free] = line!.split(/\s+/).map(Number);
      return { used: used!, percent: 100 * used! / (used! + free!) };
    };
    const before = df();
    if (before.percent < 2) return this.skip(); // too little is used
    const { codes, findings } = await sweep(
      settings(`{ path: "${folder}", filling_percent: 1, full_percent: 100 }`),
    );
    assert.ok(codes.includes("disk_filling"));
    const { percent, used_bytes } = findings.find(({ code }) => code === "disk_filling")!.detail;
    const after = df(); // other programs write meanwhile
    const isBetween = (value: number, one: number, other: number, by: number) =>
      value > Math.min(one, other) - by && value < Math.max(one, other) + by;
    assert.ok(isBetween(Number(percent), before.percent, after.percent, 1));
    const { used } = before;
    assert.ok(isBetween(Number(used_bytes) / 1024, used, after.used, used * 0.02));
  });

  it("counts inodes where the file system limits them, and some are used", async function () {
    const { files, ffree } = await statfs(folder);
    if (files === 0 || (files - ffree) / files < 0.02) return this.skip();
    const { codes } = await sweep(
      settings(`{ path: "${folder}", filling_percent: 1, full_percent: 1.5 }`),
    );
    assert.ok(codes.some((code) => code.startsWith("inodes_")), codes.join());
  });

  it("finds memory and load beyond their bounds", async () => {
    const { findings } = await sweep(
      "host_resources: { every_disk: false, memory_percent: 1, load_per_core: 0.1 }",
    );
    const memory = findings.find(({ code }) => code === "memory_low")!;
    assert.ok(Number(memory.detail.percent) > 1 && Number(memory.detail.percent) < 100);
    const load = findings.find(({ code }) => code === "load_high");
    if (load) assert.equal(load.severity, "medium"); // this machine may be idle
  });

  it("looks at every disk of this host by default", async () => {
    const { runs, codes } = await sweep(
      "host_resources: { full_percent: 100, filling_percent: 100, memory_percent: 100, load_per_core: 1000 }",
    );
    const run = runs.find(({ detector }) => detector === "host_resources")!;
    assert.ok(run.probed >= 3, "a disk, memory, load");
    assert.equal(run.error, null);
    assert.deepEqual(codes, []);
  });

  it("reports a missing path", async () => {
    const { runs } = await sweep(settings(`{ path: "${folder}/nowhere" }`));
    assert.equal(runs.find(({ detector }) => detector === "host_resources")!.error, "disk_enoent");
  });

  it("is the root of the services that fail on this host because of it", async () => {
    await writeFile(join(folder, "data"), Buffer.alloc(9_900));
    const dead = { tcp: `127.0.0.1:${await freePort()}` };
    const rest = { type: "service", owner: null, origin: "file", restart: null } as const;
    const put = (name: string, dependsOn: string[]) =>
      putService(context.store.asPlatform(), {
        ...rest,
        name,
        host: "localhost",
        check: dead,
        watched: true,
        dependsOn: dependsOn.map((service) => ({ service, kind: "depends_on" })),
      });
    await put("orders-db", []);
    await put("orders", ["orders-db"]);
    await put("mail", []);
    const { incidents } = await sweep(
      settings(`{ path: "${folder}", max_bytes: 10000, service: orders-db }`) +
        "\nservice_probes: { timeout_ms: 5000 }",
    );
    assert.deepEqual(
      incidents.map(({ service, code, severity, related = [] }) => [
        service,
        code,
        severity,
        related.map((one) => one.service).join(),
      ]),
      [
        ["orders-db", "disk_full", "critical", "orders-db,orders"],
        ["mail", "refused", "high", ""],
      ],
    );
  });
});
