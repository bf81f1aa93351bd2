import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { MockActivityEnvironment } from "@temporalio/testing";
import { diagnoseActivities } from "../../activities/incidents/mod.ts";
import type { Diagnosis, Finding, Observation, ObserverName } from "../../contract/domain/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { addObservations, openTicket } from "../../store/incidents/mod.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { serviceNamed } from "../store/_graph.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { MODEL, type ModelReply, type ModelRequest, serveModel } from "./_model.ts";

/** The evidence: the disk is full by measurement, and words speak for a taken port as well. */
const SEEN: readonly (readonly [ObserverName, Omit<Observation, "code">])[] = [
  ["check", { says: "It answers 500.", figures: {} }],
  ["output", { says: "Its process prints.", text: "bind: address already in use" }],
  ["storage", {
    says: "The file system of /srv is 100.0 % full, 0 MiB are free.",
    figures: { path: "/srv", fullest_percent: 100, host_fullest_percent: 100 },
  }],
];

interface Written {
  readonly written_by: string;
  readonly hypotheses: readonly { cause: string; text: string; evidence: readonly number[] }[];
  readonly dropped: readonly string[];
}

describe("hypotheses of a diagnosis", () => {
  let loop: TestLoop;
  let reply: ModelReply;
  let asked: ModelRequest[] = [];
  before(async () => {
    const env = await serveModel((request) => {
      asked.push(request);
      return reply(request);
    });
    loop = await openLoop({ serve: (databaseUrl) => serveEngine(databaseUrl, env) });
    await putService(
      loop.store.db,
      serviceNamed("orders", [], { type: "web", check: { tcp: "127.0.0.1:1" }, watched: false }),
    );
  });
  after(() => loop?.stop());

  async function diagnose(
    { seen = SEEN, attempt = 1, engine = loop.engine }: {
      seen?: typeof SEEN;
      attempt?: number;
      engine?: TestLoop["engine"];
    } = {},
  ) {
    asked = [];
    const ticket_id = `INC-${randomBytes(6).toString("hex")}`;
    const run = { workflow_id: "loop-hypotheses", run_id: randomUUID() };
    await openTicket(loop.store.db, {
      id: ticket_id,
      title: "x",
      description: "",
      severity: "high",
      phase: "ticketed",
      service: "orders",
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
    for (const [source, one] of seen) {
      const look = { ticket_id, run_id: run.run_id, round: 1, source };
      await addObservations(loop.store.db, look, [{ code: "seen", ...one }]);
    }
    const finding: Finding = {
      service: "orders",
      detector: "service_probes",
      check: "http",
      code: "status_500",
      fingerprint: randomBytes(8).toString("hex"),
      severity: "high",
      observed_at: new Date().toISOString(),
    };
    const order = { finding, ticket_id, code: "status_500", round: 1, run };
    const diagnosis: Diagnosis = await new MockActivityEnvironment({ attempt })
      .run(() => diagnoseActivities({ ...loop, engine }).diagnose(order));
    const [event] = await loop.store.db.query(
      "SELECT data FROM ticket_events WHERE ticket_id = $1 AND kind = 'diagnosed'",
      [ticket_id],
    );
    return { diagnosis, written: event!.data.hypotheses as Written | undefined };
  }

  const ordered = (...order: readonly [cause: string, text: string, evidence: number[]][]) => ({
    order: order.map(([cause, text, evidence]) => ({ cause, why: { text, evidence } })),
  });
  const FULL = "The file system of `/srv` is 100.0 % full.";
  const TAKEN = "Its process prints that the address is already in use.";

  it("are ordered and worded by a model, and the cause stays the rules'", async () => {
    reply = ({ at }) =>
      ordered(["port_taken", TAKEN, [at(/already in use/)]], ["disk_full", FULL, [
        at(/100\.0 % full/),
      ]]);
    const { diagnosis, written } = await diagnose();
    assert.equal(diagnosis.cause, "disk_full");
    assert.deepEqual(diagnosis.hypotheses, {
      written_by: MODEL,
      order: [
        { cause: "port_taken", observations: [2] },
        { cause: "disk_full", observations: [3] },
      ],
    });
    assert.deepEqual(written!.hypotheses.map(({ text }) => text), [TAKEN, FULL]);
    assert.deepEqual(written!.dropped, []);
    assert.ok(diagnosis.alternatives.some(({ cause }) => cause === "port_taken"), "by the rules");
    const [{ task, schema, text }] = asked as [ModelRequest];
    assert.equal(task, "hypotheses");
    assert.deepEqual(
      schema.properties.order.items.properties.cause.enum.toSorted(),
      ["disk_full", "port_taken"],
    );
    assert.match(text, /<data-[0-9a-f]{16} name="evidence">/);
  });

  const lies: readonly (readonly [string, ReturnType<typeof ordered>, RegExp])[] = [
    [
      "names a cause that was not offered",
      ordered(["memory_exhausted", FULL, [3]]),
      /names memory_exhausted as a cause, which was not offered/,
    ],
    ["cites an observation that is not there", ordered(["disk_full", FULL, [99]]), /cites 99/],
    ["cites nothing", ordered(["disk_full", FULL, []]), /cites/],
    [
      "words a cause by what speaks for another",
      ordered(["port_taken", FULL, [3]]),
      /cites nothing that speaks for port_taken/,
    ],
    [
      "contradicts a measurement",
      ordered(["disk_full", "The file system of `/srv` is not full.", [3]]),
      /./,
    ],
    [
      "tells a number that was not measured",
      ordered(["disk_full", "The file system of `/srv` is 41 % full.", [3]]),
      /41/,
    ],
    [
      "says what to do",
      ordered(["disk_full", "Delete the files of `/srv` at once.", [3]]),
      /should be done/,
    ],
    [
      "accuses somebody",
      ordered(["disk_full", "An attacker has made the file system of `/srv` full.", [3]]),
      /./,
    ],
  ];
  for (const [what, said, objection] of lies) {
    it(`drop what a model says that ${what}, and keep the rest`, async () => {
      reply = ({ at }) => ({
        order: [
          ...said.order,
          { cause: "port_taken", why: { text: TAKEN, evidence: [at(/already in use/)] } },
        ],
      });
      const { diagnosis, written } = await diagnose();
      assert.equal(diagnosis.cause, "disk_full");
      assert.deepEqual(diagnosis.hypotheses!.order, [{ cause: "port_taken", observations: [2] }]);
      assert.equal(written!.dropped.length, 1, JSON.stringify(written));
      assert.match(written!.dropped[0]!, objection);
    });
  }

  it("are left out where nothing of a model's words holds, or it gives no answer", async () => {
    reply = () => ordered(["memory_exhausted", "It has no memory left.", [1]]);
    const lied = await diagnose();
    assert.equal(lied.diagnosis.hypotheses, undefined);
    assert.equal(lied.diagnosis.cause, "disk_full");
    reply = () => "no JSON at all";
    const silent = await diagnose();
    assert.deepEqual([silent.diagnosis.hypotheses, silent.written], [undefined, undefined]);
    assert.equal(silent.diagnosis.cause, "disk_full");
  });

  it("are asked for once, and not where there is one alone", async () => {
    reply = ({ at }) => ordered(["port_taken", TAKEN, [at(/already in use/)]]);
    assert.equal((await diagnose({ attempt: 2 })).written, undefined);
    assert.equal((await diagnose({ seen: SEEN.slice(2) })).written, undefined);
    assert.deepEqual(asked, []);
  });

  it("are not spoken of where no model is configured", async () => {
    const { client, close } = await serveEngine(loop.database.urls.engine);
    try {
      const { diagnosis, written } = await diagnose({ engine: client });
      assert.equal(diagnosis.cause, "disk_full");
      assert.ok(!("hypotheses" in diagnosis));
      assert.equal(written, undefined);
    } finally {
      await close();
    }
  });
});
