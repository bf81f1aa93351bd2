import { z } from "zod";
import { ANY_PLACE, PlaceName, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { BadFile, type Mistake, readYamlFile } from "../../integrations/files/mod.ts";
import { placeMistake, type Placing } from "./_places_of_entries.ts";
import { type DeclaredPort, type Dependency, EDGE_KINDS } from "../../store/cmdb/mod.ts";

const Argv = z.array(z.string().min(1)).min(1);
const Check = z.union([
  z.strictObject({ http: z.url({ protocol: /^https?$/ }) }),
  z.strictObject({
    tcp: z.string().regex(/^.+:\d{1,5}$/, "Expected host:port")
      .refine(hasPort, "Expected a port from 1 to 65535"),
  }),
  z.strictObject({ command: Argv }),
]);
const Process = z.strictObject({
  command: Argv,
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const Restart = z.union([z.strictObject({ command: Argv }), z.strictObject({ process: Process })]);
const Name = z.string().regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  "Expected letters, digits and . _ -",
);
const DependsOn = z.union([
  z.string(),
  z.strictObject({ service: z.string(), kind: z.enum(EDGE_KINDS).default("depends_on") }),
]).transform((entry): Dependency =>
  typeof entry === "string" ? { service: entry, kind: "depends_on" } : entry
);
const PortNumber = z.number().int().min(1).max(65535);
const Port = z.union([
  PortNumber,
  z.strictObject({ port: PortNumber, program: z.string().min(1).optional() }),
]).transform((entry): DeclaredPort =>
  typeof entry === "number"
    ? { port: entry, program: null }
    : { port: entry.port, program: entry.program ?? null }
);
const Service = z.strictObject({
  name: Name.describe("Unique; what others depend on it by"),
  tenant: z.string().trim().min(1).max(200).default(PLATFORM_TENANT)
    .describe("Whose it is: that tenant's keys alone see it, its findings and its tickets"),
  type: z.string().min(1).max(100).default("service")
    .describe("What it is: web, database, queue, host, …"),
  host: z.string().min(1).max(255).default("localhost").describe("Machine that it is on"),
  place: z.union([z.literal(ANY_PLACE), PlaceName]).optional().describe(
    "Place whose workers look at it and repair it; any: each may, for public addresses; absent: the place that host names, else the one of this file",
  ),
  owner: z.string().min(1).max(200).optional().describe("Who answers for it"),
  public: z.string().trim().min(1).max(60).optional().describe(
    "Name on the public status page, with its uptime and incidents, for ever; absent: private",
  ),
  depends_on: z.array(DependsOn).default([])
    .describe("What it needs: names, or {service, kind} with the kind of the edge"),
  ports: z.array(Port).default([])
    .describe("TCP ports it listens on, besides that of its check; program: who is to hold it"),
  check: Check.optional().describe("How its health is looked at: one of http, tcp, command"),
  restart: Restart.optional()
    .describe("How it is restarted: a command, or a process that sealoop runs itself"),
  on_stop: z.enum(["keep", "stop"]).optional().describe(
    "What becomes of its process when sealoop is stopped: keep leaves it running, which is the default; stop stops it, and the next start brings it back",
  ),
  runbook: z.string().min(1).max(100).optional().describe("Id of its own runbook"),
  runbook_values: z.record(
    z.string().regex(/^[a-z][a-z_]{0,30}$/),
    z.union([z.string(), z.number(), z.array(z.string())]),
  ).optional().describe("Values for the parameters of runbooks, such as {unit: billing.service}"),
});
const File = z.strictObject({
  services: z.array(Service).default([]).describe("The services to know and to watch"),
});

/** Returns the JSON Schema of the file, for editors. Duplicate and unknown names are found only by reading it. */
export function servicesFileSchema(): Readonly<Record<string, unknown>> {
  return { title: "The services file of sealoop", ...z.toJSONSchema(File, { io: "input" }) };
}

/** A service, as in the file. */
export type ServiceEntry = z.output<typeof Service>;

/** The services file is wrong; each message begins with the line. */
export class BadServicesFile extends BadFile {
  override readonly name = "BadServicesFile";
}

/**
 * Reads the file of the services to watch.
 *
 * @param path a missing file has no services
 * @param known names that `depends_on` may use besides those of the file
 * @param placing places that there are; absent: this one alone
 * @throws {BadServicesFile} names the line, what is wrong, and what would be right
 */
export function readServicesFile(
  path: string,
  known: readonly string[] = [],
  placing?: Placing,
): ServiceEntry[] {
  const read = readYamlFile(path, File, explain);
  const fail = (mistakes: readonly Mistake[]): never => {
    throw new BadServicesFile(mistakes, path);
  };
  if ("mistakes" in read) return fail(read.mistakes);
  const { services } = read.value;
  const mistakes = [...checkServices(services, known), ...checkPlaces(services, placing)]
    .map(([at, text]) => ({ ...read.placeOf(at), text }));
  return mistakes.length > 0 ? fail(mistakes) : services;
}

function explain(issue: z.core.$ZodIssue): string | undefined {
  const field = issue.path.findLast((part) => typeof part === "string");
  if (issue.code === "invalid_union") {
    if (field === "check") return "expected {http: url}, {tcp: host:port} or {command: [argv]}";
    if (field === "restart") return "expected {command: [argv]} or {process: {command: [argv]}}";
    if (field === "depends_on") {
      return `expected a name, or {service, kind} with kind ${EDGE_KINDS.join(", ")}`;
    }
    if (field === "ports") return "expected a port from 1 to 65535, or {port, program}";
  }
  if (issue.code === "invalid_value" && field === "on_stop") return "expected keep or stop";
  if (issue.code === "invalid_value" && field === "kind") {
    return `expected kind ${EDGE_KINDS.join(", ")}`;
  }
  return undefined;
}

function checkPlaces(
  services: readonly ServiceEntry[],
  placing: Placing | undefined,
): ServiceMistake[] {
  if (!placing) return [];
  return services.flatMap((service, i): ServiceMistake[] => {
    const text = placeMistake(service, placing);
    return text === undefined ? [] : [[["services", i, "name"], text]];
  });
}

type ServiceMistake = [at: PropertyKey[], text: string];

/** Finds duplicate and unknown names and an `on_stop` without a process, which the schema can't find. */
function checkServices(
  services: readonly ServiceEntry[],
  known: readonly string[],
): ServiceMistake[] {
  const first = new Map<string, number>();
  services.forEach(({ name }, i) => first.has(name) || first.set(name, i));
  const all = new Set([...first.keys(), ...known]);
  const tenantOf = (name: string) => services[first.get(name) ?? -1]?.tenant ?? PLATFORM_TENANT;
  return services.flatMap((service, i) => {
    const { name, tenant, depends_on, restart, on_stop, check } = service;
    const mistakes: ServiceMistake[] = [];
    if (service.public !== undefined && !check) {
      mistakes.push([
        ["services", i, "public"],
        `nothing looks at ${name}; a public one needs a check`,
      ]);
    }
    if (on_stop !== undefined && !(restart && "process" in restart)) {
      mistakes.push([
        ["services", i, "on_stop"],
        "on_stop is for processes that sealoop runs; expected restart: {process: {command: [argv]}}",
      ]);
    }
    if (first.get(name) !== i || known.includes(name)) {
      mistakes.push([["services", i, "name"], `there is another service named ${name}`]);
    }
    depends_on.forEach(({ service }, j) => {
      const at = ["services", i, "depends_on", j];
      if (service === name) mistakes.push([at, `${name} can't depend on itself`]);
      else if (!all.has(service) || tenantOf(service) !== tenant) {
        mistakes.push([at, `there is no service named ${service}${ofTenant(tenant)}`]);
      }
    });
    return mistakes;
  });
}

const ofTenant = (tenant: string) => tenant === PLATFORM_TENANT ? "" : ` of ${tenant}`;

/** Returns whether `host:port` has a port in range. */
function hasPort(address: string): boolean {
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  return port >= 1 && port <= 65535;
}
