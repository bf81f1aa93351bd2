import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { insertRows } from "../_rows.ts";
import { recordManagedProcess } from "../../integrations/host/mod.ts";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deleteOldMarks } from "../../runbooks/mod.ts";
import { loadConfig } from "../../config.ts";
import { openStore, openTicket, type Store } from "../../store/mod.ts";
import { type TestDatabase, testDatabase, testFolder } from "../_servers.ts";
import { newId, oldFile } from "./_runbook.ts";

describe("what acts have left of themselves", () => {
  let database: TestDatabase;
  let store: Store;
  let dataDir: string;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.app, "app", 2);
  });
  beforeEach(async () => {
    dataDir = await testFolder();
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  /** Marks of an act, of which no database need know. */
  async function marks(days: number, ...more: readonly string[]): Promise<string> {
    const id = newId();
    for (const name of ["started", ...more]) {
      await oldFile(join(dataDir, "effects", id, name), days, 0);
    }
    await utimes(join(dataDir, "effects", id), daysAgo(days), daysAgo(days));
    return id;
  }

  /** An act of a ticket. */
  async function act(
    state: string,
    { closed = 8, days = 8, id, undoes }: {
      closed?: number | null;
      days?: number;
      id?: string;
      undoes?: string;
    } = {},
  ): Promise<string> {
    const effectId = id ?? await marks(days);
    const ticketId = `INC-${newId().slice(0, 12)}`;
    await openTicket(store.asPlatform(), {
      ...{ id: ticketId, title: "It fails", description: "", severity: "high", phase: "sealed" },
      ...{ service: "shop", fingerprint: null, workflowId: null, runId: null, requestedBy: "test" },
    });
    if (closed !== null) {
      await store.asPlatform().execute(
        "UPDATE tickets SET status = 'resolved', resolved_at = $2 WHERE id = $1",
        [ticketId, daysAgo(closed)],
      );
    }
    await insertRows(store.asPlatform(), "effects", [{
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

  const forget = () => deleteOldMarks({ ...loadConfig({ SEALOOP_DATA: dataDir }), dataDir }, store);
  const left = () => readdirSync(join(dataDir, "effects")).toSorted();

  it("is removed a week after they ended and their tickets were closed, of drills too", async () => {
    await act("done");
    await act("not_done");
    await marks(8);
    assert.deepEqual([await forget(), left()], [3, []]);
  });

  it("stays for a week", async () => {
    const kept = [await act("done", { days: 6 }), await act("done", { closed: 6 }), await marks(6)];
    assert.deepEqual([await forget(), left()], [0, kept.toSorted()]);
  });

  it("stays of what is open or unknown, or may be undone", async () => {
    const undone = await act("done");
    await act("unknown", { id: newId(), undoes: undone });
    const kept = [
      undone,
      await act("unknown"),
      await act("intended"),
      await act("done", { closed: null }),
    ];
    assert.deepEqual([await forget(), left()], [0, kept.toSorted()]);
  });

  it("stays where files that were moved can be put back, and of the process that a service is", async () => {
    const beside = await marks(8, "aside.json");
    const elsewhere = await act("done");
    await mkdir(join(dataDir, "aside", elsewhere), { recursive: true });
    const managed = await act("done");
    recordManagedProcess(dataDir, {
      name: "shop",
      pid: process.pid,
      start_time: "0",
      effect_id: managed,
    });
    await marks(8, "aside.json", "purged");
    assert.deepEqual([await forget(), left()], [1, [beside, elsewhere, managed].toSorted()]);
  });

  it("is nothing where nothing was ever done", async () => {
    await writeFile(join(dataDir, "other"), "");
    assert.equal(await forget(), 0);
  });
});
