import { bindSchemas, createRestApp } from "../api/mod.ts";
import { operations } from "../operations/mod.ts";
import { serve } from "../web/mod.ts";
import { openPlatform } from "./_platform.ts";
import { type Parts, type Running, runProcess } from "./_process.ts";
import { SCHEMAS } from "./_schemas.ts";

await runProcess("gateway", startGateway);

/** Serves the REST doors of all operations. */
async function startGateway(parts: Parts): Promise<Running> {
  const { invoke, shell, close } = await openPlatform(parts);
  const info = {
    title: "sealoop gateway",
    description:
      "IT operations whose every act is durable and provable. Keys go in the header x-api-key. A key's call that " +
      "changes something is decided by governance before it runs: where people are asked first, it answers 202, and " +
      "with the header x-dry-run: true it only tells what would be decided, with status 200 in the form of that 202.",
  };
  const app = createRestApp({
    ...{ operations, invoke, shell, info },
    routes: (router) => bindSchemas(router, SCHEMAS),
  });
  const { settings } = parts.config;
  const server = await serve(app, settings, settings.SEALOOP_GATEWAY_PORT);
  return {
    address: server.address,
    async stop() {
      await server.close();
      await close();
    },
  };
}
