const KEPT_MS = 10_000;

/** Returns a reader whose result, or failure, is kept for some time, so that many who ask cost one request. */
export function remember<Result>(
  read: () => Promise<Result>,
  keptMs = KEPT_MS,
): () => Promise<Result> {
  let kept: { readonly atMs: number; readonly result: Promise<Result> } | undefined;
  return () => {
    if (!kept || performance.now() - kept.atMs >= keptMs) {
      kept = { atMs: performance.now(), result: read() };
    }
    return kept.result;
  };
}
