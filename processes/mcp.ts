import { createToolServer } from "../mcp/mod.ts";
import { admission, authentication, operations } from "../operations/mod.ts";
import { serve } from "../web/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";

/** Calls of the attack simulation a minute; it is the contract's. */
const SIMULATE_PER_MINUTE = 10;

/** Serves the tool doors of all operations. */
async function startToolServer(parts: Parts): Promise<Running> {
  const { platform, invoke, shell, close } = await openPlatform(parts);
  const { settings } = parts.config;
  const authenticate = authentication(platform.keyring);
  const admit = admission(platform.meter, settings);
  const { app, closeSessions } = createToolServer({
    operations,
    invoke,
    shell,
    authenticate: (credential, address) => authenticate({ credential, address }),
    admit: async (caller) => {
      await admit({}, caller, "mcp");
    },
    limits: { tools: settings.SEALOOP_LIMIT_TOOLS, simulate: SIMULATE_PER_MINUTE },
  });
  const server = await serve(app, settings, settings.SEALOOP_MCP_PORT);
  return {
    address: server.address,
    async stop() {
      await closeSessions();
      await server.close();
      await close();
    },
  };
}

await runProcess("mcp", startToolServer);
