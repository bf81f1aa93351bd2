/** Intervals and timeouts of sessions, all > 0. */
export interface SessionTiming {
  /** Between two comments on a stream, and two checks of its key. */
  readonly heartbeatMs: number;
  /** After this time without a message an SSE session without calls is ended. */
  readonly sseIdleMs: number;
  /** After this time without a request or a reader a session over Streamable HTTP is ended. */
  readonly httpIdleMs: number;
}

/** Heartbeats are shorter than the idle limit of common proxies. */
export const SESSION_TIMING: SessionTiming = {
  heartbeatMs: 15_000,
  sseIdleMs: 24 * 3600_000,
  httpIdleMs: 30 * 60_000,
};
