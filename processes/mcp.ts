import { serve } from "../runtime/web/mod.ts";
import { keepDroppingCopies } from "./_dropped_copies.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { openToolServer } from "./_tool_server.ts";
import { followReadFiles } from "./_settings_files.ts";
import { requireSharedSecrets } from "./_shared_secrets.ts";
import { waitForDatabase } from "./_wait_for_database.ts";

/** The streams have ended by then; only short answers are left. */
const CLOSE_TIMEOUT_MS = 1_000;

await runProcess("mcp", startToolServer);

/** Serves the operations as tools over HTTP. */
async function startToolServer(parts: PresentParts): Promise<RunningProcess> {
  parts.presence.begin("mcp", { role: "tools", url: parts.databaseUrl("tools") });
  await waitForDatabase(parts, "tools");
  const open = await openPlatform(parts, "tools");
  await requireSharedSecrets(open.platform.store, parts.config, ["engine", "webhooks"]);
  const { config, store } = open.platform;
  const files = await followReadFiles({ config, store, log: parts.log }, { puts: false });
  const copies = keepDroppingCopies(parts.config, parts.log);
  const { settings } = parts.config;
  const tools = await openToolServer(open);
  const server = await serve(tools.app, settings, settings.SEALOOP_MCP_PORT);
  return {
    address: server.address,
    retire: server.retire,
    async stop() {
      copies.stop();
      for (const file of files) file.stop();
      await tools.drain();
      await server.close(CLOSE_TIMEOUT_MS);
      await tools.close();
      await open.close();
    },
  };
}
