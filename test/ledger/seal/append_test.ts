import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  canonicalize,
  exportReceipts,
  listLedgerKeys,
  type StoredReceipt,
  verifyChain,
} from "../../../ledger/mod.ts";
import { canonicalizeFields } from "../../../ledger/rules/mod.ts";
import { program } from "../../_programs.ts";
import { sized } from "../../_size.ts";
import { asSuperuser } from "../../_superuser.ts";
import { anyRequest, prepareSealing, type TestSealing } from "../_ledger.ts";

const run = promisify(execFile);
const PAGE_SIZE = 1_000;
/** Processes that seal at once, and receipts of each. */
const PROCESSES = Math.max(4, sized(16));
const BY_EACH = sized(16_000) / PROCESSES;
/** Callers of one process at once, payloads of each, and how often. */
const CALLERS = sized(1_000);
const PAYLOADS = 10;
/** Receipts of which a tile of the log is full, and those that are enough without one. */
const FULL_TILE = 300;
const FEW = sized(FULL_TILE);
const TIMES = 10;

async function* readReceipts({ app }: TestSealing): AsyncGenerator<StoredReceipt> {
  for (let from = 0;; from += PAGE_SIZE) {
    const page = await exportReceipts(app, { from, to: from + PAGE_SIZE });
    yield* page;
    if (page.length === 0) return;
  }
}

async function* readTexts(sealing: TestSealing) {
  for await (const { text } of readReceipts(sealing)) yield text;
}

describe("sealing", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await prepareSealing();
  });
  afterEach(() => sealing.stop());

  it(`from ${PROCESSES} processes, ${BY_EACH} each, makes one chain without a fork or a gap`, async () => {
    sealing.go();
    const appender = await program("test/ledger/seal/_appender.ts");
    const printed = await Promise.all(Array.from({ length: PROCESSES }, async (_, n) => {
      const args = [appender, sealing.database.urls.worker, `process-${n}`, String(BY_EACH)];
      const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 20 });
      return stdout.split("\n");
    }));
    const requested = new Set(printed.flat());
    assert.equal(requested.size, PROCESSES * BY_EACH);
    async function* recordSealed() {
      for await (const { id, text } of readReceipts(sealing)) {
        requested.delete(id);
        yield text;
      }
    }
    const { total, breaks } = await verifyChain(recordSealed(), await listLedgerKeys(sealing.app));
    assert.deepEqual({ total, breaks }, { total: PROCESSES * BY_EACH + 1, breaks: [] });
    assert.equal(requested.size, 0);
  });

  it(`keeps ${TIMES * CALLERS * PAYLOADS} generated payloads to the byte, ${PAYLOADS} in a receipt`, async () => {
    sealing.go();
    const next = generator(Number(process.env["SEED"] ?? 20_261_121));
    const details = new Map<string, string>();
    for (let batch = 0; batch < TIMES; batch++) {
      await Promise.all(Array.from({ length: CALLERS }, async () => {
        const values = { values: Array.from({ length: PAYLOADS }, () => payload(next)) };
        const { id } = await sealing.sealer.request(anyRequest({ details: values }));
        details.set(id, canonicalize(values));
      }));
    }
    await sealing.untilSealed(TIMES * CALLERS + 1);
    async function* compared() {
      for await (const { id, text, category } of readReceipts(sealing)) {
        if (category === "test") {
          assert.equal(canonicalizeFields(text).get("details"), details.get(id));
        }
        yield text;
      }
    }
    const { total, breaks } = await verifyChain(compared(), await listLedgerKeys(sealing.app));
    assert.deepEqual({ total, breaks }, { total: TIMES * CALLERS + 1, breaks: [] });
  });

  /** Every write between a request and the published checkpoint. */
  const statements = [
    "INSERT ON seal_requests",
    "INSERT ON seal_outbox",
    "INSERT ON evidence",
    "UPDATE ON ledger_head",
    "INSERT ON receipts",
    "INSERT ON ledger_categories",
    "INSERT ON ledger_days",
    "INSERT ON receipt_names",
    "DELETE ON seal_outbox",
    "INSERT ON ledger_keys",
    "INSERT ON log_tiles",
    "INSERT ON log_checkpoint",
    "INSERT ON log_publishing",
  ];
  for (const statement of statements) {
    for (const moment of ["BEFORE", "AFTER"]) {
      it(`leaves nothing half-done after one failure ${moment} ${statement}`, async () => {
        await failOnce(sealing, moment, statement);
        const count = statement === "INSERT ON log_tiles" ? FULL_TILE : FEW;
        const ids = Array.from({ length: count }, (_, n) => `id-${n}`);
        const requestAll = () =>
          Promise.all(
            ids.map((id) => sealing.sealer.request(anyRequest({ id, evidence: { note: id } }))),
          );
        await requestAll().catch((error) => assert.match(String(error), /outbox can't be written/));
        await requestAll(); // as a caller repeats after a failure
        sealing.go();
        await sealing.untilSealed(count + 1).catch((error) => {
          assert.match(String(error), /fails once/);
          sealing.go();
        });
        await Promise.all(ids.map((id) => sealing.sealer.sealed(id)));
        if (statement.includes("log_")) await sealing.untilPublished(count + 1);
        const { total, breaks } = await verifyChain(
          readTexts(sealing),
          await listLedgerKeys(sealing.app),
        );
        assert.deepEqual({ total, breaks }, { total: count + 1, breaks: [] });
        const counts = await asSuperuser(sealing.app).first(`SELECT
          (SELECT sum(n)::int FROM ledger_days) AS days,
          (SELECT sum(n)::int FROM ledger_categories) AS categories,
          (SELECT count(*)::int FROM seal_outbox) AS waiting,
          (SELECT count(*)::int FROM evidence) AS evidence,
          (SELECT count(*)::int FROM ledger_keys) AS keys`);
        assert.deepEqual(counts, {
          days: count + 1,
          categories: count + 1,
          waiting: 0,
          evidence: count,
          keys: 1,
        });
        assert.equal(await countFailures(sealing), 1);
      });
    }
  }
});

/** Makes the database refuse a kind of statement the first time. A sequence counts, as no rollback resets it. */
async function failOnce({ app }: TestSealing, moment: string, statement: string) {
  await asSuperuser(app).execute(
    `CREATE SEQUENCE times_asked;
     GRANT USAGE ON times_asked TO PUBLIC;
     CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF nextval('times_asked') = 1 THEN RAISE EXCEPTION 'It fails once'; END IF;
       RETURN NULL;
     END $$;
     CREATE TRIGGER fails_once ${moment} ${statement} FOR EACH STATEMENT EXECUTE FUNCTION fail_once();`,
  );
}

async function countFailures({ app }: TestSealing): Promise<number> {
  const row = await asSuperuser(app).first(
    "SELECT least(1, last_value)::int AS n FROM times_asked WHERE is_called",
  );
  return Number(row?.["n"] ?? 0);
}

/** Returns a generator of numbers in [0, 1), the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const TEXTS = [
  "",
  "plain",
  '"quotes\\"',
  "\u0001\u001f\u007f\u0080",
  "é",
  "日本語",
  "\u202etxt.exe\u202c",
  "😀👩‍👩‍👧",
  "\u2028\u2029",
  "</script>",
  "${x}",
  "ﬀ",
  "e\u0301",
  "a\tb\nc\r",
  "\ufeffbom",
  "'; DROP TABLE",
  "\ud83d\ude00z",
];
const NUMBERS = [0, -0, 1, -1, 1.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, 0.1 + 0.2];

function payload(next: () => number, depth = 0): unknown {
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)]!;
  const text = () => pick(TEXTS) + (next() < 0.3 ? pick(TEXTS) : "");
  const kind = Math.floor(next() * (depth < 4 ? 7 : 5));
  if (kind === 0) return text();
  if (kind === 1) return pick(NUMBERS);
  if (kind === 2) return (next() - 0.5) * 10 ** Math.floor(next() * 40 - 20);
  if (kind === 3) return pick([true, false, null]);
  if (kind === 4) return Math.floor(next() * 2 ** 53);
  const items = Array.from({ length: Math.floor(next() * 5) }, () => payload(next, depth + 1));
  return kind === 5 ? items : Object.fromEntries(items.map((item) => [text(), item]));
}
