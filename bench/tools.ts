/**
 * How much of the bare SDK's speed is left for a call of a tool, when every call is authenticated, counted, checked,
 * governed and sealed: `tools/call` a second in one session, over SSE and over Streamable HTTP, 16 in flight and one at a
 * time, against the SDK's own server with an empty tool. What one at a time takes more is the added latency.
 *
 * Client, server, bare server, sequencer and PostgreSQL, with fsync, are processes of their own, and both servers in one
 * file each, as a user's is. A server that has answered some thousand calls takes half as long for one as in its first
 * second, so both have before they are measured.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { testFolder } from "../test/_run.ts";
import { type TestDatabase, testDatabase } from "../test/_servers.ts";
import { openStore } from "../store/mod.ts";
import { connect, connectHttp } from "../test/mcp/_tool_server.ts";
import { program } from "../test/_programs.ts";
import { type Figure, inTurns } from "./_figures.ts";
import { startSequencer, stopSequencer } from "./_sealing.ts";
import { startServer } from "./_servers.ts";

const ROUNDS = 5;
/** A round's calls. The client's every request listens to one signal until it is collected, which slows down more. */
const CALLS = 1_000;
const CALLS_IN_TURN = 250;
/** Calls of each before it is measured. */
const WARMING = 4_000;
const IN_FLIGHT = 16;
const TRANSPORTS = { SSE: connect, "Streamable HTTP": connectHttp } as const;
/** What only reads is not decided on, only sealed; what changes something is both. */
const TOOLS = ["read", "write"];

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const sequencer = startSequencer(database.urls.sequencer, folder, true);
  const bare = await startServer(await program("bench/_bare_sdk.ts"), []);
  const house = await startServer(
    await program("bench/_tool_server_process.ts"),
    [JSON.stringify(database)],
  );
  const servers = {
    bare: { url: bare.address, key: "none" },
    house: { url: house.address, key: house.told.keys[0]! },
  };
  let called = 0;
  try {
    for (const [name, open] of Object.entries(TRANSPORTS)) {
      for (const tool of TOOLS) {
        const rate = (which: keyof typeof servers, calls: number, inFlight: number) => async () => {
          const client = await open(servers[which].url, servers[which].key);
          const ms = await timeOf(client, tool, calls, inFlight);
          await client.close();
          if (which === "house") called += calls;
          return calls / ms * 1000;
        };
        const both = (calls: number, inFlight: number) =>
          inTurns(ROUNDS, {
            bare: rate("bare", calls, inFlight),
            house: rate("house", calls, inFlight),
          });
        const goals = { baseline: "the SDK with an empty tool", goal: "≥ 0.35" };
        const what = `${tool}s/s over ${name}`;
        for (let warmed = 0; warmed < WARMING; warmed += CALLS) {
          for (const which of ["bare", "house"] as const) await rate(which, CALLS, IN_FLIGHT)();
        }
        yield {
          what: `${what}, ${IN_FLIGHT} in flight`,
          ...await both(CALLS, IN_FLIGHT),
          ...goals,
        };
        const inTurn = await both(CALLS_IN_TURN, 1);
        yield { what: `${what}, one at a time`, ...inTurn, ...goals };
        const added = inTurn.house.map((rate, at) => 1000 / rate - 1000 / inTurn.bare[at]!);
        yield { what: `… ms that a ${tool} takes more`, house: added, goal: "< 5" };
      }
    }
    await checkSealed(database, called);
  } finally {
    await Promise.all([bare.stop(), house.stop()]);
    await stopSequencer(sequencer);
    await database.drop();
  }
}

/** @returns milliseconds */
async function timeOf(
  client: Client,
  name: string,
  calls: number,
  inFlight: number,
): Promise<number> {
  let left = calls;
  const started = performance.now();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) {
      const { isError } = await client.callTool({ name, arguments: {} });
      if (isError) throw new Error("A call was refused, so the figure would be of refusals");
    }
  }));
  return performance.now() - started;
}

/** That calls were sealed at all: each of them has asked for its receipt. */
async function checkSealed({ urls }: TestDatabase, called: number): Promise<void> {
  const store = openStore(urls.app, "app");
  const { rows: [{ n }] } = await store.pool.query("SELECT count(*)::int AS n FROM seal_requests");
  await store.close();
  if (n < called) throw new Error(`${called} calls asked for ${n} receipts`);
}
