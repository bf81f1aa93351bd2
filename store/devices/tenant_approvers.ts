import type { ApproverPasskey } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";
import { DEVICE_NEWS } from "./heartbeats.ts";

/** Who approves commands of a tenant's devices with signatures of their own. */
export interface Approvers {
  /** Distinct approvers who have to sign; 0: signatures are not asked for. */
  readonly signatures_required: number;
  /** Ed25519, 64 hex each. */
  readonly keys: readonly string[];
  /** Passkeys of approvers; absent: none. */
  readonly passkeys?: readonly ApproverPasskey[];
}

/** One version of a tenant's approvers. */
export interface ApproversVersion {
  readonly approvers: Approvers;
  /** From 1; each is signed by approvers of the one before. */
  readonly version: number;
  readonly signatures: readonly { readonly key: string; readonly signature: string }[];
}

/** Returns the newest approvers of the tenant, or undefined. */
export async function getApprovers(db: Db): Promise<ApproversVersion | undefined> {
  return await db.first<ApproversVersion & Record<string, unknown>>(
    "SELECT approvers, version, signatures FROM tenant_approvers ORDER BY version DESC LIMIT 1",
  );
}

/**
 * Returns the version of the approvers of the tenant that comes after another one, or undefined.
 *
 * @param refused the newest version when the device refused one, which is not sent it again until there is a newer one
 */
export async function findApproversAfter(
  db: Db,
  version: number,
  refused: number | null,
): Promise<ApproversVersion | undefined> {
  return await db.first<ApproversVersion & Record<string, unknown>>(
    `SELECT approvers, version, signatures FROM tenant_approvers
     WHERE version = $1 AND ($2::int IS NULL OR $2 < (SELECT max(version) FROM tenant_approvers))`,
    [version + 1, refused],
  );
}

/** Adds a version, and wakes heartbeats of devices that have pinned an earlier one. @returns false where it is there already */
export async function addApprovers(
  trx: Db,
  { approvers, version, signatures }: ApproversVersion,
  receiptId: string,
): Promise<boolean> {
  const added = await trx.execute(
    `INSERT INTO tenant_approvers (version, approvers, signatures, receipt_id)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [version, JSON.stringify(approvers), JSON.stringify(signatures), receiptId],
  );
  await trx.query("SELECT pg_notify($1, id) FROM devices WHERE approvers_version > 0", [
    DEVICE_NEWS,
  ]);
  return added === 1;
}
