import { type Config, loadConfig, type Settings } from "../config.ts";
import { readRunningSettings } from "../runtime/embedded/mod.ts";

/**
 * Settings by which programs on this machine reach a platform. Those of a group go together: where the environment has one
 * of them, it says where that part is, and none is taken from what runs.
 */
const REACH: readonly (readonly (keyof Settings)[])[] = [
  ["SEALOOP_GATEWAY_URL", "SEALOOP_GATEWAY_PORT", "SEALOOP_TLS_CERT", "SEALOOP_TLS_KEY"],
  ["SEALOOP_LEDGER_URL", "SEALOOP_LEDGER_PORT"],
  ["SEALOOP_ENGINE_URL", "SEALOOP_ENGINE_PORT"],
  ["SEALOOP_POSTGRES_PORT"],
  ["SEALOOP_TEMPORAL_PORT"],
];

/** Returns the settings by which a platform with these settings is reached, as the environment would have them. */
export function reachSettings(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    REACH.flat().flatMap((name) =>
      settings[name] === undefined ? [] : [[name, `${settings[name]}`]]
    ),
  );
}

/**
 * Loads the configuration of a program that somebody runs beside a platform: where the environment doesn't say how that is
 * reached, it is the one that runs on the data folder.
 *
 * @throws {BadSetting}
 */
export function loadRunningConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const own = loadConfig(env);
  const running = readRunningSettings(own.dataDir);
  const taken = REACH.filter((group) => !group.some((name) => env[name] || env[`${name}_FILE`]))
    .flatMap((group) => group.filter((name) => running[name] !== undefined));
  if (taken.length === 0) return own;
  return loadConfig({ ...env, ...Object.fromEntries(taken.map((name) => [name, running[name]])) });
}
