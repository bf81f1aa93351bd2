import {
  addRows,
  type Condition,
  type Part,
  type Queryable,
  type Row,
  together,
} from "../store/mod.ts";
import { inOnePiece } from "./_bytes.ts";
import { ReceiptConflict } from "./errors.ts";
import { prepare, type Prepared, type SealRequest } from "./receipt.ts";

/** Where a request to seal stands. */
export interface SealState {
  readonly state: "queued" | "sealed" | "refused";
  readonly position?: number;
  /** Hash of the receipt, hex. */
  readonly hash?: string;
  readonly reason?: string;
}

const INSERT = (beside = "", asked = "", condition = "") => `
  WITH ${asked} wanted AS (
    SELECT id, convert_from(substr($2::bytea, start + 1, length), 'UTF8') AS payload,
      substr($5::bytea, nr::int * 32 - 31, 32) AS request_hash
    FROM unnest($1::text[], $3::int[], $4::int[]) WITH ORDINALITY AS w (id, start, length, nr) ${condition}
  ), fresh AS (
    INSERT INTO seal_requests (id, request_hash) SELECT id, request_hash FROM wanted
    ON CONFLICT (id) DO NOTHING RETURNING id
  ), queued AS (
    INSERT INTO seal_outbox (id, payload) SELECT w.id, w.payload FROM wanted w JOIN fresh USING (id)
  ), shown AS (
    INSERT INTO evidence (receipt_id, name, salt, content)
    SELECT e.* FROM unnest($6::text[], $7::text[], $8::bytea[], $9::text[]) AS e (id, name, salt, content)
    JOIN fresh USING (id)
  ) ${beside}
  SELECT count(*)::int AS fresh, CASE WHEN $10::boolean THEN pg_notify('sealoop_outbox', '') END
    ${asked && ", (SELECT to_json(asked) FROM asked) AS asked"} FROM fresh`;

/** A statement, which the database keeps how to do by its name. */
interface Statement {
  readonly name: string;
  readonly text: string;
}

const statements = new Map<string, Statement>();

/** The same, with rows like one and under a condition like one, if there are any; its text is made once. */
function insertWith(row: Row | undefined, when: Condition | undefined): Statement {
  const parts = ["seal_insert", ...(row ? [row.table] : []), ...(when ? [when.function] : [])];
  const name = parts.join("_");
  let statement = statements.get(name);
  if (!statement) statements.set(name, statement = { name, text: textWith(row, when) });
  return statement;
}

function textWith(row: Row | undefined, when: Condition | undefined): string {
  const from =
    "SELECT content FROM unnest($11::text[], $12::text[]) AS b (id, content) JOIN fresh USING (id)";
  const beside = row ? `, beside AS (${addRows(row, from)})` : "";
  if (!when) return INSERT(beside);
  const calls = row ? "$13" : "$11";
  return INSERT(
    beside,
    `asked AS MATERIALIZED (SELECT holds, told FROM ${when.function}(${calls}::jsonb)),`,
    "WHERE (SELECT holds FROM asked)[nr]",
  );
}

/** Runs one statement with `$1` parameters, kept by its name if it has one. */
export type Run = (
  sql: string,
  values: readonly unknown[],
  name?: string,
) => Promise<{ rows: Record<string, unknown>[] }>;

/**
 * Asks for a receipt within the caller's own transaction: it is sealed if and only if that commits.
 *
 * @returns the receipt's id; wait for its hash with {@linkcode Sealer.sealed} after the commit
 * @throws {InvalidInput} the request can't be sealed
 * @throws {ReceiptConflict} the id is already taken by other content
 */
export async function requestSeal(on: Queryable, request: SealRequest): Promise<{ id: string }> {
  const prepared = prepare(request);
  const [{ conflict }] = await insert(onQueryable(on), [{ prepared }]) as [Answer];
  if (conflict) throw conflict;
  return { id: prepared.id };
}

/**
 * Does several things as one statement, and asks for a receipt of them: all of it or none.
 *
 * @param given table of one of the parts: where it has no rows, no receipt is asked for
 * @returns the row of the parts' columns
 * @throws {InvalidInput} the request can't be sealed
 * @throws {ReceiptConflict} the id is already taken by other content
 */
export async function sealTogether(
  on: Queryable,
  parts: readonly Part[],
  request: SealRequest,
  given?: string,
): Promise<Readonly<Record<string, unknown>>> {
  const prepared = prepare(request);
  try {
    return await together(on, [...parts, sealPart(prepared, given)]);
  } catch (error) {
    throw isTaken(error) ? new ReceiptConflict(prepared.id) : error;
  }
}

/** What the database says where a receipt's id is taken: it can't be read as a number, so that nothing is done. */
const TAKEN = "receipt id taken by other content";
/** `invalid_text_representation`. */
const INVALID_TEXT = "22P02";

/** Knex puts the statement before whatever the database says, so that the words are in every message once. */
function isTaken(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  return code === INVALID_TEXT && (message ?? "").split(TAKEN).length > 2;
}

function sealPart({ id, payload, requestHash, evidence }: Prepared, given?: string): Part {
  const where = given ? `WHERE EXISTS (SELECT FROM ${given})` : "";
  return {
    tables: `asked (id, request_hash) AS (SELECT ?::text, ?::bytea ${where}), fresh AS (
       INSERT INTO seal_requests (id, request_hash) SELECT * FROM asked
       ON CONFLICT (id) DO NOTHING RETURNING id
     ), to_seal AS (
       INSERT INTO seal_outbox (id, payload) SELECT id, ? FROM fresh
     ), shown AS (
       INSERT INTO evidence (receipt_id, name, salt, content)
       SELECT fresh.id, e.* FROM fresh, unnest(?::text[], ?::bytea[], ?::text[]) AS e
     ), taken AS (
       SELECT count(*) AS n FROM asked JOIN seal_requests r USING (id) WHERE r.request_hash <> asked.request_hash
     )`,
    values: [
      ...[id, requestHash, payload],
      evidence.map((e) => e.name),
      evidence.map((e) => e.salt) as unknown as string[],
      evidence.map((e) => e.content),
    ],
    columns: `(SELECT CASE WHEN n > 0 THEN ('${TAKEN} ' || n)::int END FROM taken) AS taken,
      (SELECT pg_notify('sealoop_outbox', '')::text FROM fresh) AS asked`,
  };
}

/** Knex numbers its own parameters, so ours are turned into its form. */
function onQueryable(on: Queryable): Run {
  return async (sql, values) => {
    const order: unknown[] = [];
    const text = sql.replace(/\$(\d+)/g, (_, n: string) => {
      order.push(values[Number(n) - 1]);
      return "?";
    });
    // deno-lint-ignore no-explicit-any -- knex types its bindings more narrowly than it takes them
    return await on.raw(text, order as any);
  };
}

/** A request, and what it is written with. */
export interface Entry {
  readonly prepared: Prepared;
  /** Of another table, written if and only if the request is. */
  readonly row?: Row | undefined;
  readonly when?: Condition | undefined;
  /** Whether the statement need not wake anybody for it. */
  readonly patient?: boolean | undefined;
}

/** What became of a request. */
export interface Answer {
  /** Why it was refused. */
  readonly conflict?: ReceiptConflict | undefined;
  /** Whether the condition held; true where there is none. */
  readonly holds: boolean;
  /** What the condition's function found. */
  readonly found?: unknown;
}

/**
 * Puts requests in the outbox with one statement.
 *
 * @param entries whose rows and conditions, if they have any, are all of one form
 * @returns for each request what became of it
 */
export async function insert(run: Run, entries: readonly Entry[]): Promise<Answer[]> {
  const first = new Map(entries.map((entry) => [entry.prepared.id, entry] as const).reverse());
  const unique = [...first.values()];
  const requests = unique.map(({ prepared }) => prepared);
  const evidence = requests.flatMap((r) => r.evidence.map((e) => ({ id: r.id, ...e })));
  const rows = [...first].flatMap(([id, { row }]) => row ? [{ id, row }] : []);
  const when = entries.find(({ when }) => when)?.when;
  const { name, text } = insertWith(rows[0]?.row, when);
  const values: unknown[] = [
    requests.map((r) => r.id),
    ...inOnePiece(requests.map((r) => Buffer.from(r.payload))),
    Buffer.concat(requests.map((r) => r.requestHash)),
    evidence.map((e) => e.id),
    evidence.map((e) => e.name),
    evidence.map((e) => e.salt),
    evidence.map((e) => e.content),
    unique.some(({ patient }) => !patient),
  ];
  if (rows.length > 0) {
    values.push(rows.map(({ id }) => id), rows.map((r) => JSON.stringify(r.row.values)));
  }
  if (when) values.push(JSON.stringify(unique.map(({ when }) => when?.value ?? null)));
  const { rows: [row] } = await run(text, values, name);
  const asked = row!.asked as { holds: boolean[]; told: unknown[] } | undefined;
  const answers = new Map(
    requests.map(({ id }, n): [string, Answer] => [
      id,
      asked ? { holds: asked.holds[n]!, found: asked.told[n] } : { holds: true },
    ]),
  );
  const told = entries.map(({ prepared }) => answers.get(prepared.id)!);
  const held = told.filter(({ holds }) => holds).length;
  if (row!.fresh === held) return told;
  const found = await conflicts(run, entries.map(({ prepared }) => prepared));
  return told.map((answer, n) => answer.holds ? { ...answer, conflict: found[n] } : answer);
}

/** Some ids were there already: with the same content that is the same receipt, else a conflict. */
async function conflicts(run: Run, requests: readonly Prepared[]) {
  const { rows } = await run(
    `SELECT s.id, s.request_hash, convert_from(r.record, 'UTF8') AS record, o.payload
     FROM seal_requests s LEFT JOIN receipts r USING (id) LEFT JOIN seal_outbox o USING (id)
     WHERE s.id = ANY ($1::text[])`,
    [requests.map((r) => r.id)],
  );
  const there = new Map(rows.map((row) => [row.id as string, row]));
  return requests.map((request) => {
    const row = there.get(request.id);
    if (!row || request.requestHash.equals(row.request_hash as Buffer)) return undefined;
    return new ReceiptConflict(
      request.id,
      differences(request.payload, (row.record ?? row.payload) as string),
    );
  });
}

function differences(wanted: string, sealed: string | null): string[] {
  if (sealed === null) return [];
  const there = comparable(sealed);
  return Object.entries(comparable(wanted))
    .filter(([name, value]) => value !== there[name])
    .map(([name]) => name);
}

/** The fields that make a request the same, as text. Commitments are salted anew each time. */
function comparable(payload: string): Record<string, string> {
  const { timestamp: _, details = {}, ...rest } = JSON.parse(payload);
  const { commitments: __, ...plain } = details;
  const fields = Object.entries({ ...rest, details: plain });
  return Object.fromEntries(fields.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Where a request stands, or undefined where no such id was ever asked for. */
export async function sealState(on: Queryable, id: string): Promise<SealState | undefined> {
  const { rows: [row] } = await on.raw(
    `SELECT r.position, encode(r.hash, 'hex') AS hash, f.reason FROM seal_requests s
     LEFT JOIN receipts r USING (id) LEFT JOIN seal_refusals f USING (id) WHERE s.id = ?`,
    [id],
  );
  if (!row) return undefined;
  if (row.position !== null) {
    return { state: "sealed", position: Number(row.position), hash: row.hash };
  }
  return row.reason === null ? { state: "queued" } : { state: "refused", reason: row.reason };
}
