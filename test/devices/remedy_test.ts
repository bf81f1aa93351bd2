import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import { readShieldPolicy } from "../../shield/mod.ts";
import { getTicket, listDeviceFacts, listTicketEvents, setPolicy } from "../../store/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { testFolder } from "../_run.ts";
import type { People } from "../api/_people.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

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
undo: { none: The test begins anew each time. }
`;

describe("a device that fails a policy", () => {
  let people: People;
  let machine: Machine;
  let service: Server;
  let mark: string;
  let timer: NodeJS.Timeout;
  before(async () => {
    const folder = await testFolder();
    const scripts = join(folder, "scripts");
    mark = join(folder, "mark");
    mkdirSync(scripts);
    writeFileSync(join(scripts, "end-service.yaml"), scriptOf(mark));
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
    assert.deepEqual(
      body.commands.map((one: Record<string, unknown>) => [one.script_id, one.status]),
      [["end-service", "done"]],
    );
  });
});
