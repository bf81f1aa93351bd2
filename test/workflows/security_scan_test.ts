import assert from "node:assert/strict";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scanAll, type ScannerName } from "../../judgement/compliance/scans/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { findReceipt } from "../../ledger/mod.ts";
import { registry } from "../../operations/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import type { itsmLoop, securityScan } from "../../workflows/mod.ts";
import { installedPackages } from "../_packages.ts";
import { testFolder } from "../_run.ts";
import type { Json } from "../mcp/_tool_server.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { asSuperuser, giveKey } from "../_superuser.ts";

const KEY = {
  tier: "enterprise",
  scope: "full",
  principal: "ann",
  mayApprove: false,
  expiresAt: null,
} as const;

describe("securityScan", () => {
  let loop: TestLoop;
  let advisories: string;
  before(async () => {
    advisories = join(await testFolder(), "advisories.ndjson");
    writeFileSync(advisories, "");
    loop = await openLoop({ settings: { SEALOOP_ADVISORIES: advisories } });
  });
  after(() => loop?.stop());

  const found = async (scanner: ScannerName) => {
    const scans = await scanAll(loop);
    return scans.find((one) => one.scanner === scanner)!;
  };
  /** Runs an operation on the platform. */
  async function call(name: string, input: object): Promise<Json> {
    const context = {
      store: loop.store,
      temporal: () => Promise.resolve(loop.client),
      caller: { keyId: "k" },
      urls: { gateway: "http://127.0.0.1" },
      door: "mcp",
      signal: new AbortController().signal,
      ending: new AbortController().signal,
      progress() {},
    };
    return await registry.get(name)!.run(input, context as never) as Json;
  }

  /** Waits for the result of a run. */
  const endOf = (started: unknown) =>
    loop.client.workflow.getHandle<typeof itsmLoop>(
      (started as { workflow_id: string }).workflow_id,
    )
      .result();

  it("finds a secret that others may read, fixes that after an approval, and seals both", async () => {
    const path = join(loop.config.dataDir, "spare.key");
    writeFileSync(path, "secret");
    chmodSync(path, 0o644);
    const scan = await loop.client.workflow.execute<typeof securityScan>(WORKFLOW.securityScan, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "security-scan",
      args: [],
    });
    assert.ok((await loop.sealer.sealed(scan.receipt_id)).hash);
    const { text } = await findReceipt(loop.store, scan.receipt_id);
    assert.deepEqual(Object.keys(JSON.parse(text).details.commitments), ["findings", "seen"]);
    const seen = await asSuperuser(loop.store).first(
      "SELECT content FROM evidence WHERE receipt_id = $1 AND name = 'seen'",
      [scan.receipt_id],
    );
    const { transport, services } = JSON.parse(seen!.content);
    assert.deepEqual([transport, services.backups], ["loopback", 0]);
    const { queue, scanners } = await call("security.queue", {});
    const mine = queue.find(({ detail }: Json) => detail.path === path);
    assert.equal(mine.code, "file_permissions");
    assert.equal(mine.fix, "runbook");
    assert.ok(scanners.every(({ state }: Json) => state === "ok"), JSON.stringify(scanners));

    const { index, fingerprint } = mine;
    const gone = { index, fingerprint: "0".repeat(16) };
    await assert.rejects(call("security.approve", gone), /nothing was done/);
    await assert.rejects(call("security.approve", { index: 9_999 }), /no index/);
    const moved = { index: index + 1, fingerprint, wait_seconds: 0 }; // its place when people were asked
    const approved = await call("security.approve", moved);
    assert.equal((await endOf(approved)).outcome, "sealed", JSON.stringify(approved));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const after = await call("security.queue", {});
    assert.ok(!after.queue.some((one: Json) => one.fingerprint === fingerprint), "is gone");
  });

  it("finds database passwords, copied keys and writable folders, and says what to do", async () => {
    const { dataDir, settings } = loop.config;
    const passwords = join(dataDir, "postgres.json");
    const key = join(await testFolder(), "server.key");
    const runbooks = join(dataDir, "runbooks");
    mkdirSync(runbooks, { recursive: true });
    for (const path of [passwords, key]) writeFileSync(path, "secret");
    const config = { ...loop.config, settings: { ...settings, SEALOOP_TLS_KEY: key } };
    const look = async () => {
      const scans = await scanAll({ ...loop, config });
      const { findings } = scans.find(({ scanner }) => scanner === "permissions")!;
      const mine = findings.filter(({ detail: { path } }) =>
        [passwords, key, runbooks].includes(String(path))
      );
      return mine.map(({ code, detail, target }) => [code, detail.path, target.remedy]);
    };
    for (const path of [passwords, key]) chmodSync(path, 0o640);
    chmodSync(runbooks, 0o755);
    assert.deepEqual(await look(), [[
      "file_permissions",
      passwords,
      `chmod 600 ${passwords}, and replace the secret in it if others can have read it`,
    ]], "a group of the host may read a key that lies elsewhere");
    for (const path of [passwords, key]) chmodSync(path, 0o644);
    chmodSync(runbooks, 0o777);
    const found = await look();
    assert.deepEqual(found.map(([code, path]) => [code, path]), [
      ["file_permissions", passwords],
      ["exposed_file", key],
      ["folder_permissions", runbooks],
    ]);
    assert.match(String(found[1]![2]), /chmod o-rwx,g-w/);
    for (const path of [passwords, key]) chmodSync(path, 0o600);
    chmodSync(runbooks, 0o755);
    assert.deepEqual(await look(), []);
  });

  it("escalates what no runbook fixes, with its category, severity and remedy", async () => {
    const { record: stale } = await giveKey(loop.store, { ...KEY, tier: "free" });
    await asSuperuser(loop.store).execute(
      "UPDATE keys SET last_used_at = now() - interval '91 days' WHERE id = $1",
      [stale.id],
    );
    await loop.client.workflow.execute<typeof securityScan>(WORKFLOW.securityScan, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "security-scan",
      args: [],
    });
    const { queue } = await call("security.queue", {});
    const { index, fix, remedy } = queue.find(({ detail }: Json) => detail.key_id === stale.id);
    assert.equal(fix, "people");
    assert.match(remedy, new RegExp(`keys -- revoke ${stale.id}`));
    const result = await endOf(await call("security.approve", { index, wait_seconds: 0 }));
    assert.equal(result.outcome, "escalated");
    const ticket = (await getTicket(loop.store.asPlatform(), result.ticket_id!))!;
    assert.deepEqual([ticket.category, ticket.severity], ["security", "medium"]);
    assert.equal(ticket.description, `What mends it: ${remedy}.`);
    await asSuperuser(loop.store).execute(
      "UPDATE keys SET revoked_at = now() WHERE id = $1",
      [stale.id],
    );
  });

  it("finds keys that were not used for long, and no others", async () => {
    const { record: stale } = await giveKey(loop.store, KEY);
    const { record: fresh } = await giveKey(loop.store, KEY);
    await asSuperuser(loop.store).execute(
      "UPDATE keys SET last_used_at = now() - interval '91 days' WHERE id = $1",
      [stale.id],
    );
    const ids = (await found("keys")).findings.map(({ detail }) => detail.key_id);
    assert.ok(ids.includes(stale.id));
    assert.ok(!ids.includes(fresh.id));
  });

  it("matches installed packages with the ranges of advisories", async () => {
    const { version } = installedPackages()["node_modules/koa"]!;
    const about = (id: string, events: readonly Record<string, string>[], name = "koa") => ({
      id,
      affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }] }],
      database_specific: { severity: "HIGH" },
    });
    const list = [
      about("HIT-1", [{ introduced: "0" }]),
      about("HIT-2", [{ introduced: "0" }, { last_affected: version }]),
      about("MISS-1", [{ introduced: "0" }, { fixed: version }]),
      about("MISS-5", [{ fixed: version }, { introduced: "0" }]), // events have no order
      about("HIT-3", [{ fixed: "99.1.0" }, { introduced: "0" }, { fixed: "99.0.0" }]),
      about("MISS-2", [{ introduced: "99.0.0" }]),
      about("MISS-3", [{ introduced: "0" }], "no-such-package"),
      { ...about("MISS-4", [{ introduced: "0" }]), withdrawn: "2026-01-01T00:00:00Z" },
    ];
    writeFileSync(advisories, list.map((one) => JSON.stringify(one)).join("\n"));
    const { findings } = await found("dependencies");
    assert.deepEqual(findings.map(({ detail }) => detail.advisory), ["HIT-1", "HIT-2", "HIT-3"]);
    const said = findings.map(({ target }) => target.remedy);
    assert.match(String(said[0]), /names no version/);
    assert.match(String(said[2]), /koa 99\.0\.0 or later/);
    assert.equal(findings[0]!.severity, "high");
  });

  it("reports a scanner that failed, and keeps its findings", async () => {
    writeFileSync(advisories, "{ no json");
    assert.equal((await found("dependencies")).state, "failed");
  });
});
