/**
 * A signal that fires after a time, with a `TimeoutError`; it keeps no process alive.
 *
 * Use it in place of `AbortSignal.timeout`, of which Node 20 holds nothing but a weak reference: a signal that
 * `AbortSignal.any` makes of it does not keep it, so that it is collected as garbage and never fires.
 *
 * @param ms milliseconds, > 0 and < 2³¹
 */
export function createTimeoutSignal(ms: number): AbortSignal {
  const late = new AbortController();
  const fire = () => late.abort(new DOMException(`Not done within ${ms} ms`, "TimeoutError"));
  setTimeout(fire, ms).unref();
  return late.signal;
}
