import { asProblem, isReceiptTimeRefused } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type PreparedRequest,
  prepareRequest,
  ReceiptConflict,
  type SealRequest,
} from "../receipts/mod.ts";

/** The state of a request to seal. */
export interface SealState {
  readonly state: "queued" | "sealed" | "refused";
  readonly position?: number;
  /** Hash of the receipt, hex. */
  readonly hash?: string;
  readonly reason?: string;
}

/**
 * Requests a receipt within the caller's transaction: it is sealed if and only if that commits.
 *
 * The same request again is the same receipt.
 *
 * @param trx a transaction; with a plain handle the request is committed at once
 * @returns the receipt's id; wait for its hash with {@linkcode Sealer.sealed} after the commit
 * @throws {InvalidInput} the request can't be sealed
 * @throws {ReceiptConflict} the id is already taken by other content
 * @throws {Problem} `ReceiptTimeRefused`: its time is not that of the database's clock, give or take 5 minutes
 */
export async function requestSeal(trx: Db, request: SealRequest): Promise<{ id: string }> {
  const [receipt] = await requestSeals(trx, [request]);
  return receipt!;
}

/**
 * Requests several receipts with one statement: all or none. They are sealed in the order of the requests.
 *
 * @see requestSeal
 */
export async function requestSeals(
  trx: Db,
  requests: readonly SealRequest[],
): Promise<{ id: string }[]> {
  const prepared = requests.map(prepareRequest);
  for (const conflict of await addRequests(trx, prepared)) {
    if (conflict) throw conflict;
  }
  return prepared.map(({ id }) => ({ id }));
}

const REQUEST_SEALS = {
  name: "request_seals",
  text: "SELECT id FROM request_seals($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS id",
};

/**
 * Adds new requests to the outbox; a repeated request adds nothing.
 *
 * @returns the conflict of each request with the one that has its id already, or undefined; empty where there is none
 * @throws {Problem} `ReceiptTimeRefused`
 */
export async function addRequests(
  db: Db,
  requests: readonly PreparedRequest[],
): Promise<(ReceiptConflict | undefined)[]> {
  const firstOfId = new Map<string, PreparedRequest>();
  for (const request of requests) {
    if (!firstOfId.has(request.id)) firstOfId.set(request.id, request);
  }
  const columns = toColumns(db, [...firstOfId.values()]);
  const rows = await db.query<{ id: string }>(REQUEST_SEALS, columns).catch((error) => {
    throw isReceiptTimeRefused(error) ? asProblem(error) : error;
  });
  if (rows.length === requests.length) return [];
  return await findConflicts(db, requests);
}

/**
 * Returns requests as the arguments of the database's function `request_seals()`, for functions that call it together with
 * changes of their own. The ids must differ.
 *
 * @throws {InvalidInput} a request can't be sealed
 */
export function sealArguments(db: Db, requests: readonly SealRequest[]): unknown[] {
  return toColumns(db, requests.map(prepareRequest));
}

function toColumns(db: Db, requests: readonly PreparedRequest[]): unknown[] {
  const evidence = requests.flatMap((r) =>
    r.evidence.map((item) => ({
      receiptId: r.id,
      tenant: r.tenant ?? db.tenant,
      anonymous: r.anonymous,
      ...item,
    }))
  );
  return [
    requests.map((r) => r.id),
    requests.map((r) => r.category),
    requests.map((r) => r.payload),
    requests.map((r) => r.requestHash),
    evidence.map((item) => item.receiptId),
    evidence.map((item) => item.name),
    evidence.map((item) => item.salt),
    evidence.map((item) => item.content),
    evidence.map((item) => item.tenant),
    evidence.map((item) => item.anonymous),
  ];
}

/** Compares each request with the one that was first made under its id. */
async function findConflicts(
  db: Db,
  requests: readonly PreparedRequest[],
): Promise<(ReceiptConflict | undefined)[]> {
  const rows = await db.query<{ id: string; request_hash: Buffer; content: string | null }>(
    `SELECT s.id, s.request_hash, coalesce(convert_from(r.record, 'UTF8'), o.payload) AS content
     FROM seal_requests s LEFT JOIN receipts r USING (id) LEFT JOIN seal_outbox o USING (id)
     WHERE s.id = ANY ($1)`,
    [requests.map((r) => r.id)],
  );
  const rowOfId = new Map(rows.map((row) => [row.id, row]));
  return requests.map(({ id, payload, requestHash }) => {
    const row = rowOfId.get(id);
    if (!row || requestHash.equals(row.request_hash)) return undefined;
    const differences = row.content === null ? [] : listDifferences(payload, row.content);
    // Of a receipt whose evidence was deleted, or that was put back after a loss, the public fields decide.
    if (row.request_hash.length === 0 && differences.length === 0) return undefined;
    return new ReceiptConflict(id, differences);
  });
}

/** Returns the names of the fields in which two payloads differ. */
function listDifferences(requested: string, taken: string): string[] {
  const fields = comparableFields(taken);
  return Object.entries(comparableFields(requested))
    .filter(([name, value]) => value !== fields[name])
    .map(([name]) => name);
}

/** Returns the fields that requests are compared by, as text. Time and commitments differ in a repeated request. */
function comparableFields(payload: string): Record<string, string> {
  const { timestamp: _, details = {}, ...rest } = JSON.parse(payload);
  const { commitments: __, ...plainDetails } = details;
  const fields = Object.entries({ ...rest, details: plainDetails });
  return Object.fromEntries(fields.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Returns the state of a request, or undefined where its id was never requested. */
export async function getSealState(db: Db, id: string): Promise<SealState | undefined> {
  const row = await db.first(
    `SELECT r.position, encode(r.hash, 'hex') AS hash, f.reason
     FROM seal_requests s LEFT JOIN receipts r USING (id) LEFT JOIN seal_refusals f USING (id)
     WHERE s.id = $1`,
    [id],
  );
  if (!row) return undefined;
  if (row.position !== null) {
    return { state: "sealed", position: Number(row.position), hash: row.hash };
  }
  return row.reason === null ? { state: "queued" } : { state: "refused", reason: row.reason };
}
