import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { diagnoseActivities } from "../../activities/incidents/mod.ts";
import { ROOT } from "../../config.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { type Finding, type LoopResult, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { HealthCheck, Service } from "../../integrations/host/mod.ts";
import { getTicket, openTicket, recordFindings } from "../../store/incidents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { type BrokenService, startBrokenService } from "./_broken_service.ts";
import { sized } from "../_size.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { readTicketRecord } from "./_ticket_record.ts";

const HTTP = { http: "http://127.0.0.1:9000/health?token=s3cret" };
const TCP = { tcp: "127.0.0.1:9000" };
const COMMAND = { command: ["/usr/local/bin/check-it", "--password", "s3cret"] };
const CHECKS: Readonly<Record<string, HealthCheck>> = { http: HTTP, tcp: TCP, command: COMMAND };

/** Judgements that an engineer would accept. */
const PROBES = parse(
  readFileSync(join(ROOT, "evals", "detection", "cases", "probes.yaml"), "utf8"),
) as {
  readonly types: Readonly<Record<string, readonly string[]>>;
  readonly codes: readonly {
    readonly check: string;
    readonly code: string;
    readonly says: string;
    readonly categories?: readonly string[];
  }[];
};

/** Lines of logs, and what they are about. */
const LOGS: readonly (readonly [category: string, lines: readonly string[]])[] = [
  ["storage", [
    "2026-11-20T10:00:01Z ERROR cannot write /srv/spool/17.tmp: ENOSPC: no space left on device",
    "2026-11-20T10:00:02Z ERROR cannot write /srv/spool/18.tmp: ENOSPC: no space left on device",
  ]],
  ["database", [
    "2026-11-20 10:00:01 UTC [201] ERROR:  deadlock detected",
    "2026-11-20 10:00:02 UTC [207] FATAL:  sorry, too many clients already",
  ]],
  ["certificate", [
    "Nov 20 10:00:01 web1 nginx: SSL_do_handshake() failed: certificate verify failed: certificate has expired",
  ]],
  ["dns", ["Nov 20 10:00:01 app1 app[7]: getaddrinfo ENOTFOUND orders.internal"]],
];

describe("the diagnosis of a finding", () => {
  let loop: TestLoop;
  const brokenServices: BrokenService[] = [];

  before(async () => {
    loop = await openLoop();
  });
  after(async () => {
    for (const broken of brokenServices) await broken.remove();
    await loop?.stop();
  });

  async function put(fields: Partial<Service> & Pick<Service, "name">): Promise<Service> {
    const service: Service = {
      type: "service",
      host: "127.0.0.1",
      owner: null,
      origin: "file",
      check: HTTP,
      restart: null,
      watched: false,
      dependsOn: [],
      ...fields,
    };
    await putService(loop.store.db, service);
    return service;
  }

  /** Records a finding of a detector. */
  async function record(finding: Finding, detail: Readonly<Record<string, unknown>> = {}) {
    await recordFindings(loop.store.db, [{
      fingerprint: finding.fingerprint,
      detector: finding.detector!,
      service: finding.service,
      host: null,
      kind: finding.check,
      code: finding.code,
      severity: finding.severity!,
      root: finding.fingerprint,
      summary: `${finding.service} has ${finding.code}`,
      detail,
      target: {},
    }]);
  }

  /** Diagnoses a finding. @returns the diagnosis, its ticket and its event */
  async function diagnose(finding: Finding) {
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await openTicket(loop.store.db, {
      id,
      title: "x",
      description: "",
      severity: finding.severity ?? "high",
      phase: "ticketed",
      service: finding.service,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
    const diagnosis = await diagnoseActivities(loop).diagnose({
      finding,
      ticket_id: id,
      code: finding.code,
      round: 1,
      run: { workflow_id: "loop-diagnosis", run_id: randomUUID() },
    });
    const ticket = (await getTicket(loop.store.db, id))!;
    const [event] = await loop.store.db.query(
      "SELECT data FROM ticket_events WHERE ticket_id = $1 AND kind = 'diagnosed'",
      [id],
    );
    return { ...diagnosis, ticket, data: event!.data as Record<string, unknown> };
  }

  const logFinding = (service: string | null, code: string): Finding => ({
    service,
    detector: "logs",
    check: "log",
    code,
    fingerprint: randomBytes(8).toString("hex"),
    severity: "medium",
    observed_at: new Date().toISOString(),
  });

  // In the daily run, each type has some of the codes, and each code some of the types.
  it("judges every declared type with every code of a probe as an engineer would", async () => {
    const wrong: string[] = [];
    for (const [row, [type, usual]] of Object.entries(PROBES.types).entries()) {
      for (const [column, { check, code, says, categories = usual }] of PROBES.codes.entries()) {
        if ((row + column) % 10 >= sized(10)) continue;
        const name = `the-payment-dns-of-${type}`;
        const service = await put({ name, type, check: CHECKS[check] });
        const { classification, basis, ticket, data } = await diagnose(
          await createServiceFinding(loop.store, service, code),
        );
        const { category, confidence, severity } = classification!;
        const ok = categories.includes(category) && String(data.says).includes(says) &&
          !/s3cret/.test(JSON.stringify(data)) && basis === "measured" &&
          (category === "other" ? confidence <= 0.3 : confidence >= 0.3 && confidence <= 0.95) &&
          ticket.category === category && severity === (code === "slow" ? "medium" : "high");
        if (!ok) wrong.push(`${type} ${check} ${code}: ${category} ${confidence} ${data.says}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it("has no category for a service of which nothing tells the kind, and says so", async () => {
    for (const check of [TCP, COMMAND]) {
      const service = await put({ name: "thing", type: "thing", check });
      const finding = await createServiceFinding(loop.store, service, "timeout");
      const { classification, citations } = await diagnose(finding);
      assert.equal(classification!.category, "other");
      assert.ok(classification!.confidence <= 0.3);
      assert.deepEqual(citations, []);
    }
    const plain = await put({ name: "thing", type: "service" });
    const byCheck = await diagnose(await createServiceFinding(loop.store, plain, "refused"));
    assert.equal(byCheck.classification!.category, "application", "it speaks HTTP");
    assert.ok(byCheck.classification!.confidence < 0.8);
    const known = await put({ name: "thing", type: "thing", check: { tcp: "127.0.0.1:5432" } });
    const byPort = await diagnose(await createServiceFinding(loop.store, known, "refused"));
    assert.equal(byPort.classification!.category, "database");
    assert.ok(byPort.classification!.confidence < 0.8);
  });

  it("blames a dependency only if a declared one fails as well", async () => {
    const needed = await put({ name: "needed", type: "database", check: TCP });
    const service = await put({
      name: "needing",
      type: "web",
      dependsOn: [{ service: "needed", kind: "depends_on" }],
    });
    const finding = await createServiceFinding(loop.store, service, "status_502");
    assert.equal((await diagnose(finding)).classification!.category, "application");
    await record({ ...await createServiceFinding(loop.store, needed, "slow") });
    assert.equal((await diagnose(finding)).classification!.category, "application");
    await record(await createServiceFinding(loop.store, needed, "refused"));
    const { classification, data } = await diagnose(finding);
    assert.equal(classification!.category, "dependency");
    assert.match(String(data.says), /needed, which it needs, fails as well \(refused\)/);
    const disk = await diagnose(await createServiceFinding(loop.store, service, "status_507"));
    assert.equal(disk.classification!.category, "storage");
  });

  it("reads the lines of a log, and takes the service's type where they do not tell", async () => {
    await put({ name: "logging", type: "web" });
    for (const [category, samples] of LOGS) {
      for (const service of ["logging", null]) {
        const finding = logFinding(service, "error_rate");
        await record(finding, { samples });
        const { basis, classification } = await diagnose(finding);
        assert.deepEqual([basis, classification!.category], ["words", category], samples[0]);
      }
    }
    const unclear = { samples: ["ERROR frob 17 failed", "ERROR frob 18 failed"] };
    const typed = logFinding("logging", "new_templates");
    await record(typed, unclear);
    const ofType = await diagnose(typed);
    assert.deepEqual([ofType.basis, ofType.classification!.category], ["measured", "application"]);
    const lone = logFinding(null, "new_templates");
    await record(lone, unclear);
    const { category, confidence } = (await diagnose(lone)).classification!;
    assert.equal(category, "other");
    assert.ok(confidence <= 0.3);
  });

  it("does not blame a supplier for what a log complains of", async () => {
    await put({ name: "paying", type: "web" });
    const finding = logFinding("paying", "error_rate");
    const line = "ERROR Stripe API answered 503 Service Unavailable, payment provider is down";
    await record(finding, { samples: [line, line, line] });
    const { classification, data } = await diagnose(finding);
    assert.notEqual(classification!.category, "dependency");
    assert.notEqual(data.reading, undefined, "what the lines say stays in the ticket");
  });

  it("takes attacks in a log, scans and resources as they were measured", async () => {
    const cases: readonly (readonly [Finding["detector"], Finding["check"], string, string])[] = [
      ["logs", "log", "brute_force", "security"],
      ["logs", "log", "port_scan", "security"],
      ["logs", "log", "login_after_failures", "security"],
      ["host_resources", "host", "disk_full", "storage"],
      ["host_resources", "host", "inodes_filling", "storage"],
      ["host_resources", "host", "memory_low", "compute"],
      ["host_resources", "host", "load_high", "compute"],
      ["certificates", "certificate", "expired", "certificate"],
      ["certificates", "certificate", "expires_soon", "certificate"],
      ["certificates", "certificate", "untrusted", "certificate"],
      ["certificates", "certificate", "wrong_name", "certificate"],
      ["platform", "platform", "slow", "database"],
      ["platform", "platform", "connections_exhausted", "database"],
      ["platform", "platform", "ledger_broken", "security"],
      ["platform", "platform", "workflows_failed", "application"],
      ["platform", "platform", "weak_setting", "security"],
    ];
    for (const [detector, check, code, category] of cases) {
      const finding = { ...logFinding(null, code), detector, check } as Finding;
      await record(finding);
      const { classification, basis, data } = await diagnose(finding);
      assert.equal(classification!.category, category, code);
      assert.ok(classification!.confidence >= 0.8, code);
      assert.equal(basis, "measured");
      assert.equal(data.says, `null has ${code}.`, "the detector's own sentence");
    }
  });

  it("takes a person's words for what they are where nothing was measured", async () => {
    const report = "The TLS certificate of shop.example expired last night";
    const words = await diagnose({
      service: null,
      check: "report",
      code: "reported",
      report,
      fingerprint: randomBytes(8).toString("hex"),
      observed_at: new Date().toISOString(),
    });
    assert.deepEqual([words.basis, words.classification!.category], ["words", "certificate"]);
    const service = await put({ name: "reported", type: "web" });
    const measured = await diagnose({
      ...await createServiceFinding(loop.store, service, "refused"),
      report,
    });
    assert.deepEqual(
      [measured.basis, measured.classification!.category],
      ["measured", "application"],
    );
    assert.equal((measured.data.reading as { category: string }).category, "certificate");
  });

  it("seals the measured category, and no address", async () => {
    const { service } = await broken("sealed", () => null);
    const { receipt_id, ticket_id } = await run(service, "refused");
    const { receipts } = await readTicketRecord(loop.store, ticket_id!);
    const receipt = receipts.find(({ id }) => id === receipt_id)!;
    const { basis, category, provider } = receipt.details.diagnosis as Record<string, unknown>;
    assert.deepEqual([basis, category, provider], ["measured", "application", "service_probes"]);
    assert.doesNotMatch(JSON.stringify(receipt.details), /127\.0\.0\.1/);
  });

  async function broken(name: string, runbook?: () => null): Promise<BrokenService> {
    const place = { store: loop.store, dataDir: loop.config.dataDir };
    const service = await startBrokenService(place, { name, runbook });
    brokenServices.push(service);
    return service;
  }

  async function run(service: Service, code: string): Promise<LoopResult> {
    const finding = await createServiceFinding(loop.store, service, code);
    return await loop.client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  }
});
