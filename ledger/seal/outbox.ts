import {
  addRows,
  type Condition,
  type Db,
  type Part,
  type Row,
  together,
} from "../../store/mod.ts";
import {
  type PreparedRequest,
  prepareRequest,
  ReceiptConflict,
  type SealRequest,
} from "../receipts/mod.ts";
import { inOnePiece } from "./_bytes.ts";
import { type Held, type Question, questionsOf } from "./_questions.ts";

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

/** The same, with rows like one and what is asked first, if there is any; its text is made once. */
function insertWith(row: Row | undefined, question: Question | undefined): Statement {
  const parts = ["seal_insert", ...(row ? [row.table] : []), ...(question ? [question.name] : [])];
  const name = parts.join("_");
  let statement = statements.get(name);
  if (!statement) statements.set(name, statement = { name, text: textWith(row, question) });
  return statement;
}

function textWith(row: Row | undefined, question: Question | undefined): string {
  const from =
    "SELECT content FROM unnest($11::text[], $12::text[]) AS b (id, content) JOIN fresh USING (id)";
  const beside = row ? `, beside AS (${addRows(row, from)})` : "";
  if (!question) return INSERT(beside);
  let last = row ? 12 : 10;
  return INSERT(
    beside,
    `${question.part.tables.replace(/\?/g, () => `$${++last}`)},`,
    `WHERE ${question.holds}`,
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
export async function requestSeal(on: Db, request: SealRequest): Promise<{ id: string }> {
  const prepared = prepareRequest(request);
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
  on: Db,
  parts: readonly Part[],
  request: SealRequest,
  given?: string,
): Promise<Readonly<Record<string, unknown>>> {
  const prepared = prepareRequest(request);
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

function sealPart({ id, payload, requestHash, evidence }: PreparedRequest, given?: string): Part {
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
function onQueryable(on: Db): Run {
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
  readonly prepared: PreparedRequest;
  /** Of another table, written if and only if the request is. */
  readonly row?: Row | undefined;
  readonly when?: Condition | undefined;
  /** Whether the statement need not wake anybody for it. */
  readonly patient?: boolean | undefined;
}

/** What became of a request. */
export interface Answer extends Held {
  /** Why it was refused. */
  readonly conflict?: ReceiptConflict | undefined;
}

/**
 * Puts requests in the outbox with one statement.
 *
 * @param entries whose rows and conditions, if they have any, are all of one form
 * @returns for each request what became of it
 */
export async function insert(run: Run, entries: readonly Entry[]): Promise<Answer[]> {
  const first = new Map<string, Entry>(); // in the order in which they came, and so counted
  for (const entry of entries) {
    if (!first.has(entry.prepared.id)) first.set(entry.prepared.id, entry);
  }
  const unique = [...first.values()];
  const requests = unique.map(({ prepared }) => prepared);
  const evidence = requests.flatMap((r) => r.evidence.map((e) => ({ id: r.id, ...e })));
  const rows = [...first].flatMap(([id, { row }]) => row ? [{ id, row }] : []);
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
  const { fresh, answers } = await write(run, rows[0]?.row, values, unique.map(({ when }) => when));
  const byId = new Map(requests.map(({ id }, n) => [id, answers?.[n] ?? { holds: true }] as const));
  const told = entries.map(({ prepared }) => byId.get(prepared.id)!);
  const held = told.filter(({ holds }) => holds).length;
  if (fresh === held) return told;
  const found = await conflicts(run, entries.map(({ prepared }) => prepared));
  return told.map((answer, n) => answer.holds ? { ...answer, conflict: found[n] } : answer);
}

/** Runs the statement, and once more with another question where the first could not say what becomes of the conditions. */
async function write(
  run: Run,
  like: Row | undefined,
  values: readonly unknown[],
  conditions: readonly (Condition | undefined)[],
): Promise<{ fresh: number; answers?: readonly Held[] | undefined }> {
  for (const question of questionsOf(conditions)) {
    const { name, text } = insertWith(like, question);
    const { rows: [row] } = await run(text, [...values, ...question?.part.values ?? []], name);
    const fresh = row!.fresh as number;
    if (!question) return { fresh };
    const answers = question.answers(row!.asked);
    if (answers) return { fresh, answers };
  }
  throw new Error("Nothing could be asked that says what becomes of the conditions");
}

/** Some ids were there already: with the same content that is the same receipt, else a conflict. */
async function conflicts(run: Run, requests: readonly PreparedRequest[]) {
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
export async function getSealState(on: Db, id: string): Promise<SealState | undefined> {
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
