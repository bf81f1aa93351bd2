import { setTimeout as sleep } from "node:timers/promises";
import { checkKind, probe, type ProbeResult, type Service } from "../integrations/host/mod.ts";
import { createServiceFinding, type DetectedFinding } from "./findings.ts";
import {
  getProbeHistories,
  getService,
  listWatchedServices,
  type ProbeHistory,
  putProbeHistories,
  recordProbeResults,
} from "../store/mod.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  type RecheckResult,
  type RecheckTime,
  untilDeadline,
} from "./_detector.ts";
import { judge, type Judgement } from "./_history.ts";
import type { DetectorSettings } from "./settings.ts";

/** Network probes wait more than they work; commands are processes. */
const AT_ONCE = { network: 256, command: 32 } as const;
/** The platform's own parts start and stop together with the sweep, so one failed look at them says nothing. */
const PLATFORM_FAILURES = 2;
/** A service that has flapped must answer so often in a row. */
const STEADY_LOOKS = 5;
const STEADY_EVERY_MS = 200;
const FRESH = { looks: "", flapping: false } as const;

type Settings = DetectorSettings["service_probes"];

/** Probes every watched service. */
export const serviceProbes: Detector = {
  name: "service_probes",
  about: "Probes every watched service over HTTP, TCP or by a command, with bounds of latency",
  ofHost: false,
  configuration: ({ service_probes: { services, ...rest } }) => ({
    ...rest,
    services: Object.keys(services).length,
  }),

  async detect(world, deadline): Promise<DetectorResult> {
    const { store, settings: { service_probes: settings }, host, servicesProblem } = world;
    const [services, histories] = await Promise.all([
      listWatchedServices(store.asPlatform()) as Promise<Service[]>,
      getProbeHistories(store.asPlatform()),
    ]);
    const seen = await probeEach(services, settings, deadline);
    const judged = [...seen].map(([service, result]) => {
      const before = histories.get(service.name) ?? FRESH;
      return { service, result, now: judgeService(service, result, before, settings) };
    });
    return {
      probed: judged.length,
      found: judged.flatMap(({ service, result, now }) =>
        now.state === "up" ? [] : [foundOf(service, result, now, { settings, host })]
      ),
      problems: [
        ...judged.length < services.length
          ? [`${services.length - judged.length}_services_not_probed_in_time`]
          : [],
        ...servicesProblem ? [servicesProblem] : [],
      ],
      complete: judged.length === services.length,
      async saveState(on) {
        const sightings = judged.map(({ service: { name }, result: { healthy } }) => ({
          name,
          healthy,
        }));
        await recordProbeResults(on, sightings);
        const looks = judged.map(({ service: { name: service }, now }): ProbeHistory => {
          return { service, looks: now.looks, flapping: now.flapping };
        });
        await putProbeHistories(on, looks);
      },
    };
  },

  recheck: recheckService,
};

/**
 * Probes some at a time, in the order in which they were probed last. What there is no time for comes first the next
 * time.
 */
async function probeEach(
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
    ...Array.from({ length: AT_ONCE.network }, () => work(others)),
    ...Array.from({ length: AT_ONCE.command }, () => work(commands)),
  ];
  await untilDeadline(workers, deadline);
  return results;
}

const timeoutOf = ({ name }: Service, { timeout_ms, services }: Settings) =>
  services[name]?.timeout_ms ?? timeout_ms;
const slowOf = ({ name }: Service, { slow_ms, services }: Settings) =>
  services[name]?.slow_ms ?? slow_ms;

function judgeService(
  service: Service,
  { healthy, elapsedMs }: ProbeResult,
  before: { readonly looks: string; readonly flapping: boolean },
  settings: Settings,
): Judgement {
  const failures = service.origin === "platform"
    ? Math.max(settings.failures, PLATFORM_FAILURES)
    : settings.failures;
  const look = !healthy ? "d" : elapsedMs > slowOf(service, settings) ? "s" : "u";
  return judge(before, look, { ...settings, failures });
}

function foundOf(
  service: Service,
  { code, elapsedMs }: ProbeResult,
  { state, looks, counts }: Judgement,
  { settings, host }: { settings: Settings; host: string },
): DetailedFinding {
  const finding = createServiceFinding(service, state === "down" ? code : state);
  const { name } = service;
  return {
    ...finding,
    host: LOCAL.has(service.host) ? host : service.host,
    summary: state === "down"
      ? `${name} fails its ${finding.check} check (${code})`
      : state === "slow"
      ? `${name} passes its ${finding.check} check, but takes longer than ${
        slowOf(service, settings)
      } ms`
      : `${name} goes up and down`,
    detail: { last_look: code, elapsed_ms: Math.round(elapsedMs), looks },
    target: { service: name },
    counts,
  };
}

/** Names by which services say that they are on the host of the platform. */
export const LOCAL: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "0.0.0.0"]);

async function recheckService(
  { store, settings: { service_probes: settings } }: DetectionContext,
  { service: name, code }: DetectedFinding,
  _: unknown,
  moment: RecheckTime,
): Promise<RecheckResult> {
  const service = name === null
    ? undefined
    : await getService(store.asPlatform(), name) as Service | undefined;
  if (!service?.check) return { present: false, code: "no_check" };
  const look = () => probe(service.check!, timeoutOf(service, settings));
  const slow = ({ healthy, elapsedMs }: ProbeResult) =>
    healthy && code === "slow" && elapsedMs > slowOf(service, settings);
  if (code !== "flapping") {
    const seen = await look();
    return { present: !seen.healthy || slow(seen), code: slow(seen) ? "slow" : seen.code };
  }
  if (moment === "before") {
    const { flapping } = (await getProbeHistories(store.asPlatform())).get(service.name) ?? FRESH;
    const seen = await look();
    return { present: flapping || !seen.healthy, code: flapping ? "flapping" : seen.code };
  }
  for (let i = 0; i < STEADY_LOOKS; i++) {
    if (i > 0) await sleep(STEADY_EVERY_MS);
    const seen = await look();
    if (!seen.healthy) return { present: true, code: seen.code };
  }
  await putProbeHistories(store.asPlatform(), [{ service: service.name, ...FRESH }]); // what it did before is over
  return { present: false, code: "ok" };
}
