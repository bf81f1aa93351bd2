/** An agent that calls tools, and people who decide about its calls. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { getApproval as readApproval } from "../../store/approvals/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import type { Json } from "./_platform.ts";

/** An agent on a platform with people. */
export interface TestAgent {
  readonly people: People;
  /** Calls a tool over MCP. */
  call(tool: string, input?: Json, meta?: Json): Promise<CallToolResult>;
  /** Calls a tool over MCP. @returns the governance part of its output */
  callGoverned(tool: string, input?: Json, meta?: Json): Promise<Json>;
  /** Makes moves of an approval, as a person over REST. */
  decide(approvalId: string, ...moves: ("approve" | "deny" | "reopen")[]): Promise<void>;
  /** Returns an approval as people see it. */
  getApproval(approvalId: string): Promise<Json>;
  /** Waits until an approved call has ended. */
  waitForEnd(approvalId: string): Promise<Json>;
  /** Waits until a receipt is sealed, and returns it. */
  getReceipt(id: string): Promise<Json>;
}

/** Opens a platform with an agent. @param extra operations besides the platform's @param settings environment variables */
export async function openAgent(
  extra: readonly Operation<Platform>[],
  settings: Readonly<Record<string, string>> = {},
): Promise<TestAgent> {
  const people = await openPeople({ SEALOOP_LIMIT_TOOLS: "1000", ...settings }, extra);
  const client: Client = await people.agent();
  await client.listTools(); // from now on the client checks results against the schemas

  const call = async (tool: string, input: Json = {}, meta?: Json) =>
    await client.callTool({ name: tool, arguments: input, _meta: meta }) as CallToolResult;
  const countMoves = async (approvalId: string) =>
    (await readApproval(people.store.asPlatform(), approvalId))?.moves ?? 0;
  const getApproval = async (approvalId: string) =>
    (await people.call("GET", `/v1/approvals/${approvalId}/info`, "ann")).body;
  return {
    people,
    call,
    async callGoverned(tool, input, meta) {
      return governanceOf(await call(tool, input, meta));
    },
    async decide(approvalId, ...moves) {
      for (const move of moves) {
        const movesBefore = await countMoves(approvalId);
        const path = `/v1/approvals/${approvalId}/${move}`;
        const { status, body } = await people.call("POST", path, "ann");
        if (status === 503) { // the vote is stored, and a busy worker takes it later
          await people.eventually(async () => await countMoves(approvalId) > movesBefore);
        } else assert.equal(status, 200, `${move}: ${JSON.stringify(body)}`);
      }
    },
    getApproval,
    waitForEnd: (approvalId) =>
      people.eventually(async () => {
        const { act } = await getApproval(approvalId);
        return act.ended_at ? act : undefined;
      }),
    async getReceipt(id) {
      await people.sealed(id);
      const receipts = await exportReceipts(people.store, { from: 0, to: 10_000 });
      return receipts.map(({ text }) => JSON.parse(text)).find((receipt) => receipt.id === id);
    },
  };
}

/** Returns the governance part of a tool's output. */
export function governanceOf({ structuredContent }: CallToolResult): Json {
  return (structuredContent as Json).governance;
}
