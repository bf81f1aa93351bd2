import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
} from "@temporalio/workflow";
import type { Activities } from "../activities/mod.ts";
import { ERRORS } from "../domain/mod.ts";

/** Kinds of errors that trying again can't mend. */
const NON_RETRYABLE = Object.entries(ERRORS).filter(([, rule]) => !rule.retryable)
  .map(([name]) => name);

/** Every activity beats once a second, so its process has died or hangs when this has gone by. */
const HEARTBEAT = { heartbeatTimeout: "5s" } as const;

const RETRY: ActivityOptions["retry"] = {
  initialInterval: "200ms",
  maximumInterval: "10s",
  nonRetryableErrorTypes: NON_RETRYABLE,
};

/** A step that is cancelled ends before its run does, so that nothing goes on behind a sealed receipt. */
const COMMON: ActivityOptions = {
  ...HEARTBEAT,
  retry: RETRY,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/** A short look or a small transaction. */
export const QUICK: ActivityOptions = { ...COMMON, startToCloseTimeout: "20s" };

/** A model that is asked once: what it costs is not spent again where its worker dies. */
export const ONCE: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "18s",
  scheduleToCloseTimeout: "20s",
  retry: { maximumAttempts: 1 },
};

/** A check of what it wrote, for which somebody waits. */
export const SOON: ActivityOptions = { ...QUICK, scheduleToCloseTimeout: "4s" };

/** A wait for services to answer. */
export const PATIENT: ActivityOptions = { ...COMMON, startToCloseTimeout: "2m" };

/** Questions to the outside world, each of which may be kept waiting. */
export const OUTSIDE: ActivityOptions = { ...COMMON, startToCloseTimeout: "5m" };

/** A repair, which itself sees to it that it happens once. After this time nobody can tell what became of it. */
export const REPAIR: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "1h",
  scheduleToCloseTimeout: "3h",
};

/** Setting up what a test needs: where that fails for long, there is no test. */
export const SET_UP: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "1m",
  scheduleToCloseTimeout: "3m",
};

/** Sealing: tried for ever, as nothing may end without its receipt. */
export const SEALING: ActivityOptions = {
  ...COMMON,
  startToCloseTimeout: "45s",
  retry: { ...RETRY, maximumInterval: "30s" },
};

/** The sequencer: runs until its process ends, and is taken over at once by another. */
export const STANDING: ActivityOptions = {
  ...HEARTBEAT,
  startToCloseTimeout: "1h",
  retry: { initialInterval: "500ms", backoffCoefficient: 1, maximumInterval: "500ms" },
};

/**
 * The activities with options, and with a line that says in the Web UI what this one is about.
 *
 * ```ts
 * await perform(QUICK, "Probes billing again").detect(finding);
 * ```
 */
export function perform(options: ActivityOptions, summary: string): Activities {
  return proxyActivities<Activities>({ ...options, summary });
}
