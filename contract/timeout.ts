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

/** Waits for work, which goes on if it is late. @throws {Error} it took longer than `timeoutMs`, > 0 and < 2³¹ */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not done within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
