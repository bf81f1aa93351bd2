import { CallerGone } from "../../contract/mod.ts";

/**
 * Returns a signal that aborts with the given one, with `CallerGone` as its reason where the connection was lost.
 *
 * @param isConnectionLost called when the signal is aborted
 */
export function withAbortReason(
  signal: AbortSignal,
  isConnectionLost: () => boolean,
): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(isConnectionLost() ? new CallerGone() : signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
