import {
  bindArticles,
  bindCalendarFeed,
  bindMailLinks,
  bindMediaFiles,
  bindSchemas,
  createRestApp,
} from "../api/mod.ts";
import { waitForModelCalls } from "../operations/models/use/mod.ts";
import { operations } from "../operations/mod.ts";
import { serve } from "../runtime/web/mod.ts";
import { GATEWAY_INFO } from "./_gateway_info.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { SCHEMAS } from "./_schemas.ts";
import { waitForDatabase } from "./_wait_for_database.ts";

/** Milliseconds that model calls have which the server has cut off. */
const SETTLE_MS = 1_500;

await runProcess("gateway", startGateway);

/** Serves the operations over REST. */
async function startGateway(parts: PresentParts): Promise<RunningProcess> {
  parts.presence.begin("gateway", { role: "gateway", url: parts.databaseUrl("gateway") });
  await waitForDatabase(parts, "gateway");
  const { platform, invoke, http, close } = await openPlatform(parts, "gateway");
  const { settings } = parts.config;
  const app = createRestApp({
    operations,
    invoke,
    http,
    info: GATEWAY_INFO,
    routes(router) {
      bindSchemas(router, SCHEMAS);
      bindMailLinks(router, platform);
      bindCalendarFeed(router, platform);
      bindArticles(router, platform);
      bindMediaFiles(router, platform);
    },
  });
  const server = await serve(app, settings, settings.SEALOOP_GATEWAY_PORT);
  return {
    address: server.address,
    async stop() {
      // What waits for news would end at the server's timeout.
      const waits = Promise.all([platform.feed.close(), platform.devices.close()]);
      await server.close();
      await waits;
      await waitForModelCalls(SETTLE_MS);
      await close();
    },
  };
}
