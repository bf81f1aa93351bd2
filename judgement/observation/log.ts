import { type Observation, say } from "../../contract/domain/mod.ts";
import { findNewLines } from "../detection/mod.ts";
import { listLogsOf, listOpenFiles } from "./_folders.ts";
import type { Observer, ObserverContext, Subject } from "./observer.ts";
import { findProcesses } from "./_service_process.ts";

const MAX_TEXT = 6_000;

/** Reads the newest lines of the logs of a service. */
export const log: Observer = {
  name: "log",
  about:
    "Reads the newest lines of the service's logs: those that the detectors' settings name, those in its folder, and those that its processes write; and the first and newest lines that a finding in a log keeps",
  isNear: true,
  applies: (subject) => subject.isLocal || samplesOf(subject).length > 0,
  async observe(subject, context): Promise<Observation[]> {
    return [...await readNewest(subject, context), ...listSamples(subject)];
  },
};

async function readNewest(subject: Subject, context: ObserverContext): Promise<Observation[]> {
  const { service, isLocal, since } = subject;
  if (!service || !isLocal) return [];
  const open = listOpenFiles(await findProcesses(subject, context));
  const more = await listLogsOf(service, open);
  const logs = await findNewLines({
    config: context.config,
    service: service.name,
    since,
    more,
  });
  return logs.map(({ log, count, mostFrequent, newest }) => ({
    code: "lines",
    says: say`${log} has ${count} errors since ${since.toISOString()}${
      mostFrequent === null ? "" : say`, most often “${mostFrequent}”`
    }.`,
    text: newest.join("\n").slice(-MAX_TEXT),
    figures: { errors: count, lines: newest.length },
  }));
}

/** Lists the lines that the finding keeps. */
function listSamples(subject: Subject): Observation[] {
  const samples = samplesOf(subject);
  if (samples.length === 0) return [];
  return [{
    code: "samples",
    says: say`The first and the newest lines that the finding is about.`,
    text: samples.join("\n"),
    figures: { lines: samples.length },
  }];
}

function samplesOf({ record }: Subject): readonly unknown[] {
  const { samples } = record?.detail ?? {};
  return Array.isArray(samples) ? samples : [];
}
