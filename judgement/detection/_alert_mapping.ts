/** Alerts by the faults that they are about: one fault for all alerts about a service, or about a resource of a host. */
import { escapeInvisible } from "../../contract/mod.ts";
import { PLATFORM_TENANT, type Severity, worse } from "../../contract/domain/mod.ts";
import type { Alert } from "../../integrations/alerts/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { fingerprintFault } from "../../store/mod.ts";
import { listOwnSilences } from "../../store/incidents/mod.ts";
import { listDeclaredServices } from "../../store/cmdb/mod.ts";
import { type AlertRule, findRule, labelOf, mapAlert } from "./_alert_rules.ts";
import { LOCAL_HOSTS } from "./_local_hosts.ts";
import type { DetectionContext } from "./detector.ts";
import { createServiceFinding } from "./findings.ts";

/** A fault that alerts report. */
export interface AlertFault {
  readonly detector: "service_probes" | "host_resources";
  readonly fingerprint: string;
  /** Null: about a host, or nobody knows. */
  readonly service: string | null;
  readonly host: string | null;
  readonly code: string;
  readonly severity: Severity;
  /** A disk's path; undefined: it is about none. */
  readonly path?: string | undefined;
  /** Without those that people have silenced, and those that others explain. */
  readonly firing: readonly Alert[];
  /** All of them. */
  readonly alerts: readonly Alert[];
}

/** Alerts of an Alertmanager, and the faults that they report. */
export interface AlertReading {
  /** All alerts, of whoever they are. */
  readonly alerts: readonly Alert[];
  readonly faults: readonly AlertFault[];
}

/** The fault that one alert is about. */
type Fault = Omit<AlertFault, "firing" | "alerts">;
/** A fault while its alerts are gathered. */
type GrowingFault = Fault & { readonly firing: Alert[]; readonly alerts: Alert[] };

/** Code of an alert that no rule maps to something that is known. */
export const UNMAPPED = "alert_unmapped";
/** Names of unmapped alerts that are a fault each. All others together are one. */
const MAX_UNMAPPED = 25;
const MAX_NAME = 80;
const MAX_SERVICE_NAME = 100;

/** Returns whether alerts may report faults of the context's tenant. */
export function mayHaveAlerts(
  { store: { tenant }, settings: { alerts: { rules } } }: DetectionContext,
): boolean {
  return tenant === PLATFORM_TENANT || rules.some((rule) => rule.tenant === tenant);
}

/**
 * Reads the alerts, and returns the faults of the context's tenant that they report.
 *
 * @param age `now`, or `recent`: as the sweeps of other tenants have just read them
 * @throws {RemoteFailed}
 */
export async function readAlertFaults(
  context: DetectionContext,
  age: "now" | "recent",
): Promise<AlertReading> {
  const { store, alerts: source, settings: { alerts: { rules } } } = context;
  if (!source) return { alerts: [], faults: [] };
  const alerts = await (age === "now" ? source.list() : source.listRecent());
  const mapped = alerts.flatMap((alert) => {
    const rule = findRule(alert, rules);
    const { tenant, ignore } = rule ?? { tenant: PLATFORM_TENANT };
    return tenant === store.tenant && !ignore ? [{ alert, rule }] : [];
  });
  const [services, own] = await Promise.all([
    readServices(context, mapped),
    mapped.some(({ alert }) => alert.silencedBy.length > 0)
      ? listOwnSilences(store.db)
      : new Set<string>(),
  ]);
  const faults = new Map<string, GrowingFault>();
  const unmapped: Alert[] = [];
  for (const { alert, rule } of mapped) {
    const fault = rule && await faultOf(context, alert, rule, services);
    if (fault) addAlert(faults, fault, alert, own);
    else unmapped.push(alert);
  }
  const names = [...new Set(unmapped.map(nameOfAlert))].sort().slice(0, MAX_UNMAPPED);
  const others = await unmappedFault(context, "*");
  const byName = new Map<string, Fault>();
  for (const name of names) byName.set(name, await unmappedFault(context, name));
  for (const alert of unmapped) {
    addAlert(faults, byName.get(nameOfAlert(alert)) ?? others, alert, own);
  }
  return { alerts, faults: [...faults.values()] };
}

/** Returns an alert's name, for sentences: nothing but letters, digits and a few signs of it. */
export function nameOfAlert({ labels }: Pick<Alert, "labels">): string {
  const name = labelOf(labels, "alertname").slice(0, MAX_NAME).replace(/[^\w:.-]/g, "_");
  return name === "" ? "an alert without a name" : name;
}

/** Lists an alert's labels for people: short, and with nothing that can't be seen. */
export function describeLabels({ labels }: Pick<Alert, "labels">): string {
  const shown = Object.entries(labels)
    .filter(([name]) => name !== "alertname" && name !== "severity").slice(0, 4)
    .map(([name, value]) => `${name.slice(0, 40)}=${value.slice(0, 60)}`);
  return escapeInvisible(shown.join(", ").toWellFormed()).replace(/\s+/g, " ");
}

type Mapped = readonly { readonly alert: Alert; readonly rule: AlertRule | undefined }[];
type Services = ReadonlyMap<string, Pick<Service, "name" | "check" | "host">>;

/** Reads those services of the file that rules and labels name. */
async function readServices({ store }: DetectionContext, mapped: Mapped): Promise<Services> {
  const names = mapped.flatMap(({ alert, rule }) =>
    (rule && mapAlert(alert, rule)?.place.service) ?? []
  ).filter((name) => name.length <= MAX_SERVICE_NAME && !name.includes("\0"));
  if (names.length === 0) return new Map();
  const services = await listDeclaredServices(store.db, [...new Set(names)]);
  return new Map(
    services.map((one) => [one.name, one as Pick<Service, "name" | "check" | "host">]),
  );
}

/** @returns undefined: what it is mapped to does not exist */
async function faultOf(
  { store, host: thisHost }: DetectionContext,
  alert: Alert,
  rule: AlertRule,
  services: Services,
): Promise<Fault | undefined> {
  const mapped = mapAlert(alert, rule);
  if (!mapped) return undefined;
  const { place, code, severity } = mapped;
  const service = place.service === null ? null : services.get(place.service);
  if (service === undefined) return undefined;
  if (place.kind === "host") {
    const host = LOCAL_HOSTS.has(place.host) ? thisHost : place.host;
    const aspect = code.replace(/_.*/, "");
    const name = place.path ?? aspect;
    const fingerprint = await fingerprintFault(store, "host_resources", host, aspect, name);
    const { path } = place;
    const about = { service: service?.name ?? null, host, path };
    return { detector: "host_resources", fingerprint, ...about, code, severity };
  }
  const fingerprint = await fingerprintOf(store, service!, code);
  const host = LOCAL_HOSTS.has(service!.host) ? thisHost : service!.host;
  return { detector: "service_probes", fingerprint, service: service!.name, host, code, severity };
}

/** Returns the fingerprint that the same fault has for the service's own check, if it has one. */
async function fingerprintOf(
  store: DetectionContext["store"],
  service: Pick<Service, "name" | "check">,
  code: string,
): Promise<string> {
  if (!service.check) return await fingerprintFault(store, service.name, "alert");
  return (await createServiceFinding(store, service as Service, code)).fingerprint;
}

/** Returns the fault that people are told of, as no rule names what an alert is about. */
async function unmappedFault({ store }: DetectionContext, name: string): Promise<Fault> {
  return {
    detector: "service_probes",
    fingerprint: await fingerprintFault(store, "alert", "unmapped", name),
    service: null,
    host: null,
    code: UNMAPPED,
    severity: "medium",
  };
}

function addAlert(
  faults: Map<string, GrowingFault>,
  fault: Fault,
  alert: Alert,
  ownSilences: ReadonlySet<string>,
): void {
  const isQuiet = alert.isInhibited || alert.silencedBy.some((id) => !ownSilences.has(id));
  const before = faults.get(fault.fingerprint) ?? { ...fault, firing: [], alerts: [] };
  const { firing, alerts } = before;
  alerts.push(alert);
  if (!isQuiet) firing.push(alert);
  const isWorse = worse(before.severity, fault.severity) !== before.severity;
  faults.set(fault.fingerprint, isWorse ? { ...fault, firing, alerts } : before);
}
