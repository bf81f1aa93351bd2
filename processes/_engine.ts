import type { Config } from "../config.ts";
import { type Engine, openEngine, loadEngineSecret } from "../engine/mod.ts";

/** Opens the engine's client as the settings have it. */
export function openConfiguredEngine({ settings, dataDir }: Config): Engine {
  let secret: string | undefined;
  return openEngine({
    url: settings.SEALOOP_ENGINE_URL?.replace(/\/$/, "") ??
      `http://127.0.0.1:${settings.SEALOOP_ENGINE_PORT}`,
    secret: () => secret ??= settings.SEALOOP_ENGINE_SECRET ?? loadEngineSecret(dataDir),
  });
}
