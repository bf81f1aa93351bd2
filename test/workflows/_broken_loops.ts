/** Loops of incidents on services that are really broken. */
import { randomBytes } from "node:crypto";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { type Finding, progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { type BrokenService, startBrokenService } from "./_broken_service.ts";
import type { TestLoop } from "./_loop.ts";
import { readTicketRecord } from "./_ticket_record.ts";

/** @param loop returns the platform that they run on, once it is open */
export function brokenLoops(loop: () => TestLoop) {
  const brokenServices: BrokenService[] = [];

  /** Starts a service that refuses connections, with the finding of it. */
  async function broken(prefix: string, more: Partial<Finding> = {}) {
    const { store, config } = loop();
    const name = `${prefix}-${randomBytes(3).toString("hex")}`;
    const faulty = await startBrokenService({ store, dataDir: config.dataDir }, { name });
    brokenServices.push(faulty);
    const finding = await createServiceFinding(store, faulty.service, "refused");
    return { ...faulty, finding: { ...finding, ...more } };
  }

  const start = ({ finding }: { readonly finding: Finding }) =>
    loop().client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  const recordOf = (ticketId: string | null) => readTicketRecord(loop().store, ticketId!);

  return {
    broken,
    start,
    recordOf,
    /** Waits until a ticket has an event, and returns its record. */
    recordWith: (run: Awaited<ReturnType<typeof start>>, move: string) =>
      eventually(async () => {
        const { ticket_id } = await run.query(progressQuery);
        const seen = ticket_id === null ? undefined : await recordOf(ticket_id);
        return seen?.events.includes(move) ? seen : undefined;
      }),
    async remove() {
      for (const faulty of brokenServices) await faulty.remove();
    },
  };
}
