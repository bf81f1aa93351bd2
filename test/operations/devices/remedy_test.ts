import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { createActivities } from "../../../activities/mod.ts";
import { detectAll, openDetectionContext } from "../../../judgement/detection/mod.ts";
import {
  type DetectorName,
  type Finding,
  TASK_QUEUE,
  WORKFLOW,
} from "../../../contract/domain/mod.ts";
import { readShieldPolicy } from "../../../judgement/shield/mod.ts";
import { setPolicy } from "../../../store/calls/mod.ts";
import { listDeviceCommands, listDeviceFacts } from "../../../store/devices/mod.ts";
import {
  getFinding,
  getTicket,
  listObservations,
  listTicketEvents,
} from "../../../store/incidents/mod.ts";
import type { itsmLoop, itsmSweep } from "../../../workflows/mod.ts";
import { mergeActivities } from "../../workflows/_loop.ts";
import { testFolder } from "../../_run.ts";
import type { People } from "../../api/_people.ts";
import { asSuperuser } from "../../_superuser.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;
/** Activities by name, with the tenant before what they are asked for. */
type Activities = Record<string, (tenant: string, order: object) => Promise<Json>>;

/** Settings by which this machine's own disks and load don't matter. */
const DETECTORS = `
host_resources:
  every_disk: false
  filling_percent: 100
  full_percent: 100
  memory_percent: 100
  load_per_core: 1000
${
  ["service_probes", "logs", "certificates", "platform"]
    .map((name) => `${name}: { enabled: false }`).join("\n")
}
`;

/** A script that tells the test's own service to end. */
const scriptOf = (mark: string) => `
script: end-service
version: 1
title: End the service of the test
about: Tells the service of the test to end, by a file.
platforms: [linux, macos]
argv: [touch, ${mark}]
read_only: false
undo: { script: begin-service }
`;

/** Its opposite. */
const oppositeOf = (mark: string) => `
script: begin-service
version: 1
title: Let the service of the test be
about: Takes the file away that tells the service of the test to end.
platforms: [linux, macos]
argv: [rm, ${mark}]
read_only: false
undo: { script: end-service }
`;

/** Scripts by which the loop looks at a device. */
const LOOKS = ["process-list", "memory-usage", "disk-usage", "failed-units"];

describe("a device that fails a policy", () => {
  let people: People;
  let machine: Machine;
  let service: Server;
  let mark: string;
  let timer: NodeJS.Timeout;
  let incident: Finding;
  let activities: Activities | undefined;
  before(async () => {
    const folder = await testFolder();
    const scripts = join(folder, "scripts");
    mark = join(folder, "mark");
    mkdirSync(scripts);
    writeFileSync(join(scripts, "end-service.yaml"), scriptOf(mark));
    writeFileSync(join(scripts, "begin-service.yaml"), oppositeOf(mark));
    service = createServer().listen(0, "0.0.0.0");
    await once(service, "listening");
    timer = setInterval(() => existsSync(mark) && service.close(), 50);
    const { port } = service.address() as { port: number };
    const detectors = join(folder, "detectors.yaml");
    writeFileSync(detectors, DETECTORS);
    people = await openCommandPlatform({ SEALOOP_SCRIPTS: scripts, SEALOOP_DETECTORS: detectors });
    const policy = `
policies:
  - id: no-test-service
    title: The service of the test does not listen
    severity: high
    check: { listeners: { refused: [tcp/${port}] } }
    finding: true
    remedy_script_id: end-service
`;
    await setPolicy(people.loop.store.asPlatform(), "shield_policies", {
      ...readShieldPolicy(policy),
    });
    machine = await addMachine(people);
    machine.start();
  });
  after(async () => {
    clearInterval(timer);
    service?.close();
    await machine?.stop();
    await people?.stop();
  });

  it("is an incident that the loop repairs by the script that the policy names", async () => {
    const { store, client } = people.loop;
    await people.eventually(async () => {
      const [facts] = await listDeviceFacts(store.asPlatform(), machine.id);
      return facts?.inventory.listeners ? true : undefined;
    });
    const sweep = await client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "sweep",
      args: [],
    });
    assert.equal(sweep.loops.length, 1);
    const loop = client.workflow.getHandle<typeof itsmLoop>(sweep.loops[0]!);
    const { outcome, ticket_id, receipt_id } = await loop.result();
    const steps = await listTicketEvents(store.asPlatform(), ticket_id!);
    assert.equal(outcome, "sealed", `${JSON.stringify(steps)}\n${machine.said}`);
    assert.deepEqual(
      steps.map(({ kind }) => kind),
      [
        "detected",
        "opened",
        "diagnosed",
        "permitted",
        "intended",
        "remediated",
        "verified",
        "resolved",
      ],
    );
    const ticket = await getTicket(store.asPlatform(), ticket_id!);
    assert.match(ticket!.title, /fails the policy no-test-service/);
    await people.sealed(receipt_id!);
    const { body } = await people.call("GET", `/v1/devices/${machine.id}/command`, "program");
    const commands = body.commands as Record<string, unknown>[];
    const statusOf = (script: string) =>
      commands.filter(({ script_id }) => script_id === script).map(({ status }) => status);
    assert.deepEqual(statusOf("end-service"), ["done"]);
    const seen = await seenOf(ticket_id!);
    const asked = seen.filter(({ code }) => code !== "reported");
    assert.deepEqual(asked.map(({ figures }) => figures!.section), LOOKS);
    for (const { code, text, figures } of asked) { // a busy machine may answer too late
      assert.ok(code === "looked" ? text : figures!.reason, JSON.stringify(seen));
      if (code === "looked") assert.deepEqual(statusOf(String(figures!.section)), ["done"]);
    }
    incident = await findingOf(loop.workflowId.slice("loop-".length));
  });

  it("has the script undone by its opposite, where the script did not help", async () => {
    const run = { workflow_id: `loop-${incident.fingerprint}`, run_id: randomUUID() };
    const { code } = incident;
    const { ticket_id } = await act("openTicket", { finding: incident, code, run });
    const order = { finding: incident, ticket_id, code, round: 1, run };
    const diagnosis = await act("diagnose", order);
    const { action } = diagnosis;
    const [step] = action.steps;
    assert.deepEqual([step.script.argv, step.undo.script.argv], [["touch", mark], ["rm", mark]]);
    const { effect } = await act("remediate", { ...order, diagnosis, action });
    assert.deepEqual([effect.state, effect.undoable], ["done", true]);
    assert.ok(existsSync(mark));
    const undone = await act("undo", { ...order, diagnosis, action });
    assert.deepEqual([undone.state, undone.code], ["done", "undone"], JSON.stringify(undone));
    assert.ok(!existsSync(mark));
    const repeated = await act("undo", { ...order, diagnosis, action });
    assert.deepEqual(repeated, undone, "it is done once");
  });

  it("is not waited for by an activity that is cancelled", async () => {
    await machine.stop();
    const run = { workflow_id: `loop-${incident.fingerprint}`, run_id: randomUUID() };
    const { code } = incident;
    // Somebody asks for another try: what was done before is not repeated otherwise.
    const finding = {
      ...incident,
      requested_by: `key:${people.keyId("program")}`,
      observed_at: new Date().toISOString(),
    };
    const { ticket_id } = await act("openTicket", { finding, code, run });
    const order = { finding, ticket_id, code, round: 1, run };
    const diagnosis = await act("diagnose", order);
    const environment = new MockActivityEnvironment();
    const { action } = diagnosis;
    const commands = () =>
      listDeviceCommands(people.store.asPlatform(), machine.id, { limit: 100 });
    const before = (await commands()).length;
    const repair = environment.run(activities!.remediate!, "platform", {
      ...order,
      diagnosis,
      action,
    });
    repair.catch(() => {}); // looked at below
    await people.eventually(async () => (await commands()).length > before || undefined);
    environment.cancel();
    await assert.rejects(repair, { name: "AbortError" });
  });

  it("is left to people at once where it is offline, with a ticket that says since when", async () => {
    const { store, client, config, temporal } = people.loop;
    await machine.stop();
    await asSuperuser(store).execute("UPDATE device_states SET online_since = NULL");
    const context = openDetectionContext({ config, store, temporal });
    const settings = {
      ...context.settings,
      service_probes: { ...context.settings.service_probes, enabled: true },
    };
    const { findings } = await detectAll({ ...context, settings }, { save: true });
    const found = findings.find((one) => one.code === "device_offline")!;
    const { outcome, ticket_id } = await client.workflow.execute<typeof itsmLoop>(
      WORKFLOW.itsmLoop,
      {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `loop-${found.fingerprint}`,
        args: [await findingOf(found.fingerprint)],
      },
    );
    assert.equal(outcome, "escalated");
    const ticket = await getTicket(store.asPlatform(), ticket_id!);
    assert.match(ticket!.title, /is offline: its last heartbeat came at \d{4}-/);
    const steps = await listTicketEvents(store.asPlatform(), ticket_id!);
    assert.ok(!steps.some(({ kind }) => kind === "intended"));
    const [first] = await seenOf(ticket_id!);
    assert.deepEqual([first!.code, first!.figures?.reason], ["not_had", "offline"]);
  });

  /** Returns what the device's source saw for a ticket. */
  async function seenOf(ticketId: string) {
    const all = await listObservations(people.loop.store.asPlatform(), ticketId);
    return all.filter(({ source }) => source === "device");
  }

  /** Returns a recorded finding as loops get it. */
  async function findingOf(fingerprint: string): Promise<Finding> {
    const record = (await getFinding(people.loop.store.asPlatform(), fingerprint))!;
    const { service, code, severity, last_seen_at: observed_at } = record;
    const detector = record.detector as DetectorName;
    return { service, detector, check: "host", code, fingerprint, severity, observed_at };
  }

  /** Runs an activity as a worker does. */
  async function act(name: string, order: object): Promise<Json> {
    activities ??= mergeActivities(createActivities(people.loop)) as unknown as Activities;
    return await new MockActivityEnvironment().run(activities[name]!, "platform", order);
  }
});
