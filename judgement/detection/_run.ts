import { createTimeoutSignal } from "../../contract/mod.ts";
import type { DetectorName } from "../../contract/domain/mod.ts";
import type { DetectionContext, Detector, DetectorResult } from "./detector.ts";

/** Default for the maximum duration of a detector, so that a sweep is over within ten seconds. */
const DETECTOR_TIMEOUT_MS = 8_000;
/** A detector is told that its time is over before it is given up: it can still return what it has. */
const GRACE_MS = 500;
const MAX_ERROR_CHARACTERS = 500;
const MAX_CODE_CHARACTERS = 60;

/** Report about one run of a detector. */
export interface DetectorRun {
  readonly detector: DetectorName;
  /** False: the settings disable it. */
  readonly enabled: boolean;
  /** Milliseconds. */
  readonly duration_ms: number;
  /** Number of targets that it looked at. */
  readonly probed: number;
  /** Number of faults that it found. */
  readonly findings: number;
  /** Codes of targets that could not be looked at; null: none. */
  readonly error: string | null;
}

/** A finished run of a detector. */
export interface FinishedRun {
  readonly detector: Detector;
  readonly result: DetectorResult;
  readonly report: DetectorRun;
  /** True: it looked at everything, so earlier findings that are absent are over. */
  readonly complete: boolean;
}

/** Runs one detector. Never throws: a failure is part of the report. */
export async function runDetector(
  detector: Detector,
  context: DetectionContext,
  signal?: AbortSignal,
): Promise<FinishedRun> {
  const { name } = detector;
  const { enabled } = context.settings[name];
  const started = performance.now();
  const { result, error, finished } = enabled
    ? await tryToDetect(detector, context, signal)
    : { result: { probed: 0, found: [] }, error: null, finished: false }; // it has not looked
  const complete = finished && (result.complete ?? !result.problems?.length);
  const report: DetectorRun = {
    detector: name,
    enabled,
    duration_ms: Math.round((performance.now() - started) * 10) / 10,
    probed: result.probed,
    findings: result.found.filter(({ counts }) => counts !== false).length,
    error,
  };
  return { detector, result, report, complete };
}

async function tryToDetect(
  detector: Detector,
  context: DetectionContext,
  signal: AbortSignal | undefined,
): Promise<{ result: DetectorResult; error: string | null; finished: boolean }> {
  const timeout = createTimeoutSignal(context.timeoutMs ?? DETECTOR_TIMEOUT_MS);
  const deadline = signal ? AbortSignal.any([timeout, signal]) : timeout;
  try {
    const result = await Promise.race([
      detector.detect(context, deadline),
      rejectAfter(deadline),
    ]);
    const error = result.problems?.join(" ").slice(0, MAX_ERROR_CHARACTERS) || null;
    return { result, error, finished: true };
  } catch (problem) {
    const error = deadline.aborted ? "timeout" : errorCode(problem);
    return { result: { probed: 0, found: [] }, error, finished: false };
  }
}

function rejectAfter(deadline: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => setTimeout(() => reject(deadline.reason), GRACE_MS).unref();
    if (deadline.aborted) giveUp();
    else deadline.addEventListener("abort", giveUp, { once: true });
  });
}

/** Returns no words of an error, as they may name hosts and paths. */
function errorCode(problem: unknown): string {
  const { code, name } = problem as { code?: unknown; name?: string };
  const text = typeof code === "string" ? code.toLowerCase() : name ?? "error";
  return text.slice(0, MAX_CODE_CHARACTERS);
}
