import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { claimDataFolder, startPostgres } from "../../runtime/embedded/mod.ts";
import {
  getSealState,
  prepareRequest,
  requestSeal,
  runSequencer,
  type SealRequest,
} from "../../ledger/mod.ts";
import { type Db, openStore, type Role, ROLES, type Store } from "../../store/mod.ts";
import {
  acceptVote,
  dropApproval,
  getApproval,
  lockApproval,
  putApproval,
  putVote,
} from "../../store/approvals/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { storeAs, type TestDatabase, testDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";
import { anyApproval } from "./_approvals.ts";

const DENIED = { code: "42501" };
const KEY = "0123456789abcdef";
const APPROVAL = anyApproval("APR-000000000001");

/** Receipt of an approval that never was. */
const forged = (category: string): SealRequest => ({
  id: `forged-${category}`,
  category,
  actor: `key:${KEY}`,
  subject: "APR-000000000009",
  action: "approval.approved",
  outcome: "approved",
});

describe("whoever has the credential of one process", () => {
  let database: TestDatabase;
  const stores = new Map<Role, Store>();
  let keyFile: string;
  const as = (role: Role): Db => stores.get(role)!.asPlatform();
  before(async () => {
    database = await testDatabase();
    keyFile = join(await testFolder(), "ledger.key");
    for (const role of Object.keys(ROLES) as Role[]) {
      stores.set(role, await storeAs({ url: database.urls[role] }, role));
    }
  });
  after(() => database?.drop());

  it("can't have an approval, a key or a stop sealed that never was", async () => {
    const forbidden: Readonly<Record<string, readonly Role[]>> = {
      approval: ["gateway", "tools", "engine", "operator", "sequencer", "ledger"],
      governed_act: ["gateway", "tools", "engine", "operator", "sequencer", "ledger"],
      governance_stop: ["gateway", "tools", "engine", "sequencer", "ledger"],
      key_issued: ["gateway", "tools", "worker", "engine", "operator", "sequencer", "ledger"],
      key_rotated: ["gateway", "tools", "worker", "engine", "operator", "sequencer", "ledger"],
      ledger_genesis: ["gateway", "tools", "worker", "engine", "operator", "sequencer", "ledger"],
    };
    for (const [category, roles] of Object.entries(forbidden)) {
      for (const role of roles) {
        await assert.rejects(
          requestSeal(as(role), forged(category)),
          DENIED,
          `${role} ${category}`,
        );
      }
    }
  });

  it("can't pass off one category as another", async () => {
    const { id, payload, requestHash } = prepareRequest(forged("approval"));
    await as("tools").query(
      "SELECT request_seals($1, $2, $3, $4, '{}', '{}', '{}', '{}', '{}', '{}')",
      [[id], ["tool_call"], [payload], [requestHash]],
    );
    const end = new AbortController();
    const sealing = runSequencer({
      store: stores.get("sequencer")!,
      keyFile,
      signal: end.signal,
    });
    try {
      while ((await getSealState(as("tools"), id))?.state === "queued");
      assert.deepEqual(await getSealState(as("tools"), id), {
        state: "refused",
        reason: "The category is not that of the request",
      });
    } finally {
      end.abort();
      await sealing;
    }
  });

  it("can't have a receipt sealed that has not the form of one, or that nobody could read", async () => {
    const { payload } = prepareRequest(forged("tool_call"));
    const fields = JSON.parse(payload);
    const { timestamp: _, ...untimed } = fields;
    const wrong: readonly object[] = [
      untimed,
      { ...fields, timestamp: "2026-13-01T00:00:00.000000+00:00" },
      { ...fields, timestamp: {} },
      { ...fields, actor: "" },
      { ...fields, subject: 7 },
      { ...fields, details: null },
      { ...fields, details: [] },
      { ...fields, human_input: [] },
      { ...fields, supersedes: {} },
      { ...fields, learned_from: [7] },
      { ...fields, compliance_tags: "x" },
      { ...fields, details: { note: "x".repeat(300_000) } },
      { ...fields, id: "a b" },
    ];
    const ids = wrong.map((one, n) => (one as { id: string }).id === "a b" ? "a b" : `wrong-${n}`);
    const end = new AbortController();
    const sealing = runSequencer({
      store: stores.get("sequencer")!,
      keyFile,
      signal: end.signal,
    });
    try {
      await as("tools").query(
        "SELECT request_seals($1, $2, $3, $4, '{}', '{}', '{}', '{}', '{}', '{}')",
        [
          ids,
          ids.map(() => "tool_call"),
          wrong.map((one, n) => JSON.stringify({ ...one, id: ids[n] })),
          ids.map((id) => Buffer.from(id)),
        ],
      );
      for (const id of ids) {
        while ((await getSealState(as("tools"), id))?.state === "queued") await sleep(10);
        const { state, reason } = (await getSealState(as("tools"), id))!;
        assert.equal(state, "refused", id);
        assert.match(reason!, /another form|can be sealed/);
      }
    } finally {
      end.abort();
      await sealing;
    }
  });

  it("can't approve anything but by a vote through the gateway", async () => {
    await putApproval(as("tools"), APPROVAL);
    const { id } = APPROVAL;
    for (const role of ["tools", "worker", "engine", "operator"] as const) {
      await assert.rejects(
        putVote(as(role), { approvalId: id, move: "approved", keyId: KEY }),
        DENIED,
      );
    }
    for (const role of ["gateway", "tools", "engine", "operator"] as const) {
      const approve = "UPDATE approvals SET status = 'approved' WHERE id = $1";
      await assert.rejects(as(role).execute(approve, [id]), DENIED);
      const insert =
        "INSERT INTO approvals (id, subject, status) VALUES ('APR-1', 's', 'approved')";
      await assert.rejects(as(role).execute(insert), DENIED);
      const move =
        "INSERT INTO approval_moves (approval_id, number, move) VALUES ($1, 1, 'approved')";
      await assert.rejects(as(role).execute(move, [id]), DENIED);
    }
    const vote = await putVote(as("gateway"), { approvalId: id, move: "approved", keyId: KEY });
    await assert.rejects(acceptVote(as("gateway"), vote, 2), DENIED);
    const stolen = "UPDATE approval_votes SET key_id = 'x' WHERE id = $1";
    for (const role of ["gateway", "worker"] as const) {
      await assert.rejects(as(role).execute(stolen, [vote]), DENIED);
    }
  });

  it("can't remove what people were asked about, once that has begun", async () => {
    const { id } = APPROVAL;
    assert.ok(await lockApproval(as("worker"), id));
    await as("worker").execute("UPDATE approvals SET moves = 1 WHERE id = $1", [id]);
    for (const role of ["gateway", "tools", "worker"] as const) {
      await assert.rejects(as(role).execute("DELETE FROM approvals WHERE id = $1", [id]), {
        code: "23001",
      });
    }
    const unopened = { ...APPROVAL, id: "APR-000000000002" };
    await putApproval(as("tools"), unopened);
    await dropApproval(as("worker"), unopened.id);
    assert.equal(await getApproval(as("worker"), unopened.id), undefined);
  });

  it("can't make keys or change them, nor give uses back", async () => {
    const { record } = await giveKey(stores.get("gateway")!, { tier: "free" });
    for (const role of ["gateway", "tools", "worker", "engine", "operator"] as const) {
      const insert = "INSERT INTO keys (id, key_hash, tier) VALUES ('x', 'x', 'admin')";
      await assert.rejects(as(role).execute(insert), DENIED);
      for (const change of ["tier = 'admin'", "may_approve = true", "revoked_at = NULL"]) {
        const update = `UPDATE keys SET ${change} WHERE id = $1`;
        await assert.rejects(as(role).execute(update, [record.id]), DENIED);
      }
      await assert.rejects(as(role).execute("UPDATE usage SET used = 0"), DENIED);
    }
    const take = "SELECT take_usage('{a}', '{requests}', '{2026-01-01}', $1, $2, '{10}')";
    for (const [wanted, amount] of [[-5, 1], [5, -1]]) {
      await assert.rejects(as("tools").query(take, [[wanted], [amount]]), /given back/);
    }
  });

  it("can't read the evidence of others, unless it is the operator", async () => {
    const request = { ...forged("tool_call"), evidence: { arguments: "private" } };
    await requestSeal(as("tools"), request);
    for (const role of ["gateway", "tools", "worker", "engine", "sequencer", "ledger"] as const) {
      await assert.rejects(as(role).query("SELECT content FROM evidence"), DENIED);
      const change = "UPDATE evidence SET content = 'other'";
      await assert.rejects(as(role).execute(change), DENIED);
      await assert.rejects(as(role).execute("INSERT INTO evidence DEFAULT VALUES"), DENIED);
    }
    assert.equal((await as("operator").query("SELECT content FROM evidence")).length, 1);
  });
});

describe("openStore()", () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database?.drop());

  /** Tries each kind of connection. */
  async function assertRefused(url: string, role: Role, why: RegExp): Promise<void> {
    const store = openStore(url, role, 1);
    const refused = { name: "WrongDatabaseRole", message: why };
    try {
      await assert.rejects(store.asPlatform().query("SELECT"), refused);
      await assert.rejects(store.asPlatform().transaction((trx) => trx.query("SELECT")), refused);
      await assert.rejects(store.connect(), refused);
    } finally {
      await store.close();
    }
  }

  it("refuses to work as another role than its own", async () => {
    await assertRefused(
      database.superuserUrl,
      "worker",
      /has to log in as sealoop_worker.*postgres/,
    );
    await assertRefused(database.urls.owner, "gateway", /logs in as sealoop_owner/);
    await assertRefused(database.urls.gateway, "tools", /logs in as sealoop_gateway/);
  });

  it("refuses a role that is only set on the connection, as that can be reset", async () => {
    const set = (url: string, role: Role) =>
      `${url}?options=${encodeURIComponent(`-c role=${role}`)}`;
    const url = set(database.superuserUrl, ROLES.worker as Role);
    await assertRefused(url, "worker", /logs in as postgres/);
  });

  it("refuses a role that is more than itself", async () => {
    const folder = await testFolder(); // a server of its own, as roles belong to all databases of a server
    const tree = await claimDataFolder(folder);
    const server = await startPostgres(folder, await freePort(), tree);
    const admin = new pg.Client({ connectionString: server.superuserUrl });
    await admin.connect();
    try {
      const widenings = [
        ["GRANT sealoop_sequencer TO sealoop_ledger", /is a member of sealoop_sequencer/],
        [
          "REVOKE sealoop_sequencer FROM sealoop_ledger; ALTER ROLE sealoop_ledger CREATEROLE",
          /may/,
        ],
        ["ALTER ROLE sealoop_ledger NOCREATEROLE BYPASSRLS", /bypasses row-level security/],
        ["ALTER ROLE sealoop_ledger NOBYPASSRLS SUPERUSER", /is a superuser/],
      ] as const;
      for (const [widen, why] of widenings) {
        await admin.query(widen);
        await assertRefused(server.urls.ledger, "ledger", why);
      }
      await admin.query("ALTER ROLE sealoop_ledger NOSUPERUSER");
      const store = openStore(server.urls.ledger, "ledger", 1);
      await store.asPlatform().query("SELECT");
      await store.close();
    } finally {
      await admin.end();
      await server.stop();
      await tree.release();
    }
  });
});
