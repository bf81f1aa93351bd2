/**
 * Does something with a signal that fires after a time. What waits holds it, where Node 20 may let go of one of
 * `AbortSignal.timeout` that others are made of, which then never fires.
 *
 * @param ms milliseconds, > 0
 */
export async function within<T>(
  ms: number,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}
