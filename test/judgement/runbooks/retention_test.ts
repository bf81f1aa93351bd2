import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordManagedProcess } from "../../../integrations/host/mod.ts";
import { openMediaFiles } from "../../../integrations/media/mod.ts";
import { deleteOldMarks, keepDeletingOldData } from "../../../judgement/runbooks/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { openUsageMeter } from "../../../store/calls/mod.ts";
import { openTicket } from "../../../store/incidents/mod.ts";
import { createLog } from "../../../runtime/web/mod.ts";
import { insertRows } from "../../_rows.ts";
import { testFolder } from "../../_run.ts";
import { testStore } from "../../_servers.ts";
import { eventually } from "../../_time.ts";
import { newId, writeOldFile } from "./_runbook.ts";
import { asSuperuser } from "../../_superuser.ts";
import { storeDevice } from "../shield/_stored_device.ts";
import { addMediaFile, addVideoProject, sumMediaBytes } from "../../../store/media/mod.ts";

describe("deleteOldMarks()", () => {
  let store: Store;
  let close: () => Promise<void>;
  let dataDir: string;
  before(async () => {
    ({ store, close } = await testStore());
  });
  beforeEach(async () => {
    dataDir = await testFolder();
  });
  after(() => close());

  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const deleteMarks = () => deleteOldMarks({ dataDir }, store);
  const remaining = () => readdirSync(join(dataDir, "effects")).toSorted();

  /** Leaves the marks of an act that the database does not know. */
  async function leaveMarks(days: number, ...more: readonly string[]): Promise<string> {
    const id = newId();
    for (const name of ["started", ...more]) {
      await writeOldFile(join(dataDir, "effects", id, name), days, 0);
    }
    await utimes(join(dataDir, "effects", id), daysAgo(days), daysAgo(days));
    return id;
  }

  /** Records an act of a ticket. @returns its effect id */
  async function recordAct(
    state: string,
    { closed = 8, days = 8, id, undoes }: {
      closed?: number | null;
      days?: number;
      id?: string;
      undoes?: string;
    } = {},
  ): Promise<string> {
    const effectId = id ?? await leaveMarks(days);
    const ticketId = `INC-${newId().slice(0, 12)}`;
    await openTicket(store.asPlatform(), {
      id: ticketId,
      title: "It fails",
      description: "",
      severity: "high",
      phase: "sealed",
      service: "shop",
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "test",
    });
    if (closed !== null) {
      await asSuperuser(store).execute(
        "UPDATE tickets SET status = 'resolved', resolved_at = $2 WHERE id = $1",
        [ticketId, daysAgo(closed)],
      );
    }
    await insertRows(asSuperuser(store), "effects", [{
      id: effectId,
      ticket_id: ticketId,
      service: "shop",
      state,
      undoes: undoes ?? null,
      action: {},
      action_sha256: "0".repeat(64),
      ended_at: state === "intended" ? null : daysAgo(days),
    }]);
    return effectId;
  }

  it("deletes marks a week after their act ended and its ticket was closed", async () => {
    await recordAct("done");
    await recordAct("not_done");
    await leaveMarks(8); // of a drill
    assert.deepEqual([await deleteMarks(), remaining()], [3, []]);
  });

  it("keeps marks for a week", async () => {
    const kept = [
      await recordAct("done", { days: 6 }),
      await recordAct("done", { closed: 6 }),
      await leaveMarks(6),
    ];
    assert.deepEqual([await deleteMarks(), remaining()], [0, kept.toSorted()]);
  });

  it("keeps marks of acts that are open or unknown, or may be undone", async () => {
    const undone = await recordAct("done");
    await recordAct("unknown", { id: newId(), undoes: undone });
    const kept = [
      undone,
      await recordAct("unknown"),
      await recordAct("intended"),
      await recordAct("done", { closed: null }),
    ];
    assert.deepEqual([await deleteMarks(), remaining()], [0, kept.toSorted()]);
  });

  it("keeps marks of moved files that can be put back, and of a service's process", async () => {
    const beside = await leaveMarks(8, "aside.json");
    const elsewhere = await recordAct("done");
    await mkdir(join(dataDir, "aside", elsewhere), { recursive: true });
    const managed = await recordAct("done");
    recordManagedProcess(dataDir, {
      name: "shop",
      pid: process.pid,
      start_time: "0",
      effect_id: managed,
    });
    await leaveMarks(8, "aside.json", "purged");
    assert.deepEqual(
      [await deleteMarks(), remaining()],
      [1, [beside, elsewhere, managed].toSorted()],
    );
  });

  it("deletes nothing where no act ever happened", async () => {
    await writeFile(join(dataDir, "other"), "");
    assert.equal(await deleteMarks(), 0);
  });
});

describe("keepDeletingOldData()", () => {
  it("deletes usage counts and silences that are long over, and no others", async () => {
    const { store, config, close } = await testStore();
    const stopping = new AbortController();
    const use = { subject: "now", kind: "tools", limit: 60, periodSeconds: 60 };
    await openUsageMeter(store.asPlatform()).count(use);
    await asSuperuser(store).query(
      "INSERT INTO usage VALUES ('before', 'tools', now() - interval '49 hours', 7)",
    );
    await asSuperuser({ url: store.url, tenant: "platform" }).execute(
      `INSERT INTO alert_silences (tenant_id, id, ticket_id, service, state, wanted, ends_at)
       SELECT 'platform', days::text, 'INC-1', 'shop', 'done', 1, now() - make_interval(days => days)
       FROM unnest(ARRAY[59, 61]) days`,
    );
    const log = createLog("test", "silent");
    const deleting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
    try {
      const silences = async () =>
        (await store.asPlatform().query("SELECT id FROM alert_silences")).map(({ id }) => id);
      await eventually(async () => (await silences()).length === 1 || undefined);
      assert.deepEqual(await silences(), ["59"]);
      const subjects = async () =>
        (await store.asPlatform().query("SELECT subject FROM usage")).map((row) => row.subject);
      await eventually(async () => !(await subjects()).includes("before") || undefined);
      assert.deepEqual(await subjects(), ["now"]);
    } finally {
      stopping.abort();
      await deleting;
      await close();
    }
  });

  it("deletes outputs of commands and statements of devices, but for the newest of each", async () => {
    const { store, config, close } = await testStore();
    const superuser = asSuperuser({ url: store.url, tenant: "platform" });
    const device_id = await storeDevice(superuser);
    const long = "now() - interval '91 days'";
    await superuser.execute(
      `INSERT INTO device_commands (tenant_id, id, device_id, argv, account, timeout_seconds, output_bytes, read_only,
         expires_at, description, requested_by, needed, grounds, status, ended_at, output)
       SELECT 'platform', 'CMD-' || n, $1, '[]', 'agent', 1, 1, true, now(), '', 'ann', 0, '{}', 'done',
         CASE n WHEN 1 THEN ${long} ELSE now() END, 'output' FROM generate_series(1, 2) n`,
      [device_id],
    );
    await superuser.execute(
      `INSERT INTO device_statements (tenant_id, device_id, sequence, body, salt, receipt_id, stated_at)
       SELECT 'platform', $1, n, '{}', sha256('salt'), n, ${long} FROM generate_series(1, 3) n`,
      [device_id],
    );
    const stopping = new AbortController();
    const log = createLog("test", "silent");
    const deleting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
    try {
      const db = store.asPlatform();
      const kept = () => db.query("SELECT sequence::int FROM device_statements");
      await eventually(async () => (await kept()).length === 1 || undefined);
      assert.deepEqual(await kept(), [{ sequence: 3 }]);
      const listOutputs = () =>
        db.query("SELECT output IS NULL AS gone FROM device_commands ORDER BY id");
      await eventually(async () => (await listOutputs())[0]!.gone);
      assert.deepEqual(await listOutputs(), [{ gone: true }, { gone: false }]);
    } finally {
      stopping.abort();
      await deleting;
      await close();
    }
  });

  it("deletes cards of posts after two weeks, and counts them for no tenant", async () => {
    const { store, config, close } = await testStore();
    const db = store.asPlatform();
    const files = openMediaFiles(config);
    const add = async (content: string, text?: string) => {
      const file = await files.keepBytes(content);
      await addMediaFile(db, { ...file, mediaType: "image/png", ...text ? { text } : {} });
      await utimes((await files.find(file.sha256))!, new Date(0), new Date(0));
      return file.sha256;
    };
    const [film, card, used] = [
      await add("film"),
      await add("card", "A title"),
      await add("used", "Another"),
    ];
    await asSuperuser(store).execute("UPDATE media_files SET created_at = '2020-01-01'");
    const fresh = await add("fresh", "A title");
    await addVideoProject(db, {
      id: "VID-000000000001",
      kind: "film",
      title: "T",
      format: "square",
      captions: true,
      requestedBy: "key:k",
      scenes: [{ heading: "H", text: "T", image: used }],
    });
    assert.equal(await sumMediaBytes(db), "film".length);
    const stopping = new AbortController();
    const log = createLog("test", "silent");
    const deleting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
    try {
      await eventually(async () => await files.find(card) === undefined || undefined);
      const rows = await db.query("SELECT sha256 FROM media_files");
      assert.deepEqual(rows.map(({ sha256 }) => sha256).sort(), [film, used, fresh].sort());
      for (const sha256 of [film, used, fresh]) assert.ok(await files.find(sha256));
    } finally {
      stopping.abort();
      await deleting;
      await close();
    }
  });
});
