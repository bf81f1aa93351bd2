/**
 * A tool server in a process of its own: `_tool_server_program.ts <database> <keys> <ms until a session is abandoned>`,
 * until it is disconnected. It tells its address and keys, and answers every message with the memory that it uses.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startToolServer } from "../test/mcp/_tool_server.ts";
import { echoTool, emptyTool } from "./_bench_tools.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const [database, keyCount = "1", abandonedMs = "1800000"] = process.argv.slice(2) as [string];

const server = await startToolServer({
  on: JSON.parse(database),
  extra: [echoTool, emptyTool("read"), emptyTool("write")],
  settings: { SEALOOP_LIMIT_TOOLS: "1000000000" },
  timing: { heartbeatMs: 500, sseIdleMs: 3_600_000, httpIdleMs: Number(abandonedMs) },
});
const keys = await Promise.all(Array.from({ length: Number(keyCount) }, () => server.key()));
process.on("message", () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  process.send!({ bytes: heapUsed + external });
});
process.once("disconnect", async () => {
  await server.stop();
  process.exit(0);
});
process.send!({ address: server.url, keys: keys.map(({ key }) => key) });
