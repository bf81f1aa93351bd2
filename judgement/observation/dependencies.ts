import type { Observation } from "../../contract/domain/mod.ts";
import { probe } from "../../integrations/host/mod.ts";
import { getProbeHistories } from "../../store/incidents/mod.ts";
import { listAddresses, type UsedAddress } from "./_addresses.ts";
import type { Observer } from "./observer.ts";

const TIMEOUT_MS = 5_000;

/** Checks what a service needs. */
export const dependencies: Observer = {
  name: "dependencies",
  about:
    "Checks each dependency, with its latency beside what is usual, and connects to the addresses in the service's settings",
  async observe(subject, { store }): Promise<Observation[]> {
    const [all, histories] = await Promise.all([
      listAddresses(subject, store.db),
      getProbeHistories(store.db),
    ]);
    const others = all.filter(({ of }) => of !== "the check");
    return await Promise.all(others.map((one) => look(one, histories.get(one.of)?.usualMs)));
  },
};

async function look(
  { host, port, of, dependency }: UsedAddress,
  usualMs: number | null | undefined,
): Promise<Observation> {
  const check = dependency?.check ?? { tcp: `${host.includes(":") ? `[${host}]` : host}:${port}` };
  const { healthy, code, elapsedMs, output } = await probe(check, TIMEOUT_MS);
  const elapsed_ms = Math.round(elapsedMs);
  const usual_ms = usualMs === null || usualMs === undefined ? undefined : Math.round(usualMs);
  return {
    code: healthy ? "answers" : "fails",
    says: `${of} at ${host}:${port} ${
      healthy ? `answers in ${elapsed_ms} ms` : `fails after ${elapsed_ms} ms (${code})`
    }${usual_ms === undefined ? "" : `; ${usual_ms} ms are usual`}.`,
    ...(output ? { text: output } : {}),
    figures: {
      of,
      healthy,
      reason: code,
      elapsed_ms,
      ...(usual_ms === undefined
        ? {}
        : { usual_ms, times_usual: Math.round(10 * elapsedMs / Math.max(1, usualMs!)) / 10 }),
    },
  };
}
