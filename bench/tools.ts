/**
 * How much of the bare SDK's speed is left for a call of a tool, when every call is authenticated, counted, checked and
 * sealed: `tools/call` a second on one SSE session, 16 in flight, against the SDK's own server with an empty tool.
 *
 * Client and server share this process in both cases; PostgreSQL, with fsync, is a process of its own.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { defineOperation } from "../contract/mod.ts";
import type { Platform } from "../operations/mod.ts";
import { connect, startToolServer } from "../test/mcp/_tool_server.ts";
import { type Figure, inTurns } from "./_figures.ts";

const ROUNDS = 7;
/** A round's calls. The client's every request listens to one signal until it is collected, which slows down more. */
const CALLS = 1_400;
const IN_FLIGHT = 16;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const bare = await bareServer();
  const house = await startToolServer({
    extra: [empty],
    settings: { SEALOOP_LIMIT_TOOLS: "1000000000" },
  });
  const servers = {
    bare: { url: bare.url, key: "none" },
    house: { url: house.url, key: (await house.key()).key },
  };
  const rate = (which: keyof typeof servers) => async () => {
    const client = await connect(servers[which].url, servers[which].key);
    const rate = await callsPerSecond(client);
    await client.close();
    return rate;
  };
  try {
    const rates = await inTurns(ROUNDS, { bare: rate("bare"), house: rate("house") });
    await checkSealed(house.platform);
    const what = `tools/call/s, one session, ${IN_FLIGHT} in flight`;
    yield { what, ...rates, baseline: "the SDK with an empty tool", goal: "≥ 0.5" };
  } finally {
    await bare.close();
    await house.stop();
  }
}

const empty = defineOperation<Platform>()({
  name: "bench.empty",
  group: "bench",
  summary: "Do nothing",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({}),
  tool: { empty: ["full"] },
  example: { input: {}, output: {} },
  run: () => Promise.resolve({}),
});

/** The SDK as its own examples have it, and nothing else. */
async function bareServer(): Promise<{ url: string; close(): Promise<void> }> {
  const transports = new Map<string, SSEServerTransport>();
  const http = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url!, "http://localhost");
    if (pathname === "/messages") {
      await transports.get(searchParams.get("sessionId") ?? "")!.handlePostMessage(req, res);
      return;
    }
    const transport = new SSEServerTransport("/messages", res);
    transports.set(transport.sessionId, transport);
    const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, () => ({
      content: [{ type: "text", text: "{}" }],
      structuredContent: {},
      _meta: { receipt_id: randomUUID() },
    }));
    await server.connect(transport);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}

async function callsPerSecond(client: Client): Promise<number> {
  let left = CALLS;
  const started = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => {
    while (left-- > 0) {
      const { isError } = await client.callTool({ name: "empty", arguments: {} });
      if (isError) throw new Error("A call was refused, so the figure would be of refusals");
    }
  }));
  return CALLS / (performance.now() - started) * 1000;
}

/** That calls were sealed at all: each of them, the warm-up's too, has asked for its receipt. */
async function checkSealed({ store }: Platform): Promise<void> {
  const { rows: [{ n }] } = await store.pool.query("SELECT count(*)::int AS n FROM seal_requests");
  const wanted = (ROUNDS + 1) * CALLS;
  if (n !== wanted) throw new Error(`${wanted} calls asked for ${n} receipts`);
}
