/** Calls of `work` that come while it runs share one run that starts after it: no answer is older than its call. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = () => {
    const run = work().finally(() => {
      if (running === run) running = undefined;
    });
    return running = run;
  };
  return () => {
    if (!running) return start();
    return next ??= running.then(() => {}, () => {}).then(() => {
      next = undefined;
      return start();
    });
  };
}
