import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Config, Settings } from "../../config.ts";
import { parentOf, readJson } from "../../runtime/embedded/mod.ts";
import type { ServiceWithPorts } from "../../store/cmdb/mod.ts";
import { findManagedProcess } from "./managed.ts";
import { type HealthCheck, parseHostPort } from "./probe.ts";
import type { ListeningSocket } from "./sockets.ts";

/** A claim that a service of this host listens on a port. */
export interface PortClaim {
  readonly port: number;
  readonly service: string;
  /** Source of the claim: a setting of the platform, the `ports` of its entry in the services file, or its check. */
  readonly by: "setting" | "ports" | "http" | "tcp";
  /** Name of the setting; null: the claim comes from elsewhere. */
  readonly setting: string | null;
  /** Program that is expected to hold it; null: any. */
  readonly program: string | null;
  /** Process that is expected to hold it, itself or by a descendant; null: not known. */
  readonly pid: number | null;
}

/** A conflict over a port. */
interface PortConflict {
  readonly port: number;
  /** Two services claim it; another process than expected holds it; two programs listen, on different addresses. */
  readonly kind: "declared_twice" | "held_by_another" | "two_programs";
  /** One sentence, without addresses and process ids. */
  readonly detail: string;
}

/** A port that is claimed, or that a program listens on. */
export interface PortEntry {
  readonly port: number;
  readonly claims: readonly PortClaim[];
  readonly sockets: readonly ListeningSocket[];
  readonly conflicts: readonly PortConflict[];
}

/** Compares claims with the sockets that are open. @returns by port, ascending */
export function buildPortRegistry(
  claims: readonly PortClaim[],
  sockets: readonly ListeningSocket[],
): PortEntry[] {
  const ports = [...new Set([...claims, ...sockets].map(({ port }) => port))];
  return ports.sort((a, b) => a - b).map((port) => {
    const entry = {
      port,
      claims: claims.filter((claim) => claim.port === port),
      sockets: sockets.filter((socket) => socket.port === port),
    };
    return { ...entry, conflicts: findConflicts(entry) };
  });
}

function findConflicts({ port, claims, sockets }: Omit<PortEntry, "conflicts">): PortConflict[] {
  const conflicts: PortConflict[] = [];
  const rivals = claims.filter((claim) => claims.some((other) => areRivals(claim, other)));
  if (rivals.length > 0) {
    const names = unique(rivals.map(({ service }) => service)).join(" and ");
    const detail = `Port ${port} is declared for ${names}`;
    conflicts.push({ port, kind: "declared_twice", detail });
  }
  for (const claim of claims) {
    const other = sockets.find((socket) => contradicts(claim, socket));
    if (!other) continue;
    const who = other.program ?? "another program";
    const wanted = claim.program && claim.program !== other.program ? `, not ${claim.program}` : "";
    const detail = `Port ${port} is declared for ${claim.service}, but ${who} holds it${wanted}`;
    conflicts.push({ port, kind: "held_by_another", detail });
  }
  const programs = unique(sockets.flatMap(({ program }) => program ?? []));
  if (programs.length > 1) {
    const detail = `${programs.join(" and ")} both listen on port ${port}, on different addresses`;
    conflicts.push({ port, kind: "two_programs", detail });
  }
  return conflicts;
}

/** Returns whether two claims exclude each other. Several services may be checked through one web server. */
function areRivals(a: PortClaim, b: PortClaim): boolean {
  return a.service !== b.service && !(a.by === "http" && b.by === "http");
}

function contradicts({ program, pid }: PortClaim, socket: ListeningSocket): boolean {
  if (program !== null && socket.program !== undefined && socket.program !== program) return true;
  return pid !== null && socket.pid !== undefined && !descendsFrom(socket.pid, pid);
}

/** Returns whether a process is another one, or was started by it directly or not. */
function descendsFrom(pid: number, from: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = parentOf(at)) {
    if (at === from) return true;
  }
  return false;
}

const unique = <T>(items: readonly T[]) => [...new Set(items)];

/** A port of the platform itself. */
interface PlatformPort {
  readonly service: string;
  readonly setting: keyof Settings & `${string}_PORT`;
  /** Its name in the tree of processes. */
  readonly process: string;
  /** True: it is a server that only `npm start` starts. */
  readonly embedded?: true;
}

const PLATFORM_PORTS: readonly PlatformPort[] = [
  { service: "gateway", setting: "SEALOOP_GATEWAY_PORT", process: "gateway" },
  { service: "tool-server", setting: "SEALOOP_MCP_PORT", process: "mcp" },
  { service: "public-ledger", setting: "SEALOOP_LEDGER_PORT", process: "ledger" },
  { service: "engine", setting: "SEALOOP_ENGINE_PORT", process: "engine" },
  { service: "temporal", setting: "SEALOOP_TEMPORAL_PORT", process: "Temporal", embedded: true },
  {
    service: "temporal-ui",
    setting: "SEALOOP_TEMPORAL_UI_PORT",
    process: "Temporal",
    embedded: true,
  },
  {
    service: "postgresql",
    setting: "SEALOOP_POSTGRES_PORT",
    process: "PostgreSQL",
    embedded: true,
  },
];

/** Lists the claims of this host's services and of the platform's parts. */
export function listPortClaims(
  { settings, dataDir }: Pick<Config, "settings" | "dataDir">,
  services: readonly ServiceWithPorts[],
): PortClaim[] {
  const tree = platformTree(dataDir);
  const parts = PLATFORM_PORTS.flatMap(({ service, setting, process, embedded }): PortClaim[] => {
    const pid = tree.find(({ name }) => name === process)?.pid ?? null;
    if (embedded && pid === null) return [];
    return [{ port: settings[setting], service, by: "setting", setting, program: null, pid }];
  });
  const known = new Set(parts.map(({ service, port }) => `${service} ${port}`));
  const others = services.flatMap((service) => serviceClaims(dataDir, service))
    .filter(({ service, port }) => !known.has(`${service} ${port}`));
  return [...parts, ...others];
}

/** Returns a test whether one of the platform's own processes on this data folder holds a socket. */
export function createPlatformSocketTest(dataDir: string): (socket: ListeningSocket) => boolean {
  const tree = platformTree(dataDir);
  return ({ pid }) => pid !== undefined && tree.some((part) => descendsFrom(pid, part.pid));
}

/** Reads the list of the platform's own processes; empty where it was not started as one tree. */
function platformTree(dataDir: string): readonly { name: string; pid: number }[] {
  const run = readJson(join(dataDir, "run.json")) as
    | { processes: readonly { name: string; pid: number }[] }
    | undefined;
  return run?.processes ?? [];
}

function serviceClaims(
  dataDir: string,
  { name, host, check, ports }: ServiceWithPorts,
): PortClaim[] {
  const pid = findManagedProcess(dataDir, name)?.pid ?? null;
  const listed = isThisHost(host) ? ports : [];
  const claims = listed.map(({ port, program }): PortClaim => ({
    port,
    service: name,
    by: "ports",
    setting: null,
    program,
    pid,
  }));
  const checked = checkedPort(check as HealthCheck | null);
  return checked && !listed.some(({ port }) => port === checked.port)
    ? [...claims, { ...checked, service: name, setting: null, program: null, pid }]
    : claims;
}

/** Returns the host and the port of a URL; that of its scheme where it names none. */
export function hostPortOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const defaultPort = protocol === "https:" ? 443 : 80;
  return parseHostPort(`${hostname}:${port || defaultPort}`);
}

/** Returns the port of this host that a check connects to; undefined: it connects to none. */
function checkedPort(check: HealthCheck | null): Pick<PortClaim, "port" | "by"> | undefined {
  if (check === null || "command" in check) return undefined;
  const by = "http" in check ? "http" : "tcp";
  const { host, port } = "http" in check
    ? hostPortOf(new URL(check.http))
    : parseHostPort(check.tcp);
  return isThisHost(host) ? { port, by } : undefined;
}

/** Returns whether a name or an address is one of this host. */
export function isThisHost(host: string): boolean {
  if (host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)) return true;
  if (host.toLowerCase() === hostname().toLowerCase()) return true;
  return Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === host)
  );
}
