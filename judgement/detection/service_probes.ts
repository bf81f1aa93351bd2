import { setTimeout as sleep } from "node:timers/promises";
import { FLAPPING, say, type Text } from "../../contract/domain/mod.ts";
import { checkKind, probe, type ProbeResult, type Service } from "../../integrations/host/mod.ts";
import {
  getProbeHistories,
  type NewProbeHistory,
  type ProbeHistory,
  putProbeHistories,
} from "../../store/incidents/mod.ts";
import {
  getService,
  listWatchedServices,
  recordObservations,
  recordProbeResults,
} from "../../store/cmdb/mod.ts";
import { LOCAL_HOSTS } from "./_local_hosts.ts";
import { findAlertFaults, joinAlertFaults } from "./alert_faults.ts";
import { findDeviceFaults } from "./device_faults.ts";
import { deviationOf, judgeHistory, type ProbeMarks, type ServiceState } from "./_history.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  type FaultId,
  type RecheckResult,
  type RecheckTime,
  untilDeadline,
} from "./detector.ts";
import { sealObservations } from "./public_services.ts";
import { createServiceFinding } from "./findings.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["service_probes"];

/** A probed service. */
interface ProbedService {
  readonly service: Service;
  readonly result: ProbeResult;
  readonly state: ServiceState;
  /** Undefined: it was never probed before. */
  readonly history: ProbeHistory | undefined;
}

/** Probes at a time. Those over the network mostly wait; commands are processes. */
const CONCURRENCY = { network: 256, command: 32 } as const;
/** Failures in a row that count for the platform's own parts. They start and stop together with the sweep. */
const PLATFORM_FAILURES = 2;
/** After a repair, a service that was flapping must pass so often in a row. */
const STEADY_PROBES = 5;
const STEADY_PAUSE_MS = 200;
const NO_HISTORY: ProbeMarks = { looks: "", flapping: false };

/** Probes all watched services. */
export const serviceProbes: Detector = {
  name: "service_probes",
  about:
    "Probes every watched service over HTTP, TCP or by a command, with bounds of latency, and looks for failed units of devices and alerts about services",
  ofHost: false,
  ofEveryTenant: true,
  configuration: ({ service_probes: { services, ...rest } }) => ({
    ...rest,
    services: Object.keys(services).length,
  }),
  detect: detectFailures,
  recheck: recheckService,
};

async function detectFailures(
  context: DetectionContext,
  deadline: AbortSignal,
): Promise<DetectorResult> {
  const { store, settings: { service_probes: settings }, servicesProblem, places } = context;
  const db = store.db;
  const [services, histories] = await Promise.all([
    listWatchedServices(db, places) as Promise<Service[]>,
    getProbeHistories(db),
  ]);
  const [results, devices, alerts] = await Promise.all([
    probeAll(services, settings, deadline),
    findDeviceFaults(context, "service_probes"),
    findAlertFaults(context, "service_probes"),
  ]);
  const probed = [...results].map(([service, result]): ProbedService => {
    const history = histories.get(service.name);
    const state = judgeService(service, result, history ?? NO_HISTORY, settings);
    return { service, result, state, history };
  });
  const missed = services.length - probed.length;
  const problems: string[] = [];
  if (missed > 0) problems.push(`${missed}_services_not_probed_in_time`);
  if (servicesProblem) problems.push(servicesProblem);
  if (context.settingsProblem) {
    const [, line = 1] = / line (\d+):/.exec(context.settingsProblem.message) ?? [];
    problems.push(`detectors_file_line_${line}`);
  }
  if (alerts.problem) problems.push(alerts.problem);
  const failing = probed.filter(({ state }) => state.state !== "up");
  const found = await Promise.all(failing.map((one) => createFinding(one, context)));
  return {
    probed: probed.length + devices.probed + alerts.probed,
    found: [...joinAlertFaults(found, alerts), ...devices.found],
    problems,
    complete: missed === 0,
    unknown: [...devices.unknown, ...alerts.unknown],
    async saveState(trx) {
      const seen = probed.map(({ service: { name }, result: { healthy } }) => ({ name, healthy }));
      await recordProbeResults(trx, seen);
      await sealObservations(trx, await recordObservations(trx, seen));
      const marks = probed.map((
        { service: { name }, state: { state, looks, flapping }, result },
      ): NewProbeHistory => ({
        service: name,
        looks,
        flapping,
        elapsedMs: state === "up" && looks.endsWith("u") ? result.elapsedMs : null,
      }));
      await putProbeHistories(trx, marks);
    },
  };
}

/**
 * Probes services in the given order, some at a time. The store lists those first that were not probed for the longest
 * time, so that those which there is no time for come first in the next sweep.
 */
async function probeAll(
  services: readonly Service[],
  settings: Settings,
  deadline: AbortSignal,
): Promise<Map<Service, ProbeResult>> {
  const results = new Map<Service, ProbeResult>();
  const work = async (queue: Service[]) => {
    for (let next = queue.shift(); next && !deadline.aborted; next = queue.shift()) {
      const result = await probe(next.check!, timeoutOf(next, settings));
      if (!deadline.aborted) results.set(next, result);
    }
  };
  const isCommand = ({ check }: Service) => checkKind(check!) === "command";
  const commands = services.filter(isCommand);
  const others = services.filter((service) => !isCommand(service));
  const workers = [
    ...Array.from({ length: CONCURRENCY.network }, () => work(others)),
    ...Array.from({ length: CONCURRENCY.command }, () => work(commands)),
  ];
  await untilDeadline(workers, deadline);
  return results;
}

function timeoutOf({ name }: Service, { timeout_ms, services }: Settings): number {
  return services[name]?.timeout_ms ?? timeout_ms;
}

function slowLimitOf({ name }: Service, { slow_ms, services }: Settings): number {
  return services[name]?.slow_ms ?? slow_ms;
}

function judgeService(
  service: Service,
  { healthy, elapsedMs }: ProbeResult,
  before: ProbeMarks,
  settings: Settings,
): ServiceState {
  const failures = service.origin === "platform"
    ? Math.max(settings.failures, PLATFORM_FAILURES)
    : settings.failures;
  const mark = !healthy ? "d" : elapsedMs > slowLimitOf(service, settings) ? "s" : "u";
  return judgeHistory(before, mark, { ...settings, failures });
}

async function createFinding(
  { service, result: { code, elapsedMs, output }, state: { state, looks, counts }, history }:
    ProbedService,
  { store, settings: { service_probes: settings }, host, config }: DetectionContext,
): Promise<DetailedFinding> {
  const finding = await createServiceFinding(store, service, state === "down" ? code : state);
  const { name } = service;
  const { check } = finding;
  const deviation = state === "slow" ? deviationOf(elapsedMs, history) : undefined;
  const summaries: Readonly<Record<string, Text>> = {
    down: say`${name} fails its ${check} check (${code})`,
    slow: say`${name} passes its ${check} check, but takes longer than ${
      slowLimitOf(service, settings)
    } ms`,
    flapping: say`${name} goes up and down`,
  };
  return {
    ...finding,
    host: LOCAL_HOSTS.has(service.host) ? host : service.host,
    lookedAtBy: service.place === config.place ? config.place : undefined,
    summary: summaries[state]!,
    detail: {
      last_look: code,
      elapsed_ms: Math.round(elapsedMs),
      looks,
      ...(output === undefined ? {} : { output }),
    },
    target: { service: name },
    counts,
    ...(deviation ? { deviation } : {}),
  };
}

async function recheckService(
  { store, settings: { service_probes: settings } }: DetectionContext,
  { service: name, code }: FaultId,
  _: unknown,
  time: RecheckTime,
): Promise<RecheckResult> {
  const db = store.db;
  const service = name === null ? undefined : await getService(db, name) as Service | undefined;
  if (!service?.check) return { present: false, code: "no_check" };
  const probeAgain = () => probe(service.check!, timeoutOf(service, settings));
  if (code === FLAPPING && time === "after") {
    const failure = await findFailure(probeAgain);
    if (failure) return { present: true, code: failure.code };
    await putProbeHistories(db, [{ service: service.name, ...NO_HISTORY, elapsedMs: null }]);
    return { present: false, code: "ok" };
  }
  const result = await probeAgain();
  if (code === FLAPPING) {
    const { flapping } = (await getProbeHistories(db)).get(service.name) ?? NO_HISTORY;
    // While it is down, the code is that of the failure, which may be repaired.
    const isUp = flapping && result.healthy;
    return { present: flapping || !result.healthy, code: isUp ? FLAPPING : result.code };
  }
  if (time === "after" && result.healthy) {
    await recordProbeResults(db, [{ name: service.name, healthy: true }]); // it is up in the graph at once
  }
  const isSlow = result.healthy && code === "slow" &&
    result.elapsedMs > slowLimitOf(service, settings);
  return { present: !result.healthy || isSlow, code: isSlow ? "slow" : result.code };
}

/** Probes several times in a row. @returns the first failure; undefined: all passed */
async function findFailure(
  probeAgain: () => Promise<ProbeResult>,
): Promise<ProbeResult | undefined> {
  for (let i = 0; i < STEADY_PROBES; i++) {
    if (i > 0) await sleep(STEADY_PAUSE_MS);
    const result = await probeAgain();
    if (!result.healthy) return result;
  }
  return undefined;
}
