import { createToolServerAuth, followResources } from "../calls/mod.ts";
import { serveStdio } from "../mcp/mod.ts";
import { operations } from "../operations/mod.ts";
import type { Role } from "../store/mod.ts";
import { localDatabaseUrl } from "./_local_database.ts";
import { safeMakerOf } from "./_make_safe.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { followReadFiles } from "./_settings_files.ts";

await runProcess("mcp-stdio", startStdio, "client");

/** Serves the operations as tools to the client that started this process, over standard input and output. */
async function startStdio(parts: PresentParts): Promise<RunningProcess> {
  const databaseUrl = (role: Role) => localDatabaseUrl(parts.config, role);
  parts.presence.begin("mcp-stdio", { role: "tools", url: databaseUrl("tools") });
  const { platform, invoke, close } = await openPlatform({ ...parts, databaseUrl }, "tools");
  const { config, store } = platform;
  const files = await followReadFiles({ config, store, log: parts.log }, { puts: false });
  const tools = await serveStdio({
    operations,
    makeSafe: safeMakerOf(platform),
    invoke,
    auth: createToolServerAuth(platform),
    log: parts.log,
    key: parts.config.settings.SEALOOP_MCP_KEY,
    onDisconnect: () => process.kill(process.pid, "SIGTERM"),
  });
  const resources = await followResources(platform, tools);
  return {
    async stop() {
      for (const file of files) file.stop();
      await tools.close();
      await resources.close();
      await close();
    },
  };
}
