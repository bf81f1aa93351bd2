import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkflowFailedError } from "@temporalio/client";
import { CancelledFailure } from "@temporalio/common";
import { type RunId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts, findReceipt } from "../../ledger/mod.ts";
import { listTicketEvents, listTickets } from "../../store/incidents/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import type { itsmLoop, itsmSweep } from "../../workflows/mod.ts";
import { setFlag } from "../_flags.ts";
import { freePort, testFolder } from "../_run.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { asSuperuser } from "../_superuser.ts";

describe("itsmSweep", () => {
  let loop: TestLoop;
  let folder: string;
  let spool: string;

  before(async () => {
    folder = await testFolder();
    spool = join(folder, "spool");
    await mkdir(spool);
    const detectors = join(folder, "detectors.yaml");
    await writeFile(
      detectors,
      `host_resources:
  disks: [{ path: "${spool}", max_bytes: 1000, service: orders-db }]
  every_disk: false
  memory_percent: 100
  load_per_core: 1000
logs: { enabled: false }
certificates: { enabled: false }
platform: { enabled: false }
`,
    );
    loop = await openLoop({
      watch: cancelLoops,
      settings: { SEALOOP_DETECTORS: detectors },
    });
  });
  after(() => loop?.stop());

  let sweeps = 0;
  const sweep = async (requestedBy?: string) =>
    await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${++sweeps}`,
      args: requestedBy === undefined ? [] : [requestedBy],
    });
  /** Runs while a loop waits. */
  let meanwhile = () => Promise.resolve();
  /** Runs once a ticket is closed, before the loop is told. */
  let closed = () => Promise.resolve();
  /** Cancels each loop before its diagnosis, so that nothing is repaired. */
  const cancelLoops: Watch = async (moment, activity, [step]) => {
    if (moment === "after" && activity === "closeAndSeal") await closed();
    if (moment !== "before" || activity !== "diagnose") return;
    await meanwhile();
    const { workflow_id } = (step as { run: RunId }).run;
    await loop.client.workflow.getHandle(workflow_id).cancel();
  };
  /** Waits for the end of a loop, and returns its ticket. */
  const ticketOf = async (workflowId: string) => {
    const handle = loop.client.workflow.getHandle<typeof itsmLoop>(workflowId);
    await assert.rejects(
      handle.result(),
      (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
    );
    const tickets = await listTickets(loop.store.asPlatform(), { limit: 10 });
    return tickets.find(({ workflow_id }) => workflow_id === workflowId)!;
  };

  it("starts one loop for a full disk and all that fails with it, and lists that in the ticket", async () => {
    const dead = { tcp: `127.0.0.1:${await freePort()}` };
    const put = (name: string, needs: readonly string[]) =>
      putService(loop.store.asPlatform(), {
        name,
        type: "web",
        host: "localhost",
        owner: null,
        origin: "file",
        restart: null,
        check: dead,
        watched: true,
        dependsOn: needs.map((service) => ({ service, kind: "depends_on" })),
      });
    await put("orders-db", []);
    await put("orders", ["orders-db"]);
    await put("shop", ["orders"]);
    await writeFile(join(spool, "orders.dat"), Buffer.alloc(2_000));

    const { loops, findings, incidents } = await sweep();
    assert.deepEqual([findings, incidents, loops.length], [4, 1, 1]);
    const listed = await loop.client.workflow.getHandle(loops[0]!).describe();
    assert.equal(await listed.staticSummary(), "orders-db: disk_full");
    const ticket = await ticketOf(loops[0]!);
    assert.deepEqual([ticket.service, ticket.escalated], ["orders-db", true]);
    assert.match(ticket.title, /^The bound of the folder .*spool on .* is 200 % used up$/);
    assert.match(ticket.description, /^Likely the cause of 3 more:\n- orders-db fails its tcp/);
    const [detected] = await listTicketEvents(loop.store.asPlatform(), ticket.ticket_id);
    const related = detected!.data.related as { service: string }[];
    assert.deepEqual(related.map(({ service }) => service), ["orders-db", "orders", "shop"]);
  });

  it("looks at nothing while the flag pause_sweeps is set", async () => {
    await setFlag(loop.store, "pause_sweeps", true);
    try {
      const { findings, incidents, loops } = await sweep();
      assert.deepEqual([findings, incidents, loops], [0, 0, []]);
    } finally {
      await setFlag(loop.store, "pause_sweeps", false);
    }
  });

  it("starts no loop for a group whose root is escalated", async () => {
    const { findings, incidents, loops } = await sweep();
    assert.deepEqual([findings, incidents, loops], [4, 1, []]);
    assert.equal((await listTickets(loop.store.asPlatform(), { limit: 10 })).length, 1);
  });

  it("starts a loop for the remaining findings when the root is gone", async () => {
    await rm(join(spool, "orders.dat"));
    const { findings, incidents, loops } = await sweep();
    assert.deepEqual([findings, incidents, loops.length], [3, 1, 1]);
    assert.match((await ticketOf(loops[0]!)).title, /^orders-db fails its tcp check/);
    const cleared = await loop.store.asPlatform().query(
      "SELECT code FROM findings WHERE cleared_at IS NOT NULL",
    );
    assert.deepEqual(cleared, [{ code: "disk_full" }]);
  });

  it("closes the ticket that waited for people when its fault is gone, and says who mended it", async () => {
    const tickets = await listTickets(loop.store.asPlatform(), { limit: 10 });
    const { ticket_id, status, outcome, resolution, receipt_id } = tickets.at(-1)!;
    assert.deepEqual([status, outcome], ["resolved", "recovered"]);
    assert.match(resolution!, /^The fault was gone at .*Z\. Nobody has told what mended it\.$/);
    const events = await listTicketEvents(loop.store.asPlatform(), ticket_id);
    assert.equal(events.at(-1)!.kind, "resolved");
    await loop.sealer.sealed(receipt_id!);
    const { text } = await findReceipt(loop.store, receipt_id!);
    const { category, outcome: sealed, details } = JSON.parse(text);
    assert.deepEqual([category, sealed, details.mended_by], [
      "ticket_closed",
      "recovered",
      "unknown",
    ]);
  });

  it("counts repeated sightings while a loop runs, without a signal to the loop", async () => {
    await putService(loop.store.asPlatform(), {
      name: "till",
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: { tcp: `127.0.0.1:${await freePort()}` },
      restart: null,
      watched: true,
      dependsOn: [],
    });
    const joined: (readonly string[])[] = [];
    const sweepThrice = async () => {
      for (let n = 0; n < 3; n++) joined.push((await sweep()).loops);
    };
    let swept: Promise<void> | undefined;
    meanwhile = () => swept ??= sweepThrice(); // once, although the diagnosis may be tried again
    let closings = 0;
    closed = async () => {
      if (++closings > 1) return;
      await asSuperuser(loop.store).execute(
        "UPDATE ticket_sightings SET found_again = found_again + 1",
      );
      throw new Error("The result is lost");
    };
    const { loops } = await sweep();
    const ticket = await ticketOf(loops[0]!);
    assert.deepEqual(joined, [loops, loops, loops]);
    assert.equal(closings, 2);

    const receipts = await exportReceipts(loop.store, { from: 0, to: 1_000 });
    const sealed = receipts.map(({ text }) => JSON.parse(text))
      .filter(({ subject, category }) => subject === ticket.ticket_id && category === "escalation");
    assert.deepEqual(sealed.map(({ details }) => details.sightings), [4]);
    const { events } = await loop.client.workflow.getHandle(loops[0]!).fetchHistory();
    const told = events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
    assert.equal(told.length, 0);
  });
});
