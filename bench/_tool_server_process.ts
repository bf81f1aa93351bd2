/**
 * A tool server in a process of its own, which tells its address, its keys and how much memory it holds:
 * `_tool_server_process.ts <database> <keys> <ms until sessions are abandoned>`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { defineOperation } from "../contract/mod.ts";
import { startToolServer } from "../test/mcp/_tool_server.ts";
import { emptyTool } from "./_empty_tool.ts";
import type { Platform } from "../calls/mod.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const [database, keys = "1", abandonedMs = "1800000"] = process.argv.slice(2) as [string];

const echo = defineOperation<Platform>()({
  name: "bench.echo",
  group: "bench",
  summary: "Say it again",
  effect: "read",
  access: "key",
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  tool: { echo: ["full"] },
  example: { input: { text: "a" }, output: { text: "a" } },
  run: ({ text }) => Promise.resolve({ text }),
});

const server = await startToolServer({
  on: JSON.parse(database),
  extra: [echo, emptyTool("read"), emptyTool("write")],
  settings: { SEALOOP_LIMIT_TOOLS: "1000000000" },
  timing: { heartbeatMs: 500, sseIdleMs: 3600_000, httpIdleMs: Number(abandonedMs) },
});
const issued = await Promise.all(Array.from({ length: Number(keys) }, () => server.key()));
process.on("message", () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.send!({ bytes: heapUsed + external });
});
process.once("disconnect", async () => {
  await server.stop();
  process.exit(0);
});
process.send!({ address: server.url, keys: issued.map(({ key }) => key) });
