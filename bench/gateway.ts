/**
 * How much of a bare Koa's speed is left for a read of the gateway, when every call is counted against its limit,
 * checked and logged: `GET /v1/ledger` a second, 16 connections, against an application that gives the same bytes.
 *
 * Gateway, bare server, PostgreSQL and clients are processes of their own.
 */
import { writeFile } from "node:fs/promises";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { join } from "node:path";
import { type Figure, inTurns } from "./_figures.ts";
import { fillLedger } from "./_fill.ts";
import { ask, startServer } from "./_servers.ts";

const ROUNDS = 9;
const REQUESTS = 3_000;
const CONNECTIONS = 64;
const PATH = "/v1/ledger";

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  await fillLedger(database, 1_000);
  const house = await startServer("../dist/processes/gateway.js", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_APP_URL: database.urls.app,
    SEALOOP_GATEWAY_PORT: String(await freePort()),
    SEALOOP_LIMIT_FREE: "1000000000",
  });
  const body = Buffer.from(await (await fetch(house.address + PATH)).arrayBuffer());
  await writeFile(join(folder, "body.json"), body);
  const bare = await startServer("./_bare_koa.ts", [join(folder, "body.json")]);
  const rate = (address: string) => async () => {
    const ms = await ask(address, Array(REQUESTS).fill(PATH), CONNECTIONS);
    return REQUESTS / ms * 1000;
  };
  try {
    const rates = await inTurns(ROUNDS, { bare: rate(bare.address), house: rate(house.address) });
    const size = `${Math.round(body.length / 1024)} KiB`;
    yield {
      what: `GET ${PATH}/s, ${CONNECTIONS} connections, ${size}`,
      ...{ ...rates, baseline: "Koa with the same bytes", goal: "≥ 0.4" },
    };
  } finally {
    await Promise.all([house.stop(), bare.stop()]);
    await database.drop();
  }
}
