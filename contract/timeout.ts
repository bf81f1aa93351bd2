/**
 * Returns a signal that aborts with a `TimeoutError` after a time. It keeps no process alive.
 *
 * Use it instead of `AbortSignal.timeout`: Node 20 holds only a weak reference to that signal, so one that is combined
 * by `AbortSignal.any` may be garbage-collected and never abort.
 *
 * @param timeoutMs > 0 and < 2³¹
 */
export function createTimeoutSignal(timeoutMs: number): AbortSignal {
  const controller = new AbortController();
  const abort = () =>
    controller.abort(new DOMException(`Not done within ${timeoutMs} ms`, "TimeoutError"));
  setTimeout(abort, timeoutMs).unref();
  return controller.signal;
}
