import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { openStore } from "../../store/mod.ts";
import { addConfigVersion, putSettingsFile, reportProcesses } from "../../store/platform/mod.ts";
import { openTicket } from "../../store/incidents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { eventually } from "../_time.ts";
import { describedGateway } from "./_described_gateway.ts";
import { openPeople, type People } from "./_people.ts";
import { asSuperuser } from "../_superuser.ts";

describe("the platform's status", () => {
  const described = describedGateway();
  /** Returns the status, once no part that this is about was too slow, as on a busy machine. */
  const status = () =>
    eventually(async () => {
      const { body } = await described.call("/v1/status/fresh", { key: described.partner });
      const parts = ["ledger", "governance", "services", "tickets", "settings", "places"];
      const isSlow = parts.some((name) => /^no answer within/.test(body.backends[name].error));
      return isSlow ? undefined : body;
    });

  it("counts the places without a worker, and names none", async () => {
    const store = openStore(described.gateway.urls.gateway, "gateway", 1);
    const db = asSuperuser(store);
    await db.execute(
      `INSERT INTO places (name, heard_at) VALUES
         ('n1.example.net', now() - interval '61 s'), ('n2.example.net', now() + interval '1 h')`,
    );
    const { status: overall, backends: { places } } = await status();
    assert.deepEqual([overall, places.ok], ["degraded", false]);
    const { away, places: count } = places.detail;
    assert.equal(away, 1);
    assert.equal(places.error.startsWith(`1 of ${count} places without a worker`), true);
    assert.doesNotMatch(JSON.stringify(places), /example/);
    await db.execute("DELETE FROM places WHERE name LIKE '%.example.net'");
    assert.equal((await status()).backends.places.ok, true);
    await store.close();
  });

  it("reports what is wrong with a settings file, but neither its path nor what it says", async () => {
    const store = openStore(described.gateway.urls.gateway, "gateway", 1);
    const db = asSuperuser(store);
    const file = "/etc/sealoop/policy.yaml";
    const mistake = {
      file,
      line: 3,
      column: 5,
      text: "acme.x: unknown field",
      open: "unknown field",
    };
    const reading = {
      name: "governance",
      place: "one",
      host: "one",
      path: file,
      hash: "00",
    } as const;
    await putSettingsFile(db, { ...reading, mistakes: [mistake] });
    assert.equal((await status()).backends.settings.ok, true, "no process is on that host");
    await reportProcesses(store.asPlatform(), [{
      id: randomUUID(),
      name: "gateway",
      host: "one",
      pid: 1,
      version: "1",
      restarts: null,
      status: "running",
      waitsFor: null,
      polls: null,
    }]);

    const { status: overall, backends } = await status();
    assert.deepEqual([overall, backends.governance.ok], ["degraded", false]);
    assert.match(backends.governance.error, /^the policy's file is not followed; [^/]*$/);
    assert.equal(backends.settings.error, "policy.yaml:3: unknown field");
    const [refused] = backends.settings.detail.refused;
    const { line, column, wrong, meanwhile } = refused;
    assert.deepEqual([refused.file, line, column, wrong], ["policy.yaml", 3, 5, "unknown field"]);
    assert.match(meanwhile, /every call that changes something is refused/);
    assert.doesNotMatch(JSON.stringify(backends.settings), /acme|\/etc/);

    await putSettingsFile(db, { ...reading, hash: "01", mistakes: [] });
    const cached = await described.call("/v1/status", { key: described.partner });
    assert.equal(cached.body.backends.settings.ok, true, "it is looked at in any case");
    assert.equal((await status()).backends.governance.ok, true);

    await addConfigVersion(db, {
      file: "governance",
      place: "",
      sha256: "02",
      content: "rules: []",
      fromPlace: null,
      fromPath: null,
      putBy: "robin",
      receiptId: "00",
    });
    const { settings } = (await status()).backends;
    assert.match(settings.error, /^config_drift: .* of governance is not version 1, which stays/);
    const [{ code, name, place, version }] = settings.detail.drift;
    assert.deepEqual([code, name, place, version], ["config_drift", "governance", null, 1]);
    assert.doesNotMatch(JSON.stringify(settings), /one|\/etc|robin/);
    await putSettingsFile(db, { ...reading, hash: "02", mistakes: [] });
    assert.equal((await status()).backends.settings.ok, true);
    await store.close();
  });

  it("reports that sealing stands still when a request waits too long, and why", async () => {
    const store = openStore(described.gateway.urls.owner, "owner", 1);
    const payload = JSON.stringify({ timestamp: "2026-01-01T00:00:00+00:00" });
    const { execute } = asSuperuser(store);
    // The sequencer of this gateway must not take it.
    await execute(`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF OLD.seq = -1 THEN RETURN NULL; END IF; RETURN OLD; END $$`);
    await execute(
      "CREATE TRIGGER keep BEFORE DELETE ON seal_outbox FOR EACH ROW EXECUTE FUNCTION keep()",
    );
    await execute(
      "INSERT INTO seal_outbox (seq, id, category, payload) OVERRIDING SYSTEM VALUE VALUES (-1, 'old', 'test', $1)",
      [payload],
    );
    const error = async () => {
      const { ledger } = (await status()).backends;
      assert.equal(ledger.ok, false);
      return ledger.error.replace(/\d+/g, "N");
    };
    const standstill = "sealing stands still: about N receipts wait, the oldest for N s";
    assert.equal(await error(), standstill);
    await execute("INSERT INTO ledger_trouble (reason, held) VALUES ('the disk is full', false)");
    assert.equal(
      await error(),
      `${standstill}; the disk is full. The sequencer's log has the whole error`,
    );
    await execute("UPDATE ledger_trouble SET at = '2025-12-31'"); // before anything waited
    assert.equal(await error(), standstill);
    await execute("DELETE FROM ledger_trouble");
    await execute("DROP TRIGGER keep ON seal_outbox");
    await execute("DELETE FROM seal_outbox WHERE seq = -1");
    await store.close();
  });

  it("reports that a checkpoint waits for its witnesses, and for which", async () => {
    const store = openStore(described.gateway.urls.owner, "owner", 1);
    const before = await store.asPlatform().first("SELECT * FROM log_publishing");
    const witnesses = JSON.stringify([
      { name: "witness.example/w1", verifier_key: "…", size: 3, problem: null },
      { name: "witness.example/w2", verifier_key: "…", size: null, problem: "http://10.0.0.7 …" },
    ]);
    await store.asPlatform().execute("DELETE FROM log_publishing");
    await store.asPlatform().execute(
      "INSERT INTO log_publishing (size, quorum, waiting_since, witnesses) VALUES (7, 2, $1, $2)",
      ["2026-07-01T12:00:00Z", witnesses],
    );
    const { ok, error } = (await status()).backends.ledger;
    await store.asPlatform().execute("DELETE FROM log_publishing");
    assert.equal(before?.waiting_since ?? null, null);
    assert.deepEqual([ok, error], [
      false,
      "publishing waits: the checkpoint of 7 receipts waits since 2026-07-01T12:00:00.000Z for " +
      "2 cosignatures and has 1; not from witness.example/w2",
    ]);
    assert.equal((await status()).backends.ledger.ok, true);
    await store.close();
  });

  it("counts no tickets and services of drills", async () => {
    const store = openStore(described.gateway.urls.gateway, "gateway", 1);
    const counts = async () => {
      const { backends } = await status();
      return [backends.tickets.detail.open ?? 0, backends.services.detail.unknown ?? 0];
    };
    const [tickets, services] = await counts();
    for (const [n, name] of ["test-0a1b2c3d", "attack-0a1b2c3d", "till"].entries()) {
      await openTicket(store.db, {
        id: `INC-00000000d00${n}`,
        title: "It fails",
        description: "",
        severity: "high",
        phase: "ticketed",
        service: name,
        fingerprint: null,
        workflowId: null,
        runId: null,
        requestedBy: "test",
      });
      await putService(asSuperuser(store), {
        name,
        type: "web",
        host: "localhost",
        owner: null,
        origin: "file",
        check: null,
        restart: null,
        watched: false,
        dependsOn: [],
      });
    }
    assert.deepEqual(await counts(), [tickets + 1, services + 1]);
    await asSuperuser(store).execute("DELETE FROM tickets WHERE id LIKE 'INC-00000000d00%'");
    await asSuperuser(store).execute(
      "DELETE FROM services WHERE name = 'till' OR name LIKE '%-0a1b2c3d'",
    );
    await store.close();
  });
});

describe("the status of a whole platform", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());

  it("is not ok over a chain that is broken", async () => {
    const fresh = async () => (await people.call("GET", "/v1/status/fresh", "program")).body;
    await people.eventually(async () => (await fresh()).status === "ok" || undefined);
    const { execute } = asSuperuser(people.store);
    await execute(
      `INSERT INTO ledger_breaks (position, failed_check, reason, last_seen_pass)
       VALUES (0, 'hash', 'x', 1)`,
    );
    const seen = await people.eventually(async () => {
      const now = await fresh();
      return now.backends.ledger.detail?.chain_intact === false ? now : undefined;
    });
    assert.equal(seen.status, "degraded");
  });
});
