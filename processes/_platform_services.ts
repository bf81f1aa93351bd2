import type { Config } from "../config.ts";
import type { ServiceRecord } from "../store/mod.ts";

/**
 * The platform's own parts as services: they are watched like any other. Nothing is listed for repairing them, as what
 * started them starts them again.
 */
export function platformServices({ settings }: Config): ServiceRecord[] {
  const local = (port: number, path: string) => ({ http: `http://127.0.0.1:${port}${path}` });
  const part = (name: string, check: unknown, dependsOn: string[] = []): ServiceRecord => ({
    name,
    type: "platform",
    host: "localhost",
    owner: "sealoop",
    origin: "platform",
    check,
    restart: null,
    watched: check !== null,
    dependsOn,
  });
  const plain = settings.SEALOOP_TLS_CERT === undefined; // with our own certificate a name must match: not probed
  const embeddedDatabase = settings.DATABASE_URL === undefined;
  return [
    part(
      "postgresql",
      embeddedDatabase ? { tcp: `127.0.0.1:${settings.SEALOOP_POSTGRES_PORT}` } : null,
    ),
    part("temporal", {
      tcp: process.env.TEMPORAL_ADDRESS ?? `127.0.0.1:${settings.SEALOOP_TEMPORAL_PORT}`,
    }),
    part("worker", null, ["postgresql", "temporal"]),
    part("gateway", plain ? local(settings.SEALOOP_GATEWAY_PORT, "/v1/health") : null, [
      "postgresql",
      "temporal",
    ]),
    part("tool-server", plain ? local(settings.SEALOOP_MCP_PORT, "/health") : null, [
      "postgresql",
      "temporal",
    ]),
    part(
      "public-ledger",
      plain ? local(settings.SEALOOP_LEDGER_PORT, "/api/how-to-verify") : null,
      ["postgresql"],
    ),
  ];
}
