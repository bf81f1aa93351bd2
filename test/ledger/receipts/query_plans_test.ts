import assert from "node:assert/strict";
import pg from "pg";
import { ROLES } from "../../../store/mod.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { serveLedger } from "../_ledger.ts";

const COUNT = 20_000;
/** More than any answer holds, and far fewer than there are. */
const MAX_ROWS_READ = 1_100;
const PLANS = ["force_custom_plan", "force_generic_plan"] as const;
const ID = "0000000000004711";

/** Requests of everybody. */
const PATHS: readonly string[] = [
  "/",
  `/receipt/${ID}`,
  "/api/stats",
  "/api/receipts",
  "/api/receipts?page=900",
  "/api/receipts?before=9000",
  "/api/receipts?about=key:0000000000000001",
  "/api/receipts?about=INC-000000000007&before=19000",
  "/api/receipts?category=test&before=9000",
  "/api/receipts?category=rare",
  "/api/receipts?kind=happened",
  "/api/receipts?day=2026-07-01&before=9000",
  "/api/receipts?day=2026-07-01&kind=repairs",
  "/api/receipts?day=2026-07-01&category=rare",
  "/api/receipts?day=2026-07-02",
  "/api/chain",
  "/api/health",
  "/api/activity",
  "/api/anchors",
  "/api/how-to-verify",
  "/api/export",
  "/api/export?from=15000&to=15010",
  "/checkpoint",
  "/tile/0/007",
  "/tile/0/078.p/32",
  "/tile/1/000.p/78",
  "/tile/entries/007",
  "/api/log/consistency?from=1000",
  `/api/log/inclusion/${ID}`,
  `/api/receipt/${ID}.ots`,
  `/api/receipt/${ID}.bin`,
  `/api/receipt/${ID}`,
  `/api/verify/${ID}`,
  `/api/verify/${ID.slice(0, 15)}`,
  "/api/verify/00000000",
  "/api/verify/e5e5e5e5e5",
  "/api/verify/none-like-this",
];

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

describe("the statements of the public ledger on a long chain", () => {
  let database: TestDatabase;
  let superuser: pg.Client;
  let statements: Statement[];
  before(async () => {
    database = await testDatabase();
    superuser = new pg.Client({ connectionString: database.superuserUrl });
    await superuser.connect();
    await fill(superuser);
    statements = await collectStatements(database);
  });
  after(async () => {
    await superuser?.end();
    await database?.drop();
  });

  for (const plan of PLANS) {
    it(`use an index, with ${plan}`, async () => {
      await superuser.query(`SET ROLE ${ROLES.ledger}; SET plan_cache_mode = ${plan}`);
      const costly: unknown[] = [];
      for (const [n, { text, values }] of statements.entries()) {
        const name = `${plan}_${n}`;
        await superuser.query(`PREPARE ${name} AS ${text}`);
        const given = values.length > 0 ? `(${values.map(literal).join()})` : "";
        const { rows: [row] } = await superuser.query(
          `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name}${given}`,
        );
        const read = countRowsRead(row["QUERY PLAN"][0].Plan);
        if (read > MAX_ROWS_READ) costly.push({ text, read });
      }
      await superuser.query("RESET ROLE");
      assert.deepEqual(costly, []);
    });
  }

  it("include those by id, by prefix, by name, by day, and for corrections", () => {
    for (
      const part of [
        "WHERE id = $1",
        "lower(id)",
        "supersedes_of",
        "position >= $1",
        "receipt_names",
        "day_of",
      ]
    ) {
      assert.ok(statements.some(({ text }) => text.includes(part)), part);
    }
  });
});

/** Inserts rows that look like receipts, and all that belongs to them. */
async function fill(on: pg.Client): Promise<void> {
  await on.query(`
    INSERT INTO ledger_keys (from_position, public_key) VALUES (0, sha256('key'));
    INSERT INTO receipts (position, id, category, record, hash, signature)
      SELECT n, id, CASE WHEN n % 9000 = 7 THEN 'rare' ELSE 'test' END, record, sha256(record), sha256(record) || sha256(record)
      FROM generate_series(0, ${COUNT - 1}) AS n, lpad(n::text, 16, '0') AS id, convert_to(format(
        '{"actor":"key:0000000000000001","chain_position":%s,"details":{"pad":"%s"},"id":"%s","schema_version":"3.0","subject":"INC-%s","timestamp":"2026-07-01T12:00:00.000000+00:00"}',
        n, repeat('x', 500), id, right(id, 12)), 'UTF8') AS record;
    UPDATE ledger_head SET size = ${COUNT}, hash = (SELECT hash FROM receipts WHERE position = ${
    COUNT - 1
  });
    INSERT INTO log_tiles SELECT 0, n, decode(repeat('ab', 8192), 'hex'), sha256('root')
      FROM generate_series(0, ${Math.floor(COUNT / 256) - 1}) AS n;
    INSERT INTO log_checkpoint (size, root, note, verifier_key)
      VALUES (${COUNT}, sha256('root'), 'note', 'log+00000000+AA==');
    INSERT INTO anchors (first, last, root, subroots, state, proof)
      SELECT n * 100, n * 100 + 99, sha256('root'), sha256('root'), 'pending', 'none'
      FROM generate_series(0, 20) AS n;
    ANALYZE;
    UPDATE pg_class SET reltuples = 1000000 -- so that plans are those of a million
      WHERE oid = 'receipts'::regclass
        OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'receipts'::regclass AND indpred IS NULL);
    UPDATE pg_class SET reltuples = 3000000 WHERE oid IN ('receipt_names'::regclass, 'receipt_names_pkey'::regclass)`);
}

/** Requests every path, and collects the statements of the server, each once for each set of values. */
async function collectStatements(database: TestDatabase): Promise<Statement[]> {
  const statements = new Map<string, Statement>();
  const { query } = pg.Client.prototype;
  // deno-lint-ignore no-explicit-any -- passed on unchanged
  pg.Client.prototype.query = function (this: pg.Client, ...args: any[]) {
    const [config, list] = args;
    const text: string = config.text ?? config;
    const values: unknown[] = config.values ?? (Array.isArray(list) ? list : []);
    if (/^(SELECT|WITH)\b/i.test(text.trim())) {
      statements.set(JSON.stringify([text, values]), { text, values });
    }
    return Reflect.apply(query, this, args);
  } as typeof query;
  const server = await serveLedger(database);
  try {
    for (const path of PATHS) {
      const response = await fetch(`${server.address}${path}`);
      await response.arrayBuffer();
    }
    const lines = await fetch(`${server.address}/api/export?from=19990`, {
      headers: { accept: "application/x-ndjson" },
    });
    await lines.arrayBuffer();
  } finally {
    pg.Client.prototype.query = query;
    await server.stop();
  }
  return [...statements.values()];
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (Array.isArray(value)) return `'{${value.join()}}'`;
  if (Buffer.isBuffer(value)) return `'\\x${value.toString("hex")}'`;
  return pg.escapeLiteral(String(value));
}

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly Plan[];
}

/** Counts the rows that a plan read, used or not. */
function countRowsRead(plan: Plan): number {
  const own = plan["Relation Name"] === undefined ? 0 : plan["Actual Loops"] *
    (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) +
      (plan["Rows Removed by Index Recheck"] ?? 0));
  return own + (plan.Plans ?? []).reduce((sum, inner) => sum + countRowsRead(inner), 0);
}
