import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../../config.ts";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import { EngineUnavailable, loadEngineSecret, openEngine } from "../../../judgement/engine/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { insertRows } from "../../_rows.ts";
import { freePort, testFolder } from "../../_run.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { eventually } from "../../_time.ts";
import { startEngine, TEST_TIMEOUT_MS, type TestEngine } from "./_engine.ts";
import { asSuperuser } from "../../_superuser.ts";

const isUnavailable = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof EngineUnavailable, String(error));
  assert.equal(error.rule.status, 503);
  assert.match(error.reason, reason);
  return true;
};
const report = { description: "Writes fail: no space left on device", source: "test" };

describe("the engine's process", () => {
  let database: TestDatabase;
  let store: Store;
  let engine: TestEngine;

  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.engine, "engine");
    engine = await startEngine(database.urls.engine);
  });

  after(async () => {
    await engine?.kill();
    await store?.close();
    await database?.drop();
  });

  it("classifies, and cites passages by the hashes of their texts in the store", async () => {
    await waitUntilStored();
    const { classification, rag_context } = await engine.client.classify(report, PLATFORM_TENANT);
    assert.equal(classification.category, "storage");
    assert.ok(rag_context.passages.length >= 3);
    for (const { id, sha256, text } of rag_context.passages) {
      const row = await store.asPlatform().first(
        "SELECT sha256, content FROM knowledge WHERE id = $1 AND current",
        [id],
      );
      assert.equal(row?.sha256, sha256);
      assert.ok(row.content.startsWith(text));
    }
  });

  it("validates an action", async () => {
    const verdict = await engine.client.validate({
      incident: "The web server hangs",
      action: { description: "Restart the web server", confidence: 0.9, blast_radius: 1 },
    }, PLATFORM_TENANT);
    assert.equal(verdict.rails.length, 4);
    assert.equal(verdict.approved, verdict.decision === "allow");
  });

  it("refuses callers without the secret", async () => {
    for (const secret of ["", "wrong", `${engine.secret}x`]) {
      await assert.rejects(
        openEngine({ url: engine.url, secret, timeoutMs: TEST_TIMEOUT_MS }).classify(
          report,
          PLATFORM_TENANT,
        ),
        isUnavailable(/does not accept our secret/),
      );
    }
    for (const path of ["/classify", "/search", "/validate"]) {
      const answer = await fetch(engine.url + path, { method: "POST", body: "{" });
      assert.equal(answer.status, 401);
      await answer.body?.cancel();
    }
  });

  it("finds whole passages for a question, which citations can be checked against", async () => {
    await waitUntilStored();
    const question = "How do I renew a certificate that has expired?";
    const { passages } = await engine.client.search(question, PLATFORM_TENANT);
    assert.ok(passages.length > 0 && passages.length <= 5);
    assert.match(passages[0]!.text, /certificate/i);
    for (const { text, sha256 } of passages) {
      assert.equal(createHash("sha256").update(text).digest("hex"), sha256);
    }
    const scores = passages.map(({ score }) => score);
    assert.deepEqual(scores, [...scores].sort((a, b) => b - a));
    assert.deepEqual((await engine.client.search("xyzzy", PLATFORM_TENANT)).passages, []);
  });

  it("serves a client again after a crash and a restart", async () => {
    await engine.client.classify(report, PLATFORM_TENANT);
    await engine.kill();
    await assert.rejects(engine.client.classify(report, PLATFORM_TENANT), isUnavailable(/ECONN/));
    await assert.rejects(engine.client.health(), isUnavailable(/ECONN/));
    await engine.start();
    assert.equal((await engine.client.classify(report, PLATFORM_TENANT)).provider, "local");
    assert.deepEqual(await engine.client.health(), { classify: true, validate: true });
  });

  it("learns from each repaired ticket, and shows it to the house audience alone", async () => {
    await waitUntilStored();
    const ticket = (id: string, fault: string | null) => ({
      id,
      title: "Frobnicator of the Ostrava plant overheats",
      description: "The frobnicator stops after ten minutes",
      severity: "high",
      status: "open",
      phase: "ticketed",
      fingerprint: fault,
      requested_by: "tester",
      outcome: "sealed",
      receipt_id: "9f2c4b7a01d3e856",
    });
    await insertRows(asSuperuser(store), "tickets", [
      ticket("INC-1", null),
      ticket("INC-2", "f"),
      ticket("INC-3", "f"),
    ]);
    const data = { classification: { category: "hardware", confidence: 0.9 }, citations: ["x"] };
    const events = ["INC-1", "INC-2", "INC-3"].map((ticket_id) => ({
      ticket_id,
      key: "diagnosed-1",
      kind: "diagnosed",
      data,
    }));
    await insertRows(asSuperuser(store), "ticket_events", events);
    for (const id of ["INC-1", "INC-2", "INC-3"]) {
      const resolution = `Cleaned the frobnicator's fan (${id})`;
      await asSuperuser(store).execute(
        "UPDATE tickets SET status = 'resolved', resolution = $2, resolved_at = now() WHERE id = $1",
        [id, resolution],
      );
    }
    const asked = { description: "frobnicator overheats again in Ostrava", source: "test" };
    const incidents = async (audience?: "public") => {
      const { rag_context } = await engine.client.classify({ ...asked, audience }, PLATFORM_TENANT);
      return rag_context.passages.filter(({ kind }) => kind === "incident");
    };
    // The second is there until the third is, which is of the same fault.
    const found = await eventually(async () => {
      const found = await incidents();
      const ids = found.map(({ id }) => id);
      return ids.includes("INC-1") && ids.includes("INC-3") ? found : undefined;
    });
    assert.deepEqual(found.map(({ id }) => id).sort(), ["INC-1", "INC-3"], "one of each fault");
    assert.match(found[0]!.text, /Resolution: Cleaned the frobnicator's fan/);
    assert.deepEqual(await incidents("public"), []);
    const miscounted = await store.asPlatform().query(
      `WITH counted AS (
         SELECT tenant_id, word, count(*) AS passages FROM knowledge_terms GROUP BY tenant_id, word
         UNION ALL SELECT tenant_id, '', count(*) FROM knowledge WHERE current GROUP BY tenant_id)
       SELECT word FROM knowledge_words w LEFT JOIN counted c USING (tenant_id, word)
       WHERE w.passages <> coalesce(c.passages, 0)`,
    );
    assert.deepEqual(miscounted, []);
    const sealed = await store.asPlatform().query(
      "SELECT payload FROM seal_outbox WHERE payload LIKE '%learning_receipt%'",
    );
    assert.equal(sealed.length, 3);
    assert.ok(sealed.every(({ payload }) => !/frobnicator|fan/i.test(payload)));
  });

  it("answers from memory while the database is away", async () => {
    const elsewhere = await startEngine(
      "postgres://nobody@127.0.0.1:9/none",
      {},
      async (client) => await client.classify(report, PLATFORM_TENANT) !== undefined,
    );
    try {
      const { classification, rag_context } = await elsewhere.client.classify(
        report,
        PLATFORM_TENANT,
      );
      assert.equal(classification.category, "storage");
      assert.ok(rag_context.passages.length > 0);
      await assert.rejects(elsewhere.client.health(), isUnavailable(/not ready/));
    } finally {
      await elsewhere.kill();
    }
  });

  async function waitUntilStored(): Promise<void> {
    const count = async () => (await store.asPlatform().query("SELECT FROM knowledge")).length;
    while (await count() < 200) await sleep(20);
  }
});

describe("openEngine()", () => {
  const servers: Server[] = [];

  after(() => servers.forEach((server) => server.close().closeAllConnections()));

  async function answering(handle: RequestListener, timeoutMs = 60_000) {
    const server = createServer({ keepAliveTimeout: 0 }, handle); // none that the client does not close
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return openEngine({ url: `http://127.0.0.1:${port}`, secret: "s", timeoutMs });
  }

  it("gives up after its time limit, also where the answer has begun", async () => {
    const silent = await answering(() => {}, 200);
    await assert.rejects(
      silent.classify(report, PLATFORM_TENANT),
      isUnavailable(/no answer within 200 ms/),
    );
    const slow = await answering((_, answer) => void answer.writeHead(200).write("{"), 200);
    await assert.rejects(
      slow.classify(report, PLATFORM_TENANT),
      isUnavailable(/no answer within 200 ms/),
    );
  });

  for (
    const [what, verdict] of [
      ["approval without allowing", {
        approved: true,
        decision: "deny",
        rails: [],
        policy_version: "1",
      }],
      ["a text for approval", {
        approved: "true",
        decision: "allow",
        rails: [],
        policy_version: "1",
      }],
      ["nothing", null],
    ] as const
  ) {
    it(`refuses ${what} as a verdict`, async () => {
      const engine = await answering((_, answer) => void answer.end(JSON.stringify(verdict)));
      await assert.rejects(
        engine.validate({ incident: "x" }, PLATFORM_TENANT),
        isUnavailable(/another shape/),
      );
    });
  }

  it("says why there is no answer", async () => {
    const broken = await answering((_, answer) => void answer.writeHead(500).end("oops"));
    await assert.rejects(broken.classify(report, PLATFORM_TENANT), isUnavailable(/answered 500/));
    const loading = await answering((_, answer) => void answer.writeHead(503).end("{}"));
    await assert.rejects(loading.classify(report, PLATFORM_TENANT), isUnavailable(/not ready yet/));
    const endless = await answering((_, answer) => void answer.end("x".repeat(2 * 1024 * 1024)));
    await assert.rejects(endless.classify(report, PLATFORM_TENANT), isUnavailable(/too long/));
    const url = `http://127.0.0.1:${await freePort()}`;
    const nobody = openEngine({ url, secret: "s", timeoutMs: TEST_TIMEOUT_MS });
    await assert.rejects(nobody.classify(report, PLATFORM_TENANT), isUnavailable(/ECONNREFUSED/));
  });

  it("keeps its connection, and opens another when the engine has closed it", async () => {
    const ports = new Set<number | undefined>();
    let calls = 0;
    const engine = await answering((request, answer) => {
      ports.add(request.socket.remotePort);
      if (++calls === 3) return void request.socket.destroy();
      request.resume().on("end", () =>
        answer.end(
          JSON.stringify({ approved: false, decision: "deny", rails: [], policy_version: "1" }),
        ));
    });
    for (let i = 0; i < 3; i++) await engine.validate({ incident: "x" }, PLATFORM_TENANT);
    assert.equal(calls, 4);
    assert.equal(ports.size, 2);
  });
});

describe("loadEngineSecret()", () => {
  it("creates a file that only its owner can read, once", async () => {
    const folder = join(await testFolder(), "data");
    const config = loadConfig({ SEALOOP_DATA: folder });
    const secret = loadEngineSecret(config);
    assert.ok(secret.length >= 32);
    assert.equal(loadEngineSecret(config), secret);
    assert.equal(statSync(join(folder, "engine.secret")).mode & 0o777, 0o600);
  });
});
