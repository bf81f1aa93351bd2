/**
 * Tool calls, each authenticated, counted, checked, governed and sealed: `tools/call` a second in one session, over SSE
 * and over Streamable HTTP, 16 in flight and one at a time, against the SDK's own server with an empty tool; and the time
 * that a call one at a time takes more.
 *
 * Client, server, bare server, sequencer and PostgreSQL, with fsync, are processes of their own, and each server is
 * bundled into one file, as a user's is. A server answers in its first second half as fast as after some thousand calls,
 * so both get these before they are measured.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { openStore } from "../store/mod.ts";
import { testFolder } from "../test/_run.ts";
import { sharePostgres, type TestDatabase, testDatabase } from "../test/_servers.ts";
import { connect, connectHttp } from "../test/mcp/_tool_server.ts";
import { type Figure, measureInTurns, type Pair, type Side } from "./_figures.ts";
import { startSequencer, stopSequencer } from "./_sealing.ts";
import { type Server, startServer } from "./_servers.ts";
import { ratePerSecond, rounds, runConcurrently, scaled } from "./_work.ts";

const ROUNDS = rounds(5);
/** Calls of a round. A client's requests all listen to one signal until they are collected, so more would slow it down. */
const CALLS = scaled(1_000);
const CALLS_ALONE = scaled(250);
/** Calls to each server before it is measured. */
const WARM_UP_CALLS = scaled(4_000);
const IN_FLIGHT = 16;
const TRANSPORTS = { SSE: connect, "Streamable HTTP": connectHttp } as const;
/** Tools by name. A call that reads is sealed; one that writes is decided before, too. */
const TOOLS = ["read", "write"];

/** A tool on both servers, over one transport. */
interface ToolBench {
  readonly tool: string;
  readonly transport: keyof typeof TRANSPORTS;
  readonly servers: Pair<Server>;
}

/** Measures each tool over each transport. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const sequencer = await startSequencer(database.urls.sequencer, folder);
  const servers: Pair<Server> = {
    baseline: await startServer("bench/_bare_sdk_program.ts", []),
    platform: await startServer(
      "bench/_tool_server_program.ts",
      [JSON.stringify(database)],
      await sharePostgres(),
    ),
  };
  try {
    for (const transport of Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[]) {
      for (const tool of TOOLS) yield* measureTool({ tool, transport, servers });
    }
    await checkSealed(database);
  } finally {
    await Promise.all([servers.baseline.stop(), servers.platform.stop()]);
    await stopSequencer(sequencer);
    await database.drop();
  }
}

let platformCalls = 0;

async function* measureTool(bench: ToolBench): AsyncGenerator<Figure> {
  for (let calls = 0; calls < WARM_UP_CALLS; calls += CALLS) {
    for (const side of ["baseline", "platform"] as const) {
      await callRate(bench, side, CALLS, IN_FLIGHT);
    }
  }
  const measure = (calls: number, inFlight: number) =>
    measureInTurns(ROUNDS, {
      baseline: () => callRate(bench, "baseline", calls, inFlight),
      platform: () => callRate(bench, "platform", calls, inFlight),
    });
  const { tool, transport } = bench;
  const baselineLabel = "the SDK with an empty tool";
  const label = `${tool}s/s over ${transport}`;
  const inFlight = await measure(CALLS, IN_FLIGHT);
  yield { label: `${label}, ${IN_FLIGHT} in flight`, ...inFlight, baselineLabel, goal: "≥ 0.35" };
  const alone = await measure(CALLS_ALONE, 1);
  yield { label: `${label}, one at a time`, ...alone, baselineLabel, goal: "≥ 0.35" };
  const addedMs = alone.platform.map((rate, round) => 1000 / rate - 1000 / alone.baseline[round]!);
  yield { label: `added ms of a ${tool} over ${transport}`, platform: addedMs, goal: "< 5" };
}

/** Calls the tool in a new session. @returns calls a second */
async function callRate(
  { tool, transport, servers }: ToolBench,
  side: Side,
  calls: number,
  inFlight: number,
): Promise<number> {
  const { address, keys: [key = "none"] } = servers[side];
  const client = await TRANSPORTS[transport](address, key);
  const rate = await ratePerSecond(
    calls,
    () => runConcurrently(calls, inFlight, () => callTool(client, tool)),
  );
  await client.close();
  if (side === "platform") platformCalls += calls;
  return rate;
}

async function callTool(client: Client, name: string): Promise<void> {
  const { isError } = await client.callTool({ name, arguments: {} });
  if (isError) throw new Error(`Cannot measure: the call of ${name} was refused`);
}

/** Checks that every call has requested its receipt. */
async function checkSealed({ urls }: TestDatabase): Promise<void> {
  const store = openStore(urls.tools, "tools");
  const row = await store.asPlatform().first("SELECT count(*)::int AS n FROM seal_requests");
  await store.close();
  if (row!.n < platformCalls) {
    throw new Error(`${platformCalls} calls requested only ${row!.n} receipts`);
  }
}
