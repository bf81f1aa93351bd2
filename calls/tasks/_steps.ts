import type { Client, WorkflowHandle } from "@temporalio/client";
import { AGENTS, NODES, nodesQuery, progressQuery, reportsQuery } from "../../domain/mod.ts";
import { inWords, loopOf } from "../follow.ts";

/** What a run does just now, for a person; null: it doesn't say. */
export async function stepOf(
  client: Client,
  handle: WorkflowHandle,
  type: string,
): Promise<string | null> {
  if (type === "reasoning") {
    const done = await handle.query(nodesQuery);
    const last = done.at(-1);
    return last ? `${done.length}/${NODES.length} ${last.node}: ${last.found}` : null;
  }
  if (type === "crew") {
    const reports = await handle.query(reportsQuery);
    const last = reports.at(-1);
    return last
      ? `${reports.length}/${2 * AGENTS.length - 1} ${last.agent}: ${last.says[0] ?? ""}`
      : null;
  }
  const loop = await loopOf(client, handle);
  if (!loop) return null;
  const { done, total, message } = inWords(await loop.query(progressQuery));
  return `${Math.floor(done)}/${total} ${message}`;
}
