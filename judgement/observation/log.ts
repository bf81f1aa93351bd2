import type { Observation } from "../../contract/domain/mod.ts";
import { findNewLines } from "../detection/mod.ts";
import type { Observer } from "./observer.ts";

const MAX_TEXT = 6_000;

/** Reads the newest lines of the logs of a service. */
export const log: Observer = {
  name: "log",
  about:
    "Reads the newest lines of the service's logs, as far as the detectors' settings name them",
  async observe({ service, isLocal, since }, { config }): Promise<Observation[]> {
    if (!service || !isLocal) return [];
    const logs = await findNewLines({ config, service: service.name, since });
    return logs.map(({ log, count, mostFrequent, newest }) => ({
      code: "lines",
      says: `${log} has ${count} errors since ${since.toISOString()}` +
        `${mostFrequent === null ? "" : `, most often “${mostFrequent}”`}.`,
      text: newest.join("\n").slice(-MAX_TEXT),
      figures: { errors: count, lines: newest.length },
    }));
  },
};
