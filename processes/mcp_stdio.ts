import { serveStdio } from "../mcp/mod.ts";
import { findInjection } from "../guard/mod.ts";
import { operations } from "../operations/mod.ts";
import { appDatabase } from "./_local_database.ts";
import { openPlatform } from "./_platform.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";
import { createToolServerAuth, followResources } from "../calls/mod.ts";

/** Serves the tool doors of all operations to the one client that started this process. */
async function startStdio(parts: Parts): Promise<Running> {
  const { platform, invoke, close } = await openPlatform({
    ...parts,
    databaseUrl: () => appDatabase(parts.config),
  });
  const client = await serveStdio({
    operations,
    findInjection,
    invoke,
    auth: createToolServerAuth(platform),
    log: parts.log,
    key: parts.config.settings.SEALOOP_MCP_KEY,
    onDisconnect: () => process.kill(process.pid, "SIGTERM"),
  });
  const following = await followResources(platform, client);
  return {
    async stop() {
      await client.close();
      await following.close();
      await close();
    },
  };
}

await runProcess("mcp-stdio", startStdio, "client");
