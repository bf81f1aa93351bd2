/** A scrub of a test ledger, and what only a superuser can do to its database. */
import pg from "pg";
import { loadConfig } from "../../../config.ts";
import {
  beginScrub,
  type ChainSnapshot,
  endScrub,
  readLogSettings,
  scrubPart,
  type ScrubParts,
  type ScrubResult,
} from "../../../ledger/mod.ts";
import type { Row } from "../../../store/mod.ts";
import type { TestSealing } from "../_ledger.ts";

/** The parts of a scrub of a test ledger. */
export const scrubParts = (
  { app, folder }: TestSealing,
  onError: ScrubParts["onError"] = () => {},
): ScrubParts => ({
  store: app,
  log: readLogSettings(loadConfig({ SEALOOP_DATA: folder })),
  onBreak: () => {},
  onError,
});

/** Runs a whole pass. */
export async function runScrub(
  parts: ScrubParts,
  known: ChainSnapshot | null = null,
): Promise<ScrubResult> {
  let pass = await beginScrub(parts, known);
  while (pass.place.position < pass.size) pass = await scrubPart(parts, pass);
  return await endScrub(parts, pass);
}

/** Lists the stored breaks that are not healed. */
export async function listBreaks({ app }: TestSealing): Promise<Row[]> {
  return await app.asPlatform().query(
    `SELECT position::int, failed_check, reason FROM ledger_breaks
     WHERE healed_at IS NULL ORDER BY position`,
  );
}

/** Connects as a superuser whose statements fire no triggers. */
export async function asSuperuser<T>(
  { database }: TestSealing,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica");
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs statements as a superuser, without triggers. */
export async function tamper(sealing: TestSealing, sql: string): Promise<void> {
  await asSuperuser(sealing, (client) => client.query(sql));
}
