import { redactSecrets } from "../contract/mod.ts";
import type { Queryable } from "./connection.ts";

/** Where an act that needs approval stands. */
export type HeldCallState =
  | "waiting"
  | "intended"
  | "begun"
  | "done"
  | "failed"
  | "refused"
  | "unknown";

/** A call that people were asked about, bound to exactly these arguments. */
export interface NewHeldCall {
  readonly approvalId: string;
  readonly decisionId: string;
  readonly door: "rest" | "mcp" | "a2a";
  readonly tool: string;
  readonly operation: string;
  /** Canonical JSON of the checked arguments. */
  readonly input: string;
  /** Of the approval's action, hex. */
  readonly actionSha256: string;
  readonly tenant: string;
  readonly keyId: string;
  readonly address: string;
}

/** Such a call, and what became of it. */
export interface HeldCall extends NewHeldCall {
  readonly state: HeldCallState;
  /** Lock that the process which runs it holds as long as it lives; null: none does. */
  readonly holder: number | null;
  /** JSON of what it gave; null: nothing yet. */
  readonly output: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly receiptId: string | null;
  readonly endedAt: Date | null;
}

/** How it ended. */
export type HeldCallEnd = Pick<HeldCall, "output" | "error" | "receiptId"> & {
  readonly state: "done" | "failed" | "refused" | "unknown";
};

/** Keeps a call until people have decided. @returns false where the same call of that key waits already */
export async function putHeldCall(on: Queryable, act: NewHeldCall): Promise<boolean> {
  const { rows } = await on.raw(
    `INSERT INTO governed_acts
       (approval_id, decision_id, door, tool, operation, input, action_sha256, tenant, key_id, address)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key_id, action_sha256) WHERE collected_at IS NULL DO NOTHING RETURNING approval_id`,
    [
      ...[act.approvalId, act.decisionId, act.door, act.tool, act.operation, act.input],
      ...[act.actionSha256, act.tenant, act.keyId, act.address],
    ],
  );
  return rows.length > 0;
}

/** Forgets a call whose approval never began. */
export async function dropHeldCall(on: Queryable, approvalId: string): Promise<void> {
  await on("governed_acts").where({ approval_id: approvalId, state: "waiting" }).delete();
}

/** By its approval, or undefined. */
export async function getHeldCall(on: Queryable, approvalId: string): Promise<HeldCall | undefined> {
  const row = await on("governed_acts").where({ approval_id: approvalId }).first();
  return row && fromRow(row);
}

/** The same call of the same key, whose end was not given to it yet; or undefined. */
export async function findHeldCall(
  on: Queryable,
  keyId: string,
  actionSha256: string,
): Promise<HeldCall | undefined> {
  const row = await on("governed_acts").where({ key_id: keyId, action_sha256: actionSha256 })
    .whereNull("collected_at").first();
  return row && fromRow(row);
}

/** A call of a tool and key whose arguments hold at least these, and whose end was not given to it yet; or undefined. */
export async function findHeldCallLike(
  on: Queryable,
  keyId: string,
  tool: string,
  input: string,
): Promise<HeldCall | undefined> {
  const row = await on("governed_acts").where({ key_id: keyId, tool }).whereNull("collected_at")
    .whereRaw("input::jsonb @> ?::jsonb", [input]).orderBy("asked_at").first();
  return row && fromRow(row);
}

/** How many calls of a key wait for people. */
export async function countWaitingCalls(on: Queryable, keyId: string): Promise<number> {
  const { rows: [row] } = await on.raw(
    `SELECT count(*)::int AS n FROM governed_acts a JOIN approvals p ON p.id = a.approval_id
     WHERE a.key_id = ? AND a.state = 'waiting' AND p.status = 'pending' AND a.collected_at IS NULL`,
    [keyId],
  );
  return row.n;
}

/**
 * Notes that its end was given to the caller; secrets in what was sent and given, which are shown once, are not kept any
 * longer. Of what was denied or has expired all is kept: with that it is run where it is reopened and approved.
 *
 * @returns false where that was done before
 */
export async function collectHeldCall(
  on: Queryable,
  act: Pick<HeldCall, "approvalId" | "input" | "output" | "endedAt">,
): Promise<boolean> {
  return await on("governed_acts").where({ approval_id: act.approvalId }).whereNull("collected_at")
    .update({ collected_at: on.fn.now(), ...(act.endedAt ? bare(act) : {}) }) > 0;
}

/** What is kept of it once nobody is given it any more. */
function bare({ input, output }: Pick<HeldCall, "input" | "output">) {
  const texts = (json: string) => JSON.stringify(redactSecrets(JSON.parse(json)));
  return { input: texts(input), output: output && texts(output) };
}

/** Notes that it is going to be run. @returns false where that was noted before */
export async function intendHeldCall(on: Queryable, approvalId: string): Promise<boolean> {
  return await on("governed_acts").where({ approval_id: approvalId, state: "waiting" })
    .update({ state: "intended" }) > 0;
}

/** Notes that it is run now, by the holder of a lock. @returns false where somebody has begun it already */
export async function beginHeldCall(
  on: Queryable,
  approvalId: string,
  holder: number,
): Promise<boolean> {
  return await on("governed_acts").where({ approval_id: approvalId, state: "intended" })
    .update({ state: "begun", holder }) > 0;
}

/** Notes how it ended. @returns false where that is known already */
export async function endHeldCall(
  on: Queryable,
  approvalId: string,
  { state, output, error, receiptId }: HeldCallEnd,
): Promise<boolean> {
  const its = () => on("governed_acts").where({ approval_id: approvalId });
  const [ended] = await its().whereNull("ended_at").update({
    ...{ state, output, error: error && JSON.stringify(error), receipt_id: receiptId },
    ended_at: on.fn.now(),
  }).returning(["input", "collected_at"]);
  if (ended?.collected_at) await its().update(bare({ input: ended.input, output })); // it was reopened
  return ended !== undefined;
}

/** Notes that its caller does not want it any more. @returns false where it is under way already, or has ended */
export async function withdrawHeldCall(
  on: Queryable,
  approvalId: string,
  { error, receiptId }: Pick<HeldCall, "error" | "receiptId">,
): Promise<boolean> {
  const now = on.fn.now();
  return await on("governed_acts").where({ approval_id: approvalId, state: "waiting" })
    .whereNull("ended_at").update({
      ...{ state: "refused", error: JSON.stringify(error), receipt_id: receiptId },
      ...{ ended_at: now, collected_at: now },
    }) > 0;
}

// deno-lint-ignore no-explicit-any -- a row as the driver gives it
function fromRow(row: any): HeldCall {
  return {
    ...{ approvalId: row.approval_id, decisionId: row.decision_id, door: row.door, tool: row.tool },
    ...{ operation: row.operation, input: row.input, actionSha256: row.action_sha256 },
    ...{ tenant: row.tenant, keyId: row.key_id, address: row.address, state: row.state },
    holder: row.holder,
    ...{ output: row.output, error: row.error, receiptId: row.receipt_id, endedAt: row.ended_at },
  };
}
