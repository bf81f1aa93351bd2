import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordManagedProcess } from "../../integrations/host/mod.ts";
import { deleteOldMarks, keepDeletingOldData } from "../../runbooks/mod.ts";
import { openTicket, openUsageMeter, type Store } from "../../store/mod.ts";
import { createLog } from "../../web/mod.ts";
import { insertRows } from "../_rows.ts";
import { testFolder } from "../_run.ts";
import { testStore } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { newId, writeOldFile } from "./_runbook.ts";
import { asSuperuser } from "../_superuser.ts";

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
  it("deletes usage counts once their periods are long over, and no others", async () => {
    const { store, config, close } = await testStore();
    const stopping = new AbortController();
    const use = { subject: "now", kind: "tools", limit: 60, periodSeconds: 60 };
    await openUsageMeter(store.asPlatform()).count(use);
    await asSuperuser(store).query(
      "INSERT INTO usage VALUES ('before', 'tools', now() - interval '49 hours', 7)",
    );
    const log = createLog("test", "silent");
    const deleting = keepDeletingOldData({ config, store, log, signal: stopping.signal });
    try {
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
});
