import type { Db } from "../connection.ts";

/** Hours that a call with an idempotency key is kept. */
const IDEMPOTENCY_HOURS = 24;

/** A call with an idempotency key. */
export interface IdempotentCall {
  readonly tenant: string;
  /** SHA-256 over the caller, the operation and the idempotency key, hex. */
  readonly id: string;
}

/** A process's right to run such a call. It ends when another process takes the call over. */
export interface CallClaim extends IdempotentCall {
  readonly attempt: number;
}

/** An error as it is kept. */
export interface KeptError {
  readonly name: string;
  readonly message: string;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly issues?: readonly unknown[] | undefined;
}

/** The end of such a call: its answer is kept, or how an approval stands is its answer. */
export type KeptEnd =
  | { readonly output: string; readonly error?: undefined }
  | { readonly error: KeptError; readonly output?: undefined }
  | { readonly approvalId: string };

/** Record of such a call. */
export interface KeptCall {
  /**
   * `claimed`: a process is about to run it, but it has not begun; `failed`: it ended with an error that is not kept, and
   * what it did is looked for when it is repeated.
   */
  readonly state: "claimed" | "running" | "failed" | "held" | "ended";
  readonly attempt: number;
  readonly inputSha256: string;
  /** Lock of the process that runs it; null: none does. */
  readonly holder: number | null;
  /** The decision that allowed it; null: it has not begun, or the caller has no key. */
  readonly decisionId: string | null;
  readonly approvalId: string | null;
  /** JSON. */
  readonly output: string | null;
  readonly error: KeptError | null;
  /** When it began, or ended. */
  readonly changedAt: Date;
}

/**
 * Claims a call: it is new, or was kept long enough.
 *
 * @param holder lock by which this process shows that it lives
 * @returns undefined where the call is kept
 */
export async function claimCall(
  db: Db,
  { tenant, id }: IdempotentCall,
  { operation, inputSha256, holder }: Pick<KeptCall, "inputSha256" | "holder"> & {
    readonly operation: string;
  },
): Promise<CallClaim | undefined> {
  const row = await db.first<{ attempt: number }>(
    `INSERT INTO idempotent_calls AS kept (tenant_id, id, operation, input_sha256, holder) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (tenant_id, id) DO UPDATE SET
       input_sha256 = $4, holder = $5, state = 'claimed', attempt = kept.attempt + 1, decision_id = NULL,
       approval_id = NULL, output = NULL, error = NULL, first_at = now(), changed_at = now()
     WHERE kept.first_at < now() - make_interval(hours => $6)
     RETURNING attempt`,
    [tenant, id, operation, inputSha256, holder, IDEMPOTENCY_HOURS],
  );
  return row && { tenant, id, attempt: row.attempt };
}

/** Returns what is kept of a call, or undefined. */
export async function getIdempotentCall(
  db: Db,
  { tenant, id }: IdempotentCall,
): Promise<KeptCall | undefined> {
  return await db.first<KeptCall & Record<string, unknown>>(
    `SELECT state, attempt, input_sha256 AS "inputSha256", holder, decision_id AS "decisionId",
       approval_id AS "approvalId", output, error, changed_at AS "changedAt"
     FROM idempotent_calls WHERE tenant_id = $1 AND id = $2`,
    [tenant, id],
  );
}

/** Takes over a call that nobody runs any more. @returns undefined where somebody else was faster */
export async function takeOverCall(
  db: Db,
  { tenant, id, attempt }: CallClaim,
  holder: number,
): Promise<CallClaim | undefined> {
  const row = await db.first<{ attempt: number }>(
    `UPDATE idempotent_calls
     SET state = 'claimed', attempt = attempt + 1, holder = $4, decision_id = NULL, changed_at = now()
     WHERE tenant_id = $1 AND id = $2 AND attempt = $3 AND state IN ('claimed', 'running', 'failed')
     RETURNING attempt`,
    [tenant, id, attempt, holder],
  );
  return row && { tenant, id, attempt: row.attempt };
}

/** Notes that a call begins. @returns false where it was taken over, and must not begin */
export async function beginIdempotentCall(
  db: Db,
  { tenant, id, attempt }: CallClaim,
  decisionId: string | undefined,
): Promise<boolean> {
  return await db.execute(
    `UPDATE idempotent_calls SET state = 'running', decision_id = $4, changed_at = now()
     WHERE tenant_id = $1 AND id = $2 AND attempt = $3 AND state = 'claimed'`,
    [tenant, id, attempt, decisionId ?? null],
  ) > 0;
}

/** Keeps the end of a call. @returns false where it was taken over, and its end is not kept */
export async function endIdempotentCall(
  db: Db,
  { tenant, id, attempt }: CallClaim,
  end: KeptEnd,
): Promise<boolean> {
  const { approvalId = null, output = null, error = null } = end as Partial<KeptCall>;
  return await db.execute(
    `UPDATE idempotent_calls
     SET state = CASE WHEN $4::text IS NULL THEN 'ended' ELSE 'held' END, approval_id = $4, output = $5, error = $6,
       holder = NULL, changed_at = now()
     WHERE tenant_id = $1 AND id = $2 AND attempt = $3`,
    [tenant, id, attempt, approvalId, output, error && JSON.stringify(error)],
  ) > 0;
}

/** Gives a call up whose end is not kept: one that never began is forgotten, one that began is looked for later. */
export async function failIdempotentCall(
  db: Db,
  { tenant, id, attempt }: CallClaim,
): Promise<void> {
  const claim = [tenant, id, attempt];
  const where = "WHERE tenant_id = $1 AND id = $2 AND attempt = $3";
  await db.execute(`DELETE FROM idempotent_calls ${where} AND state = 'claimed'`, claim);
  await db.execute(
    `UPDATE idempotent_calls SET state = 'failed', holder = NULL, changed_at = now() ${where} AND state = 'running'`,
    claim,
  );
}

/** Deletes up to 10,000 calls that were kept for {@linkcode IDEMPOTENCY_HOURS}. */
export async function pruneIdempotentCalls(db: Db): Promise<void> {
  await db.execute(
    `DELETE FROM idempotent_calls WHERE (tenant_id, id) IN (
       SELECT tenant_id, id FROM idempotent_calls
       WHERE first_at < now() - make_interval(hours => $1) ORDER BY first_at LIMIT 10000
     )`,
    [IDEMPOTENCY_HOURS],
  );
}
