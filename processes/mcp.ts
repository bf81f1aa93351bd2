import { createToolServerAuth, followResources } from "../calls/mod.ts";
import { watchTasks } from "../operations/a2a/tasks/mod.ts";
import { findInjection } from "../judgement/guard/mod.ts";
import { createToolServer } from "../mcp/mod.ts";
import { cancelTask, operations, sendMessage } from "../operations/mod.ts";
import { requireReady } from "../store/mod.ts";
import { serve } from "../runtime/web/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { waitForDatabase } from "./_wait_for_database.ts";

/** The streams have ended by then; only short answers are left. */
const CLOSE_TIMEOUT_MS = 1_000;

await runProcess("mcp", startToolServer);

/** Serves the operations as tools over HTTP. */
async function startToolServer(parts: PresentParts): Promise<RunningProcess> {
  parts.presence.begin("mcp", { role: "tools", url: parts.databaseUrl("tools") });
  await waitForDatabase(parts, "tools");
  const { platform, invoke, http, close } = await openPlatform(parts, "tools");
  const { settings } = parts.config;
  const tasks = await watchTasks(platform);
  const tools = createToolServer({
    operations,
    checkReady: () => requireReady(platform.store),
    findInjection,
    invoke,
    auth: createToolServerAuth(platform),
    http,
    limits: {
      perMinute: settings.SEALOOP_LIMIT_TOOLS,
      simulatePerMinute: settings.SEALOOP_LIMIT_SIMULATE,
    },
    url: settings.SEALOOP_MCP_URL,
    a2a: { tasks, sendMessage, cancelTask },
    gatewayUrl: platform.urls.gateway,
  });
  const resources = await followResources(platform, tools);
  const server = await serve(tools.app, settings, settings.SEALOOP_MCP_PORT);
  return {
    address: server.address,
    async stop() {
      await tools.close();
      await resources.close();
      await server.close(CLOSE_TIMEOUT_MS);
      await tasks.close();
      await close();
    },
  };
}
