import type { Settings } from "../../config.ts";
import type { Supervisor } from "./_supervisor.ts";
import type { WantedPort } from "./ports.ts";
import { usesOwnTemporal } from "./process_list.ts";

/** Names of the settings that are ports. */
type PortSetting = Extract<keyof Settings, `SEALOOP_${string}_PORT`>;

/** Lists the ports that the platform is about to listen on. */
export function listWantedPorts({ config: { settings }, env }: Supervisor): WantedPort[] {
  const local = "127.0.0.1";
  const port = (
    title: string,
    setting: PortSetting,
    address: string,
    alternative?: string,
  ) => ({ title, setting, port: settings[setting], address, alternative });
  const ports = [
    port("Gateway", "SEALOOP_GATEWAY_PORT", settings.SEALOOP_BIND),
    port("Tool server", "SEALOOP_MCP_PORT", settings.SEALOOP_BIND),
    port("Ledger", "SEALOOP_LEDGER_PORT", settings.SEALOOP_BIND),
  ];
  ports.push(port("Mail", "SEALOOP_MAIL_PORT", local));
  if (!settings.SEALOOP_ENGINE_URL) {
    const alternative = "or SEALOOP_ENGINE_URL to use one elsewhere";
    ports.push(port("Engine", "SEALOOP_ENGINE_PORT", local, alternative));
  }
  if (!settings.DATABASE_URL) {
    const alternative = "or DATABASE_URL to use that server";
    ports.push(port("PostgreSQL", "SEALOOP_POSTGRES_PORT", local, alternative));
  }
  if (!usesOwnTemporal(env)) {
    const alternative = "or TEMPORAL_ADDRESS to use that server";
    ports.push(port("Temporal", "SEALOOP_TEMPORAL_PORT", local, alternative));
    ports.push(port("Temporal UI", "SEALOOP_TEMPORAL_UI_PORT", local));
  }
  return ports;
}
