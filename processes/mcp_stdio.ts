import { loadConfig } from "../config.ts";
import { databaseOf } from "../embedded/mod.ts";
import { serveStdio } from "../mcp/mod.ts";
import { findInjection } from "../engine/mod.ts";
import { createEntrance, followResources, operations } from "../operations/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";

/** Serves the tool doors of all operations to the one client that started this process. */
async function startStdio(parts: Parts): Promise<Running> {
  const { platform, invoke, close } = await openPlatform(parts);
  const client = await serveStdio({
    operations,
    findInjection,
    invoke,
    entrance: createEntrance(platform),
    log: parts.log,
    key: parts.config.settings.SEALOOP_MCP_KEY,
    left: () => process.kill(process.pid, "SIGTERM"),
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

useLocalDatabase();
await runProcess("mcp-stdio", startStdio, "client");

/** Where the settings name no database, that of a platform that `npm start` runs on this machine. */
function useLocalDatabase(): void {
  const { DATABASE_URL, SEALOOP_DATABASE_APP_URL } = process.env;
  if (DATABASE_URL || SEALOOP_DATABASE_APP_URL) return;
  try {
    const { settings, dataDir } = loadConfig(process.env);
    process.env.SEALOOP_DATABASE_APP_URL = databaseOf(
      dataDir,
      settings.SEALOOP_POSTGRES_PORT,
      "app",
    );
  } catch {
    // what is wrong with the settings is said where they are read to be used
  }
}
