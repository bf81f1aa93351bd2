/** The SDK's own server with an empty tool over both transports, as in the SDK's examples, until it is disconnected. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const streams = new Map<string, SSEServerTransport>();
const sessions = new Map<string, StreamableHTTPServerTransport>();

function emptyServer(): Server {
  const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: "text", text: "{}" }],
    structuredContent: {},
    _meta: { receipt_id: randomUUID() },
  }));
  return server;
}

async function handleHttp(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const known = sessions.get(String(req.headers["mcp-session-id"]));
  if (known) return await known.handleRequest(req, res);
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await emptyServer().connect(transport as Transport);
  await transport.handleRequest(req, res);
}

const server = createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url!, "http://localhost");
  if (pathname === "/mcp") return await handleHttp(req, res);
  if (pathname === "/messages") {
    const stream = streams.get(searchParams.get("sessionId") ?? "");
    return await stream!.handlePostMessage(req, res);
  }
  const stream = new SSEServerTransport("/messages", res);
  streams.set(stream.sessionId, stream);
  await emptyServer().connect(stream);
});
process.once("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  process.send!({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
