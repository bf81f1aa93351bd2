import type { ProbeHistory } from "../../store/incidents/mod.ts";
import { type Deviation, isUnusual, measureDeviation } from "./_deviation.ts";
import type { DetectorSettings } from "./settings.ts";

/** Settings by which the history of a service is judged. */
export type HistorySettings = Pick<
  DetectorSettings["service_probes"],
  "flapping" | "slow_looks" | "failures"
>;

/** Result of a probe in a history: up, slow (up, but slow) or down. */
export type HistoryMark = "u" | "s" | "d";

/** History of a service. */
export interface ProbeMarks {
  /** Marks of the last probes, oldest first. */
  readonly looks: string;
  readonly flapping: boolean;
}

/** State of a service by its history. */
export interface ServiceState extends ProbeMarks {
  readonly state: "up" | "slow" | "down" | "flapping";
  /** False: it was not down often enough to be reported. */
  readonly counts: boolean;
}

/**
 * Judges a service by its history and the newest probe.
 *
 * A service is `flapping` from a share of changes in its history on, until the share has fallen below a lower one. So it is
 * one fault for all that time, and not one each time it goes down.
 */
export function judgeHistory(
  before: ProbeMarks,
  now: HistoryMark,
  { flapping: { looks: maxMarks, begins, ends }, slow_looks, failures }: HistorySettings,
): ServiceState {
  const looks = (before.looks + now).slice(-maxMarks);
  const share = countChanges(looks) / (maxMarks - 1); // of a full history, so that a young one isn't judged too early
  const flapping = before.flapping ? share > ends : share >= begins;
  const downs = countAtEnd(looks, "d");
  if (flapping) return { looks, flapping, state: "flapping", counts: true };
  if (now === "d") return { looks, flapping, state: "down", counts: downs >= failures };
  const isSlow = countAtEnd(looks, "s") >= slow_looks;
  return { looks, flapping, state: isSlow ? "slow" : "up", counts: true };
}

/** Returns how far a probe is off; undefined: that is unknown, or it takes as long as always. */
export function deviationOf(
  elapsedMs: number,
  history: Pick<ProbeHistory, "usualMs" | "spreadMs"> | undefined,
): Deviation | undefined {
  if (!history || history.usualMs === null || history.spreadMs === null) return undefined;
  const deviation = measureDeviation({
    kind: "latency",
    value: elapsedMs / 1_000,
    usual: history.usualMs / 1_000,
    spread: history.spreadMs / 1_000,
  });
  return isUnusual(deviation) ? deviation : undefined;
}

/** Counts how often a service went down or came up. */
function countChanges(looks: string): number {
  return [...looks].filter((mark, i) => i > 0 && (mark === "d") !== (looks[i - 1] === "d")).length;
}

/** Counts how many of the last marks in a row are this one. */
function countAtEnd(looks: string, mark: HistoryMark): number {
  let count = 0;
  while (looks.at(-1 - count) === mark) count++;
  return count;
}
