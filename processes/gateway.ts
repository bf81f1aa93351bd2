import { waitForModelCalls } from "../operations/models/use/mod.ts";
import { serve } from "../runtime/web/mod.ts";
import { createGatewayApp } from "./_gateway_app.ts";
import { keepDroppingCopies } from "./_dropped_copies.ts";
import { openPlatform } from "./_platform.ts";
import { type PresentParts, type RunningProcess, runProcess } from "./_process.ts";
import { followReadFiles } from "./_settings_files.ts";
import { requireSharedSecrets } from "./_shared_secrets.ts";
import { waitForDatabase } from "./_wait_for_database.ts";

/** Milliseconds after which calls that still wait are answered with how it stands: two before the server cuts them off. */
const LAST_ANSWERS_MS = 5_000;
/** Milliseconds that model calls have which the server has cut off. */
const SETTLE_MS = 1_500;

await runProcess("gateway", startGateway);

/** Serves the operations over REST. */
async function startGateway(parts: PresentParts): Promise<RunningProcess> {
  parts.presence.begin("gateway", { role: "gateway", url: parts.databaseUrl("gateway") });
  await waitForDatabase(parts, "gateway");
  const open = await openPlatform(parts, "gateway");
  const { config, store } = open.platform;
  const files = await followReadFiles({ config, store, log: parts.log }, { puts: false });
  await requireSharedSecrets(open.platform.store, parts.config, ["engine", "webhooks"]);
  const copies = keepDroppingCopies(parts.config, parts.log);
  const { settings } = parts.config;
  const server = await serve(createGatewayApp(open), settings, settings.SEALOOP_GATEWAY_PORT);
  return {
    address: server.address,
    retire: server.retire,
    async stop() {
      copies.stop();
      for (const file of files) file.stop();
      // What waits for news would end at the server's timeout.
      const { feed, devices } = open.platform;
      const waits = Promise.all([feed.close(), devices.close()]);
      const late = setTimeout(open.endWaits, LAST_ANSWERS_MS);
      await server.close();
      clearTimeout(late);
      await waits;
      await waitForModelCalls(SETTLE_MS);
      await open.close();
    },
  };
}
