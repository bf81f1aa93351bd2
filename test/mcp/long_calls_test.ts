import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Context } from "@temporalio/activity";
import { exportReceipts, requestSeal } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";
import { listDetectorRuns, listTickets, recordFindings } from "../../store/incidents/mod.ts";
import { listServiceNames, putService, type ServiceRecord } from "../../store/cmdb/mod.ts";
import { serviceNamed } from "../store/_graph.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "../workflows/_loop.ts";
import {
  connect,
  connectHttp,
  type Json,
  startToolServer,
  type TestToolServer,
} from "./_tool_server.ts";
import { asSuperuser } from "../_superuser.ts";

describe("a long-running tool call", () => {
  let loop: TestLoop;
  let server: TestToolServer;
  let client: Client;
  let folder: string;
  /** True: diagnoses take until their run is cancelled. */
  let isHeld = false;

  before(async () => {
    folder = await testFolder();
    const detectors = join(folder, "detectors.yaml");
    const off = ["host_resources", "certificates", "platform"].map((name) =>
      `${name}: { enabled: false }\n`
    );
    const logs = `logs: { files: [{ path: ${folder}/shop.log, service: shop }] }\n`;
    await writeFile(detectors, off.join("") + logs);
    loop = await openLoop({
      settings: { SEALOOP_DETECTORS: detectors },
      async watch(moment, activity) {
        const holds = isHeld && moment === "before" && activity === "diagnose";
        if (holds) await Context.current().cancelled;
      },
    });
    server = await startToolServer({ on: loop.database, temporal: loop.client });
    client = await connectHttp(server.url, (await server.key()).key);
  });
  after(async () => {
    await client?.close();
    await server?.stop();
    await loop?.stop();
  });

  const runsOf = async (type: string) => {
    const runs = [];
    for await (const run of loop.client.workflow.list({ query: `WorkflowType = "${type}"` })) {
      runs.push(run);
    }
    return runs;
  };

  const own = [
    ["itsm_run_test", "itsmTest", { scenario: "hang" }],
    ["simulate_infrastructure_attack", "attackSimulation", { scenario: "exfiltration" }],
  ] as const;
  for (const [name, type, args] of own) {
    it(`cancels its run, which cleans up, when the client cancels: ${name}`, async () => {
      isHeld = true;
      const cancel = new AbortController();
      const call = client.callTool({ name, arguments: args }, undefined, {
        signal: cancel.signal,
        onprogress: () => cancel.abort("enough"),
      });
      await assert.rejects(call);
      assert.ok(cancel.signal.aborted, "the client has cancelled");
      const run = await eventually(async () =>
        (await runsOf(type)).find(({ status }) => status.name !== "RUNNING")
      );
      isHeld = false;
      assert.equal(run.status.name, "CANCELLED");
      assert.deepEqual(await listServiceNames(loop.store.asPlatform()), []);
      const open = await listTickets(loop.store.asPlatform(), { status: "open", limit: 100 });
      assert.deepEqual(open, [], "nothing of it is left to people");
      const sealed = await eventually(async () =>
        (await exportReceipts(loop.store, { from: 0, to: 1_000 })).map(({ text }) =>
          JSON.parse(text)
        ).find(({ category, subject }) => category === "tool_call" && subject === name)
      );
      assert.deepEqual([sealed.outcome, sealed.details.error], ["canceled", "Cancelled"]);
    });
  }

  it("continues, and is sealed, when only the client's connection is lost", async () => {
    const known = new Set((await runsOf("attackSimulation")).map(({ workflowId }) => workflowId));
    const { key } = await server.key();
    for (const open of [connect, connectHttp]) {
      const leaving = await open(server.url, key);
      const call = leaving.callTool(
        { name: "simulate_infrastructure_attack", arguments: { scenario: "ransomware" } },
      );
      call.catch(() => {});
      const begun = await eventually(async () =>
        (await runsOf("attackSimulation")).find(({ workflowId }) => !known.has(workflowId))
      );
      known.add(begun.workflowId);
      await leaving.close();
      const result = await loop.client.workflow.getHandle(begun.workflowId).result();
      assert.equal(result.outcome, "sealed");
    }
    assert.deepEqual(await listServiceNames(loop.store.asPlatform()), []);
  });

  for (const name of ["itsm_trigger_detection", "trigger_sie_scan"]) {
    it(`reports the progress of the five detectors: ${name}`, async () => {
      const reported: [number, number | undefined, string | undefined][] = [];
      const { isError } = await client.callTool({ name, arguments: {} }, undefined, {
        onprogress: ({ progress, total, message }) => reported.push([progress, total, message]),
      });
      assert.ok(!isError);
      const done = reported.map(([progress]) => progress);
      assert.deepEqual(done, [...new Set(done)].sort((a, b) => a - b), "it grows");
      assert.ok(reported.every(([progress, total]) => progress <= 5 && total === 5));
      const [, , first] = reported[0]!;
      assert.match(first!, /^(runs|scans) .*(service_probes|settings)/);
    });
  }

  it("stops detection when its caller leaves, and records no run", async () => {
    const lastRuns = async () =>
      (await listDetectorRuns(loop.store.asPlatform())).filter(({ detector }) =>
        detector === "logs"
      );
    const before = await lastRuns();
    const { config, store } = loop;
    const detect = operations.find(({ name }) => name === "itsm.detect")!;
    const context = {
      config,
      store,
      temporal: () => Promise.resolve(loop.client),
      signal: AbortSignal.abort(),
      progress() {},
    };
    await assert.rejects(detect.run({}, context as never), { name: "Cancelled" });
    assert.deepEqual(await lastRuns(), before);
  });

  it("of six agents cites logs, checks, the graph and changes, and names objections", async () => {
    const service = (name: string, check: ServiceRecord["check"], needs: string[] = []) =>
      putService(
        loop.store.asPlatform(),
        serviceNamed(name, needs, { type: "web", check, watched: false }),
      );
    await service("billing", { tcp: "127.0.0.1:1" });
    await service("shop", { command: ["true"] }, ["billing"]);
    await service("healthy", { command: ["true"] });
    await asSuperuser(loop.store).execute(
      "UPDATE services SET status = 'down' WHERE name = 'billing'",
    );
    const at = (ago: number) => new Date(Date.now() - ago).toISOString();
    await writeFile(
      join(folder, "shop.log"),
      [
        `${at(7_200_000)} ERROR of this morning`,
        `${at(60_000)} INFO started`,
        `${at(50_000)} ERROR billing refused order 17`,
        `${at(40_000)} ERROR billing refused order 18`,
        "",
      ].join("\n"),
    );
    const changed = "00000000000000c1";
    await loop.store.asPlatform().transaction((trx) =>
      requestSeal(trx, {
        id: changed,
        category: "config_change",
        actor: "test",
        subject: "guard-policy",
        action: "policy.set",
        outcome: "in_force",
        details: {},
      })
    );
    await loop.sealer.sealed(changed);

    const { structuredContent } = await client.callTool({
      name: "dispatch_crew_incident",
      arguments: { incident: "The shop answers with errors", verbose: true },
    });
    const { cause, citations, agents, objections, ...written } = structuredContent as Json;
    assert.deepEqual([written.written_by, written.fallback], ["rules", null], "no model is there");
    const { structuredContent: refuted } = await client.callTool({
      name: "dispatch_crew_incident",
      arguments: { incident: "Is the healthy one down?" },
    });
    assert.deepEqual([(refuted as Json).cause, (refuted as Json).confidence], [null, 0]);
    assert.match((refuted as Json).objections.join(), /healthy is suspected, and answers/);
    const { _meta: marks, structuredContent: full } = await client.callTool({
      name: "dispatch_crew_incident",
      arguments: { incident: "Writes of the shop fail: no space left on device" },
    });
    assert.match(
      (full as Json).agents[0].says[0],
      /storage, .* \(confidence 0\.\d+, judged by local\)/,
    );
    assert.equal(marks!["sealoop/injection"], undefined, "what triage says dictates nothing");
    const saysOf = (agent: string, round: number) =>
      agents.find((one: Json) => one.agent === agent && one.round === round).says.join("\n");
    assert.match(
      saysOf("logs", 1),
      /log shop\.log of shop tells of 2 errors within the hour, most often: billing refused order <\*>/,
    );
    assert.match(saysOf("metrics", 1), /shop answers its check/);
    assert.match(saysOf("topology", 1), /shop needs billing, which was down when it was last seen/);
    assert.match(saysOf("change", 1), /config change of guard-policy/);
    assert.ok(citations.some(({ id, kind }: Json) => id === changed && kind === "receipt"));
    assert.match(saysOf("verifier", 1), /billing may be the cause, and nobody has looked at it/);
    assert.match(saysOf("metrics", 2), /billing fails its check: refused/);
    assert.equal(cause, "billing");
    assert.match(objections.join(), /shop is suspected, and answers its health check now/);
  });

  it("suspects no service for a known weakness unless the report names it", async () => {
    const weak = { detector: "security_scan", service: "weak-host", host: "weak-host" };
    await recordFindings(loop.store.asPlatform(), [{
      ...weak,
      fingerprint: "weakness",
      root: "weakness",
      kind: "platform",
      code: "weak_key",
      severity: "high",
      summary: "A key is weak",
      detail: {},
      target: {},
    }]);
    const diagnosed = async (incident: string) =>
      (await client.callTool({ name: "dispatch_crew_incident", arguments: { incident } }))
        .structuredContent as Json;
    const isSuspected = async (incident: string) =>
      (await diagnosed(incident)).agents.flatMap(({ suspects }: Json) => suspects)
        .some(({ service }: Json) => service === "weak-host");
    assert.equal(await isSuspected("Customers complain since noon"), false);
    assert.equal(await isSuspected("weak-host does not answer"), true);
  });

  it("refuses an incident of blanks alone", async () => {
    const result = await client.callTool({
      name: "dispatch_crew_incident",
      arguments: { incident: " \n\t " },
    });
    assert.equal(result.isError, true);
    assert.match(JSON.stringify(result.content), /Expected text that is not blank/);
  });
});
