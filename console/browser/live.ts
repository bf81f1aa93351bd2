import { signal } from "@preact/signals";

/** Knowledge of the page whether it is up to date. */
export interface Liveness {
  /** True: news reaches this page. */
  readonly connected: boolean;
  /** When the gateway answered last, in milliseconds; undefined: it has not yet. */
  readonly heardMs: number | undefined;
}

/** The state of this page's connection: whether news reaches it, and when it last heard of the gateway. */
export const liveness = signal<Liveness>({ connected: false, heardMs: undefined });

/** Milliseconds in which news that come together lead to one look. */
const TOGETHER_MS = 200;
const REOPEN_MS = 3_000;
/** Pause after which a page looks without any news: a connection can die without a word. */
const LOOK_MS = 15_000;

/** Approval whose page this is, so that others see who looks at it; undefined: it is none. */
let viewing: string | undefined;

/** Names of those who have the page of the same approval open now, this person's among them. */
export const viewers = signal<readonly string[]>([]);

/** Has others see that this person has the page of an approval open. Call it before {@linkcode follow}. */
export function view(approvalId: string): void {
  viewing = approvalId;
}

const looks = new Set<() => void>();
let stop: (() => void) | undefined;

/**
 * Calls a function now, after each news, after each reconnection, and every 15 seconds. All that a page follows shares one
 * stream.
 *
 * @returns ends that
 */
export function follow(refresh: () => Promise<unknown>): () => void {
  const look = oneAtATime(refresh);
  looks.add(look);
  stop ??= listen();
  void look();
  return () => {
    looks.delete(look);
    if (looks.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

/** Notes that the gateway has answered just now, or could not be reached. */
export function noteAnswer(isThere: boolean): void {
  const { connected, heardMs } = liveness.value;
  liveness.value = isThere ? { connected, heardMs: Date.now() } : { connected: false, heardMs };
}

/**
 * Listens to the feed while the page can be seen, and has everything looked at again. A page in the background holds no stream:
 * browsers have six connections for all pages of an address, and who looks at something else is not there.
 *
 * @returns ends that
 */
function listen(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource | undefined;
  const lookAgain = () => looks.forEach((look) => look());
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(lookAgain, TOGETHER_MS);
  };
  const setConnected = (connected: boolean) => {
    liveness.value = { connected, heardMs: connected ? Date.now() : liveness.value.heardMs };
  };
  const open = () => {
    if (document.hidden || source) return;
    const opened = source = new EventSource(
      `/v1/comms/stream${viewing ? `?viewing=${viewing}` : ""}`,
    );
    opened.addEventListener("viewers", ({ data }) => {
      viewers.value = (JSON.parse(data) as { readonly people: readonly string[] }).people;
    });
    opened.onopen = () => {
      setConnected(true);
      soon();
    };
    opened.onmessage = soon;
    opened.onerror = () => {
      setConnected(false);
      viewers.value = [];
      // The browser tries again after a lost connection, and gives up after an answer that is no stream.
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      reopening = setTimeout(open, REOPEN_MS);
    };
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  const onVisibility = () => {
    if (!document.hidden) return open();
    close();
    setConnected(false);
  };
  document.addEventListener("visibilitychange", onVisibility);
  open();
  const regular = setInterval(lookAgain, LOOK_MS);
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    clearTimeout(timer);
    clearTimeout(reopening);
    clearInterval(regular);
    close();
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
