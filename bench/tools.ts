/**
 * How much of the bare SDK's speed is left for a call of a tool, when every call is authenticated, counted, checked,
 * governed and sealed: `tools/call` a second in one session, over SSE and over Streamable HTTP, 16 in flight and one at a
 * time, against the SDK's own server with an empty tool. What one at a time takes more is the added latency.
 *
 * Client and server share this process in both cases; PostgreSQL, with fsync, is a process of its own.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Platform } from "../operations/mod.ts";
import { connect, connectHttp, startToolServer } from "../test/mcp/_tool_server.ts";
import { emptyTool } from "./_empty_tool.ts";
import { type Figure, inTurns } from "./_figures.ts";

const ROUNDS = 5;
/** A round's calls. The client's every request listens to one signal until it is collected, which slows down more. */
const CALLS = 1_000;
const CALLS_IN_TURN = 250;
const IN_FLIGHT = 16;
const TRANSPORTS = { SSE: connect, "Streamable HTTP": connectHttp } as const;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const bare = await bareServer();
  const house = await startToolServer({
    extra: Object.values(TOOLS),
    settings: { SEALOOP_LIMIT_TOOLS: "1000000000" },
  });
  const servers = {
    bare: { url: bare.url, key: "none" },
    house: { url: house.url, key: (await house.key()).key },
  };
  let called = 0;
  try {
    for (const [name, open] of Object.entries(TRANSPORTS)) {
      for (const tool of Object.keys(TOOLS)) {
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
    await checkSealed(house.platform, called);
  } finally {
    await bare.close();
    await house.stop();
  }
}

/** What only reads is not decided on, only sealed; what changes something is both. */
const TOOLS = { read: emptyTool("read"), write: emptyTool("write") };

function emptyServer(): Server {
  const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: "text", text: "{}" }],
    structuredContent: {},
    _meta: { receipt_id: randomUUID() },
  }));
  return server;
}

/** The SDK as its own examples have it, and nothing else. */
async function bareServer(): Promise<{ url: string; close(): Promise<void> }> {
  const transports = new Map<string, SSEServerTransport>();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  async function streamable(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const known = sessions.get(String(req.headers["mcp-session-id"]));
    if (known) return await known.handleRequest(req, res);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await emptyServer().connect(transport as Transport);
    await transport.handleRequest(req, res);
  }
  const http = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url!, "http://localhost");
    if (pathname === "/messages") {
      await transports.get(searchParams.get("sessionId") ?? "")!.handlePostMessage(req, res);
      return;
    }
    if (pathname === "/mcp") return await streamable(req, res);
    const transport = new SSEServerTransport("/messages", res);
    transports.set(transport.sessionId, transport);
    await emptyServer().connect(transport);
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
async function checkSealed({ store }: Platform, called: number): Promise<void> {
  const { rows: [{ n }] } = await store.pool.query("SELECT count(*)::int AS n FROM seal_requests");
  if (n < called) throw new Error(`${called} calls asked for ${n} receipts`);
}
