/** Calls about approvals, as the people of a test make them. */
import { exportReceipts } from "../../ledger/mod.ts";
import type { People } from "./_people.ts";

/** The action that `ask` asks for. */
export const ACTION = { command: "drop", table: "sessions", rows: 3 };

/** Returns the calls. @param people opened before the first of them */
export function approvalCalls(people: () => People) {
  const info = async (id: string) =>
    (await people().call("GET", `/v1/approvals/${id}/info`, "program")).body;
  return {
    info,
    async ask(fields: Record<string, unknown> = {}) {
      const body = { action: ACTION, ...fields };
      const answer = await people().call("POST", "/v1/approvals", "program", body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    },
    move: (id: string, what: "approve" | "deny" | "reopen", by?: string) =>
      people().vote(id, what, by),
    becomes: (id: string, status: string) =>
      people().eventually(async () => {
        const now = await info(id);
        return now.status === status ? now : undefined;
      }),
    /** Returns the receipts about an approval. */
    async receiptsOf(id: string) {
      const all = await exportReceipts(people().store, { from: 0, to: 10_000 });
      return all.map(({ text }) => JSON.parse(text)).filter(({ subject }) => subject === id);
    },
  };
}
