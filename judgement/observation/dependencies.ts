import { type Observation, say } from "../../contract/domain/mod.ts";
import { type HealthCheck, isThisHost, probe } from "../../integrations/host/mod.ts";
import { isAtPlace } from "../../store/cmdb/mod.ts";
import { getProbeHistories } from "../../store/incidents/mod.ts";
import { listAddresses, mayUseAddresses, type UsedAddress } from "./_addresses.ts";
import type { Observer } from "./observer.ts";
import { placeOf } from "./_service_process.ts";

const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** Names that can't be resolved are looked at by another source. */
const UNRESOLVED = /^(?:enotfound|eai_)/;
/** A server that answers so is there, whatever was asked. */
const ANSWER = /^status_(?!50[234])/;

/** Checks what a service needs. */
export const dependencies: Observer = {
  name: "dependencies",
  about:
    "Checks each dependency, with its latency beside what is usual, and the addresses in the service's settings: whether they accept a connection, and how long they take to answer",
  applies: mayUseAddresses,
  async observe(subject, { store, config }): Promise<Observation[]> {
    const [all, histories] = await Promise.all([
      listAddresses(subject, store.db),
      getProbeHistories(store.db),
    ]);
    const own = placeOf(subject.service);
    const others = all.filter(({ given, host, port, dependency }) =>
      given !== "check" && port !== undefined &&
      !(own?.port === port && isSameHost(own.host, host)) &&
      !(dependency && isThisHost(host) && !isAtPlace(dependency, config.place)) // means its own machine
    );
    return await Promise.all(others.map((one) => look(one, histories.get(one.of)?.usualMs)));
  },
};

/** A service often has its own address among its settings. */
const isSameHost = (a: string, b: string) =>
  a === b || isThisHost(a) && (isThisHost(b) || b === "0.0.0.0" || b === "::");

async function look(
  one: UsedAddress,
  usualMs: number | null | undefined,
): Promise<Observation> {
  const { host, of, given, dependency } = one;
  const port = one.port!;
  const tcp = { tcp: `${host.includes(":") ? `[${host}]` : host}:${port}` };
  const check = dependency?.check ?? checkOf(one) ?? tcp;
  const { code, elapsedMs, output } = await probe(check, TIMEOUT_MS);
  const healthy = code === "ok" || dependency === undefined && ANSWER.test(code);
  const isLate = code === "timeout" && !("tcp" in check) &&
    (await probe(tcp, CONNECT_TIMEOUT_MS)).healthy;
  const elapsed_ms = Math.round(elapsedMs);
  const usual_ms = usualMs === null || usualMs === undefined ? undefined : Math.round(usualMs);
  return {
    code: healthy ? "answers" : isLate ? "late" : "fails",
    says: say`${of} at ${host}:${port} ${
      healthy
        ? say`answers in ${elapsed_ms} ms`
        : isLate
        ? say`accepts connections, but gives no answer within ${elapsed_ms} ms`
        : say`fails after ${elapsed_ms} ms (${code})`
    }${usual_ms === undefined ? "" : say`; ${usual_ms} ms are usual`}.`,
    ...(output ? { text: output } : {}),
    figures: {
      of,
      address: tcp.tcp,
      healthy,
      reason: code,
      ...(healthy || isLate || UNRESOLVED.test(code) ? {} : { down: given }),
      ...(isLate || healthy && elapsedMs >= SLOW_MS ? { late: given } : {}),
      // How long a connection takes says nothing about an answer.
      ...("tcp" in check ? { connect_ms: elapsed_ms } : { elapsed_ms }),
      ...(usual_ms === undefined
        ? {}
        : { usual_ms, times_usual: Math.round(10 * elapsedMs / Math.max(1, usualMs!)) / 10 }),
    },
  };
}

/** An answer that takes longer keeps others waiting. */
const SLOW_MS = 1_000;

/** Returns the check of an address that speaks HTTP. */
function checkOf({ url }: UsedAddress): HealthCheck | undefined {
  return url && /^https?:$/.test(url.protocol) ? { http: url.href } : undefined;
}
