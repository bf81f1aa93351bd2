/** A tool server in a process of its own, which tells its address, its keys and how much memory it holds. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { defineOperation } from "../contract/mod.ts";
import type { Platform } from "../operations/mod.ts";
import { startToolServer } from "../test/mcp/_tool_server.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const [keys, abandonedMs] = process.argv.slice(2).map(Number);

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
  extra: [echo],
  settings: { SEALOOP_LIMIT_TOOLS: "1000000000" },
  pace: { beatMs: 500, idleMs: 3600_000, abandonedMs: abandonedMs! },
});
const issued = await Promise.all(Array.from({ length: keys! }, () => server.key()));
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
