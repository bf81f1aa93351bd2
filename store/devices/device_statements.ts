import type { Db } from "../connection.ts";

/** A statement of a device's runner, and its receipt. */
export interface StatementRecord {
  readonly deviceId: string;
  /** Among the statements of its device. */
  readonly sequence: number;
  /** Null: it is about no command. */
  readonly commandId: string | null;
  /** Canonical JSON, with the signature. */
  readonly body: string;
  /** Salt of the receipt's commitment to it. */
  readonly salt: Buffer;
  readonly receiptId: string;
}

/** Stores a statement. @returns false where the device has made one under this number */
export async function addStatement(trx: Db, statement: StatementRecord): Promise<boolean> {
  const { deviceId, sequence, commandId, body, salt, receiptId } = statement;
  const added = await trx.execute(
    `INSERT INTO device_statements (device_id, sequence, command_id, body, salt, receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, device_id, sequence) DO NOTHING`,
    [deviceId, sequence, commandId, body, salt, receiptId],
  );
  return added > 0;
}

/** Returns a device's statement by its number, or undefined. */
export async function getStatement(
  db: Db,
  deviceId: string,
  sequence: number,
): Promise<StatementRecord | undefined> {
  return await db.first<StatementRecord>(
    `SELECT device_id AS "deviceId", $2::bigint::float8 AS sequence, command_id AS "commandId", body, salt,
       receipt_id AS "receiptId"
     FROM device_statements WHERE device_id = $1 AND sequence = $2`,
    [deviceId, sequence],
  );
}

/** Returns whether a device has stated that the output of a command leaves it. */
export async function hasEgressStatement(
  db: Db,
  deviceId: string,
  commandId: string,
): Promise<boolean> {
  const row = await db.first(
    `SELECT FROM device_statements WHERE device_id = $1 AND command_id = $2
       AND body::json ->> 'action' = 'data_egress' LIMIT 1`,
    [deviceId, commandId],
  );
  return row !== undefined;
}

/** Returns the number of a device's newest statement; 0: it has made none. */
export async function getStatementSequence(db: Db, deviceId: string): Promise<number> {
  const row = await db.first<{ newest: string }>(
    "SELECT coalesce(max(sequence), 0) AS newest FROM device_statements WHERE device_id = $1",
    [deviceId],
  );
  return Number(row!.newest);
}
