import { signal } from "@preact/signals";

/** What the page knows of its being up to date. */
export type Liveness = { readonly since: number; readonly live: boolean };

/** Whether news reaches this page, and since when it does or doesn't. */
export const liveness = signal<Liveness>({ since: Date.now(), live: false });

/** Milliseconds in which news that come together lead to one look. */
const TOGETHER_MS = 200;
const REOPEN_MS = 3_000;

/** Calls a function now, and again after each news and each reconnection. @returns ends that */
export function follow(refresh: () => Promise<unknown>): () => void {
  const look = oneAtATime(refresh);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(look, TOGETHER_MS);
  };
  const open = () => {
    source = new EventSource("/v1/comms/stream");
    source.onopen = () => {
      liveness.value = { since: Date.now(), live: true };
      soon();
    };
    source.onmessage = soon;
    source.onerror = () => {
      if (liveness.value.live) liveness.value = { since: Date.now(), live: false };
      // The browser tries again after a lost connection, and gives up after an answer that is no stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, REOPEN_MS);
    };
  };
  open();
  void look();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** Returns a function that has work done once more where it is called meanwhile, and never twice at once. */
function oneAtATime(work: () => Promise<unknown>): () => Promise<void> {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    while (again) {
      again = false;
      await work().catch(() => {}); // the page shows what failed
    }
    running = false;
  };
}
