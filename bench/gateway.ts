/**
 * Reads through the gateway, where every call is counted against its limit, checked and logged: `GET /v1/ledger` a second
 * over 64 connections, against a Koa application that returns the same bytes.
 *
 * Gateway, bare server, PostgreSQL and clients are processes of their own.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { fillLedger } from "./_fill_ledger.ts";
import { requestAll, startServer } from "./_servers.ts";
import { rounds, scaled } from "./_work.ts";

const ROUNDS = rounds(9);
const REQUESTS = scaled(3_000);
const CONNECTIONS = 64;
const RECEIPTS = 1_000;
const PATH = "/v1/ledger";

/** Measures reads. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  await fillLedger(database, RECEIPTS);
  const gateway = await startServer("processes/gateway.ts", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_GATEWAY_URL: database.urls.gateway,
    SEALOOP_GATEWAY_PORT: String(await freePort()),
    SEALOOP_LIMIT_FREE: "1000000000",
  });
  const body = Buffer.from(await (await fetch(gateway.address + PATH)).arrayBuffer());
  const file = join(folder, "body.json");
  await writeFile(file, body);
  const bare = await startServer("bench/_bare_koa_program.ts", [file]);
  const rate = (address: string) => async () => {
    const ms = await requestAll(address, Array(REQUESTS).fill(PATH), CONNECTIONS);
    return REQUESTS / ms * 1000;
  };
  try {
    const rates = await measureInTurns(ROUNDS, {
      baseline: rate(bare.address),
      platform: rate(gateway.address),
    });
    const size = `${Math.round(body.length / 1024)} KiB`;
    yield {
      label: `GET ${PATH}/s, ${CONNECTIONS} connections, ${size}`,
      ...rates,
      baselineLabel: "Koa with the same bytes",
      goal: "≥ 0.4",
    };
  } finally {
    await Promise.all([gateway.stop(), bare.stop()]);
    await database.drop();
  }
}
