import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EVIDENCE } from "../../judgement/compliance/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { requestSeal, runSequencer } from "../../ledger/mod.ts";
import { openStore } from "../../store/mod.ts";
import { clearFinding, recordFindings } from "../../store/incidents/mod.ts";
import { insertRows } from "../_rows.ts";
import { testFolder } from "../_run.ts";
import { callTool } from "./_call_tool.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

describe("compliance", () => {
  let gateway: TestGateway;
  let full: string;
  let sequencing: Promise<unknown>;
  const stop = new AbortController();

  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_TOOLS: "1000000" } });
    full = await gateway.key({ expiresAt: new Date(Date.now() + 86_400_000) });
    const store = openStore(gateway.urls.sequencer, "sequencer");
    const keyFile = join(await testFolder(), "ledger.key");
    sequencing = runSequencer({ store, keyFile, signal: stop.signal }).finally(() => store.close());
  });
  after(async () => {
    stop.abort();
    await sequencing?.catch(() => {});
    await gateway?.stop();
  });

  const get = async (path: string): Promise<Json> => {
    const answer = await fetch(gateway.url + path);
    assert.equal(answer.status, 200, path);
    return await answer.json();
  };
  const tool = (name: string, input = {}, credential = full): Promise<Json> =>
    callTool(gateway.platform, credential, name, input);

  it("scores three frameworks, and says of itself that it is an internal assessment", async () => {
    const { scores } = await get("/v1/compliance");
    assert.deepEqual(Object.keys(scores), ["nist_csf", "hipaa", "soc2"]);
    for (const { score, max, status } of Object.values<Json>(scores)) {
      assert.ok(score > 0 && score < max && max === 100);
      assert.equal(status, "internal_assessment");
    }
    const { controls_total, fully_evidenced, partial, gaps, breakdown } = scores.soc2;
    assert.equal(controls_total, fully_evidenced + partial + gaps);
    assert.equal(breakdown.length, controls_total);
    await eventually(async () => { // the next assessment, after a second, may find more
      const { scores: { soc2 } } = await get("/v1/compliance");
      const summary = await get("/v1/compliance/summary");
      const told = (await tool("get_compliance_status")).scores.soc2;
      return summary.scores.soc2 === soc2.score &&
        isDeepStrictEqual(told.breakdown, soc2.breakdown);
    });
  });

  it("says that backups are not configured, until a service makes them and is seen to", async () => {
    const { store } = gateway.platform;
    const before = await get("/v1/compliance/summary");
    const backups = async () => {
      const { controls } = await tool("grc_controls", { framework: "soc2" });
      const control = controls.find((one: Json) => one.id === "CC7.5");
      return control.evidence.find((one: Json) => one.name === "backups").state;
    };
    assert.equal(await backups(), "not_configured");
    assert.ok((await tool("grc_risks")).risks.some((risk: Json) => risk.id === "backups"));
    assert.ok((await tool("grc_health")).unseen.includes("backups"));
    await asSuperuser(store).execute(
      `INSERT INTO services (name, type, origin, owner, status, checked_at)
       VALUES ('nightly-backup', 'backup', 'file', 'ann', 'up', now())`,
    );
    await eventually(async () => await backups() === "met");
    const after = await get("/v1/compliance/summary");
    for (const framework of ["nist_csf", "hipaa", "soc2"]) {
      assert.ok(after.scores[framework] > before.scores[framework], framework);
    }
    await asSuperuser(store).execute(
      "UPDATE services SET status = 'down' WHERE name = 'nightly-backup'",
    );
    await eventually(async () => await backups() === "missing");
  });

  it("lowers a score when keys are left lying about", async () => {
    const access = async () => {
      const { controls } = await tool("grc_controls", { framework: "hipaa" });
      return controls.find((one: Json) => one.id === "164.312(d)");
    };
    await eventually(async () => (await access()).state === "pass");
    await gateway.key({ expiresAt: null });
    await eventually(async () => (await access()).state === "partial");
    assert.match(
      (await access()).evidence[0].because,
      /^\d keys, 1 of them without an expiry though of no admin/,
    );
  });

  it("takes scanners, which look once a day, for no detectors that have stopped", async () => {
    const looked = (detector: string, hours: number) => ({
      detector,
      duration_ms: 1,
      probed: 1,
      findings: 0,
      last_run_at: new Date(Date.now() - hours * 3_600_000),
    });
    await insertRows(asSuperuser(gateway.platform.store), "detections", [
      looked("logs", 0),
      looked("security_scan:ports", 9),
    ]);
    const monitoring = async () => {
      const { controls } = await tool("grc_controls");
      const all = controls.flatMap(({ evidence }: Json) => evidence);
      return all.find(({ name }: Json) => name === "monitoring");
    };
    await eventually(async () => (await monitoring()).state !== "missing");
    assert.match((await monitoring()).because, /^1 of 1 detector ran within the hour/);
  });

  it("counts a scan for less as long as a grave weakness that it found is open", async () => {
    const { store, sealer } = gateway.platform;
    await (await storeAs(store, "worker")).asPlatform().transaction((trx) =>
      requestSeal(trx, {
        id: "5ca0000000000001",
        category: "platform_scan",
        actor: "test",
        subject: "x",
        action: "security.scan",
        outcome: "findings",
        details: {},
      })
    );
    await sealer.sealed("5ca0000000000001");
    const scans = async () => {
      const { controls } = await tool("grc_controls");
      const all = controls.flatMap(({ evidence }: Json) => evidence);
      return all.find(({ name }: Json) => name === "vulnerability_scans");
    };
    await eventually(async () => (await scans()).state === "met");
    const before = await get("/v1/compliance/summary");
    const weakness = (fingerprint: string, severity: "high" | "low") => ({
      fingerprint,
      severity,
      detector: "security_scan",
      service: null,
      host: "h",
      kind: "platform",
      code: "open_port",
      root: fingerprint,
      summary: "s",
      detail: {},
      target: {},
    });
    const [grave, slight] = [weakness("a".repeat(16), "high"), weakness("b".repeat(16), "low")];
    await recordFindings(asSuperuser(store), [grave, slight]);
    await eventually(async () => (await scans()).state === "partly");
    assert.match((await scans()).because, /2 weaknesses are open, 1 of them severe$/);
    assert.ok((await get("/v1/compliance/summary")).scores.soc2 < before.scores.soc2);
    await clearFinding(asSuperuser(store), grave.fingerprint);
    await eventually(async () => (await scans()).state === "met");
    assert.match((await scans()).because, /1 weakness is open, 0 of them severe$/);
  });

  it("names the receipts that prove a control", async () => {
    const { store, sealer } = gateway.platform;
    await (await storeAs(store, "worker")).asPlatform().transaction((trx) =>
      requestSeal(trx, {
        id: "0123456789abcdef",
        category: "config_change",
        actor: "test",
        subject: "x",
        action: "change",
        outcome: "done",
        details: {},
      })
    );
    await sealer.sealed("0123456789abcdef");
    const proven = async () => {
      const { controls } = await tool("grc_controls", { framework: "soc2" });
      return controls.find((one: Json) => one.id === "CC8.1").receipts as Json[];
    };
    await eventually(async () => (await proven()).some(({ id }) => id === "0123456789abcdef"));
    const [receipt] = (await proven()).filter(({ id }) => id === "0123456789abcdef");
    assert.match(receipt.verify_url, /\/api\/verify\/0123456789abcdef$/);
  });

  it("knows receipts that prove each piece of evidence, but for what people alone can show", () => {
    const unproven = Object.entries(EVIDENCE).filter(([, { receipts }]) => receipts.length === 0);
    assert.deepEqual(unproven.map(([name]) => name), ["people"]);
  });

  it("gives an auditor the sum of it, and no other tool of the group", async () => {
    const audit = await gateway.key({ scope: "audit", principal: "auditor" });
    const summary = await tool("compliance.audit_summary", {}, audit);
    assert.equal(summary.chain.breaks, 0);
    assert.ok(summary.receipts_by_category.config_change >= 1);
    assert.equal(summary.controls.controls_total, 76);
    await assert.rejects(
      tool("grc_controls", {}, audit),
      (error) => error instanceof Problem && error.name === "Forbidden",
    );
    const { frameworks } = await tool("grc_summary");
    assert.equal(frameworks.length, 3);
  });

  describe("the bill of cryptographic materials", () => {
    it("is the same at both addresses, and holds the ledger's key", async () => {
      const [one, other] = await Promise.all(
        ["/v1/security/cbom", "/api/v1/security/cbom"].map(get),
      );
      assert.equal(one.serialNumber, other.serialNumber);
      assert.deepEqual([one.bomFormat, one.specVersion], ["CycloneDX", "1.6"]);
      const key = one.components.find((it: Json) =>
        it.cryptoProperties.assetType === "related-crypto-material"
      );
      const row = await gateway.platform.store.asPlatform().first(
        "SELECT public_key FROM ledger_keys",
      );
      const stored = row!.public_key;
      const hex = Buffer.isBuffer(stored) ? stored.toString("hex") : stored;
      assert.equal(key.cryptoProperties.relatedCryptoMaterialProperties.value, hex);
      const refs = one.components.map((it: Json) => it["bom-ref"]);
      assert.deepEqual(refs, [...new Set(refs)]);
      assert.deepEqual(one.dependencies[0].dependsOn, refs);
    });
  });
});
