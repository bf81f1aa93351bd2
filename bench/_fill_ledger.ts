/** Fills a ledger with real receipts, linked and signed, faster than they could be sealed one by one. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { canonicalize } from "../ledger/mod.ts";
import type { TestDatabase } from "../test/_servers.ts";
import { formatBinaryCopy } from "./_binary_copy.ts";

const BATCH = 2_000;
const CATEGORIES = ["platform_fix", "self_heal", "api_call", "tool_call", "loop_step"];
const COPY =
  "COPY receipts (position, id, hash, category, record, signature) FROM STDIN (FORMAT binary)";
const signAsync = promisify(sign) as (a: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>;

/** Puts so many receipts of about 900 bytes into an empty ledger. @returns their ids */
export async function fillLedger(database: TestDatabase, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  await client.query("INSERT INTO ledger_keys (from_position, public_key) VALUES (0, $1)", [raw]);
  const ids: string[] = [];
  let previous: Buffer | undefined;
  let copying: Promise<void> = Promise.resolve();
  while (ids.length < count) {
    const receipts = Array.from({ length: Math.min(BATCH, count - ids.length) }, () => {
      const receipt = makeReceipt(ids.length, previous?.toString("hex") ?? "");
      const record = Buffer.from(canonicalize(receipt));
      previous = createHash("sha256").update(record).digest();
      ids.push(receipt.id);
      return { ...receipt, record, hash: previous };
    });
    const signatures = await Promise.all(
      receipts.map(({ record }) => signAsync(null, record, privateKey)),
    );
    const rows = receipts.map(({ chain_position, id, hash, category, record }, n) => [
      BigInt(chain_position),
      id,
      hash,
      category,
      record,
      signatures[n]!,
    ]);
    await copying;
    copying = pipeline(Readable.from([formatBinaryCopy(rows)]), client.query(copyFrom(COPY)));
  }
  await copying;
  await client.query("UPDATE ledger_head SET size = $1, hash = $2", [count, previous]);
  await client.query("VACUUM ANALYZE receipts");
  await client.end();
  return ids;
}

function makeReceipt(position: number, previousHash: string) {
  const id = createHash("sha256").update(`receipt ${position}`).digest("hex").slice(0, 16);
  const minute = String(Math.floor(position / 60) % 60).padStart(2, "0");
  const day = new Date(Date.UTC(2026, 0, 1 + Math.floor(position / 10_000))).toISOString();
  return {
    id,
    timestamp: `${day.slice(0, 11)}12:${minute}:00.000000+00:00`,
    category: CATEGORIES[position % CATEGORIES.length]!,
    actor: "bench",
    subject: `subject ${position % 1000}`,
    action: "seal",
    outcome: "ok",
    details: { n: position, pad: "x".repeat(480) },
    human_input: "",
    schema_version: "3.0",
    chain_position: position,
    prev_hash: previousHash,
  };
}
