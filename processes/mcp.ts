import { createToolServer } from "../mcp/mod.ts";
import { findInjection } from "../guard/mod.ts";
import { cancelTask, operations, sayInTask } from "../operations/mod.ts";
import { isLoopback, serve } from "../web/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";
import { createToolServerAuth, followResources } from "../calls/mod.ts";
import { watchTasks } from "../calls/tasks/mod.ts";

/** Serves the tool doors of all operations. */
async function startToolServer(parts: Parts): Promise<Running> {
  const { platform, invoke, shell, close } = await openPlatform(parts);
  const { settings } = parts.config;
  const tasks = await watchTasks(platform);
  const tools = createToolServer({
    operations,
    findInjection,
    invoke,
    auth: createToolServerAuth(platform),
    shell,
    limits: {
      perMinute: settings.SEALOOP_LIMIT_TOOLS,
      simulatePerMinute: settings.SEALOOP_LIMIT_SIMULATE,
    },
    loopback: isLoopback(settings.SEALOOP_BIND) && !settings.SEALOOP_TLS_PROXY,
    url: settings.SEALOOP_MCP_URL,
    a2a: { tasks, sendMessage: sayInTask, cancelTask },
    gatewayUrl: platform.urls.gateway,
  });
  const following = await followResources(platform, tools);
  const server = await serve(tools.app, settings, settings.SEALOOP_MCP_PORT);
  return {
    address: server.address,
    async stop() {
      await tools.close();
      await following.close();
      await server.close(STREAMS_ENDED_MS);
      await tasks.close();
      await close();
    },
  };
}

/** When the streams have ended, only answers of a moment are left. */
const STREAMS_ENDED_MS = 1_000;

await runProcess("mcp", startToolServer);
