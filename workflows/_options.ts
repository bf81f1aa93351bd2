import type { ActivityOptions } from "@temporalio/workflow";

/** Kinds of errors that trying again can't mend; the names of `contract/errors.ts`. */
const NON_RETRYABLE = [
  "InvalidInput",
  "NotFound",
  "ReceiptConflict",
  "Conflict",
  "Forbidden",
];

/** A short look or a small transaction. */
export const QUICK: ActivityOptions = {
  startToCloseTimeout: "20s",
  retry: {
    initialInterval: "200ms",
    maximumInterval: "10s",
    nonRetryableErrorTypes: NON_RETRYABLE,
  },
};

/** A repair: long, heartbeating, and itself seeing to it that it happens once. */
export const REPAIR: ActivityOptions = {
  startToCloseTimeout: "5m",
  heartbeatTimeout: "4s",
  retry: {
    initialInterval: "500ms",
    maximumInterval: "10s",
    nonRetryableErrorTypes: NON_RETRYABLE,
  },
};

/** A wait for a service to come back. */
export const PATIENT: ActivityOptions = { ...REPAIR, startToCloseTimeout: "2m" };

/** Sealing: tried for ever, as nothing may end without its receipt. */
export const SEALING: ActivityOptions = {
  startToCloseTimeout: "45s",
  retry: {
    initialInterval: "200ms",
    maximumInterval: "30s",
    nonRetryableErrorTypes: NON_RETRYABLE,
  },
};

/** The sequencer: runs until its process ends, and is taken over at once by another. */
export const STANDING: ActivityOptions = {
  startToCloseTimeout: "1h",
  heartbeatTimeout: "5s",
  retry: { initialInterval: "500ms", backoffCoefficient: 1, maximumInterval: "500ms" },
};
