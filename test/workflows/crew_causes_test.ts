import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { crewActivities } from "../../activities/reasoning/crew/mod.ts";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import {
  type AgentReport,
  type CrewResult,
  type LoopResult,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { listObservations, listTicketEvents, recordFindings } from "../../store/incidents/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { openLoop, serveNoEngine, type TestLoop } from "./_loop.ts";

/** Answers 500 with its argument, and prints its port. */
const SERVER = `
  const server = require("node:http").createServer((_, res) => res.writeHead(500).end(process.argv[1]));
  server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)));`;

describe("the crew beside the loop", () => {
  let loop: TestLoop;
  let count = 0;
  const closing: (() => unknown)[] = [];

  before(async () => {
    loop = await openLoop({ serve: serveNoEngine });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  after(() => loop?.stop());

  /** Puts a service, a process of its own, that answers 500 with these words. */
  async function failing(words: string): Promise<Service> {
    const child = spawn(process.execPath, ["-e", SERVER, words]);
    closing.push(async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    const [port] = await once(child.stdout, "data");
    return await put({ check: { http: `http://127.0.0.1:${port}/` } });
  }
  async function put(more: Partial<Service>): Promise<Service> {
    const service: Service = {
      name: `examined-${++count}`,
      type: "web",
      host: "127.0.0.1",
      owner: null,
      origin: "file",
      check: null,
      restart: null,
      watched: false,
      dependsOn: [],
      ...more,
    };
    await putService(loop.store.asPlatform(), service);
    return service;
  }

  const execute = <Result>(type: string, id: string, input: object): Promise<Result> =>
    loop.client.workflow.execute(type, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: id,
      args: [input],
    });
  const crew = (incident: string) =>
    execute<CrewResult>(WORKFLOW.crew, `crew-${randomBytes(6).toString("hex")}`, {
      incident,
      requested_by: "key:test",
    });
  async function heal(service: Service): Promise<LoopResult> {
    const finding = await createServiceFinding(loop.store, service, "status_500");
    return await execute(WORKFLOW.itsmLoop, `loop-${finding.fingerprint}`, finding);
  }
  const says = (agents: readonly AgentReport[], agent: string) =>
    agents.filter((one) => one.agent === agent).flatMap((one) => one.says.map(String));

  it("names the same cause, by the observations that the loop has made", async () => {
    const service = await failing("accept4: Too many open files");
    const before = await crew(`${service.name} fails`);
    const { ticket_id, outcome } = await heal(service);
    assert.equal(outcome, "escalated");
    const after = await crew(`${service.name} fails`);

    const db = loop.store.asPlatform();
    const events = await listTicketEvents(db, ticket_id!);
    const { data } = events.find(({ kind }) => kind === "diagnosed")!;
    const seen = await listObservations(db, ticket_id!);
    const [alone] = before.examined;
    const [common] = after.examined;
    assert.equal(data.cause, "descriptors_exhausted");
    assert.deepEqual([alone!.ticket_id, alone!.cause], [null, data.cause]);
    assert.deepEqual(
      [common!.ticket_id, common!.symptom, common!.cause, common!.cause_confidence],
      [ticket_id, data.symptom, data.cause, data.cause_confidence],
    );
    assert.deepEqual([common!.observations, common!.alternatives], [
      data.observations,
      data.alternatives,
    ]);
    assert.deepEqual(
      common!.seen,
      seen.map(({ number, source, code, says }) => ({ number, source, code, says })),
    );
    assert.equal(after.cause, service.name);
    assert.match(after.diagnosis, new RegExp(`${service.name} has no file descriptor left`));
  });

  it("names no cause where the loop names none, and tells the symptom", async () => {
    const service = await failing("Oops");
    const { ticket_id } = await heal(service);
    const { examined: [one], agents } = await crew(`${service.name} fails`);
    assert.deepEqual([one!.ticket_id, one!.cause], [ticket_id, null]);
    assert.match(
      says(agents, "metrics").join("\n"),
      /, as observed for INC-\w+: The cause is not known; the symptom is status 500\./,
    );
  });

  describe("says only what the records say", () => {
    it("a service that is only named is no cause", async () => {
      const { name } = await put({ check: { command: ["true"] } });
      const { cause, diagnosis, examined } = await crew(`Look at ${name}`);
      assert.deepEqual([cause, examined], [null, []]);
      assert.match(diagnosis, /^No service can be named as the cause/);
      const unchecked = await put({});
      const { agents } = await crew(`Look at ${unchecked.name}`);
      assert.match(says(agents, "metrics").join(), /was not measured, as no check of it is known/);
      assert.deepEqual(says(agents, "verifier"), [
        "no check of what is suspected is known, so nothing was measured again",
      ]);
    });

    it("a repair that was not carried out is none", async () => {
      const service = await failing("Oops");
      const { ticket_id } = await heal(service);
      await asSuperuser(loop.store).execute(
        `INSERT INTO effects (id, ticket_id, service, action_id, action, action_sha256, detail, state)
         VALUES ('a', $1, $2, 'b', '{}', '', '{}', 'not_done')`,
        [ticket_id, service.name],
      );
      const { agents } = await crew(`${service.name} fails`);
      const told = says(agents, "change").filter((text) => /^repair /.test(text));
      assert.ok(told.length > 0, JSON.stringify(agents));
      for (const text of told) assert.match(text, /: not carried out, or not all of it$/);
    });

    it("a dependency was down when it was last seen, whatever it is now", async () => {
      const db = await put({ check: { command: ["true"] } });
      const between = await put({ dependsOn: [{ service: db.name, kind: "depends_on" }] });
      const { name } = await put({ dependsOn: [{ service: between.name, kind: "depends_on" }] });
      await asSuperuser(loop.store).execute(
        "UPDATE services SET status = 'down' WHERE name = $1",
        [db.name],
      );
      const { agents, objections, cause } = await crew(`${name} is slow`);
      assert.ok(
        says(agents, "topology").includes(
          `${name} needs ${db.name} through others, which was down when it was last seen`,
        ),
      );
      assert.match(objections.join("\n"), new RegExp(`${db.name} .+ answers its health check now`));
      assert.notEqual(cause, db.name);
    });

    it("findings on other services do not make theirs none", async () => {
      const [{ name }, other] = [await put({}), await put({})];
      await recordFindings(loop.store.db, [{
        fingerprint: randomBytes(8).toString("hex"),
        detector: "logs",
        service: other.name,
        host: null,
        kind: "log",
        code: "error_rate",
        severity: "high",
        root: "",
        summary: `The log of ${other.name} has more errors than usual`,
        detail: {},
        target: {},
      }]);
      const { inspectLogs, triageIncident } = crewActivities(loop);
      const scope = { incident: "x", services: [name], round: 1 };
      assert.deepEqual((await inspectLogs(scope, [])).says.map(String), [
        "no finding of the log detector is open on them",
      ]);
      const triage = await triageIncident({ incident: "Something is wrong" });
      assert.match(
        triage.says.join("\n"),
        new RegExp(`names no service that is known; findings are open on .*${other.name}`),
      );
    });
  });
});
