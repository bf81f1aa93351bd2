import { listen, type Store } from "../../store/mod.ts";
import { SCRUB_CHANNEL } from "./_state.ts";

/** Reactions to changes of the chain. */
export interface FollowHandlers {
  /** Called when receipts may have been sealed, at most every 250 ms. */
  readonly onChange: () => void;
  /** Called first when the scrub's results may have changed. */
  readonly onScrub: () => void;
}

const SEALED_CHANNEL = "sealoop_sealed";
/** A look costs as much as verifying several receipts, so it waits for several. */
const MIN_INTERVAL_MS = 250;
/** Notifications can be lost. */
const POLL_MS = 5_000;

/** Follows the chain by notifications, and by polling. @returns a function that stops it */
export async function followChain(
  store: Store,
  { onChange, onScrub }: FollowHandlers,
): Promise<() => Promise<void>> {
  let lastChange = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  function change(): void {
    clearTimeout(timer);
    timer = undefined;
    lastChange = performance.now();
    onChange();
  }
  function changeAll(): void {
    onScrub();
    change();
  }

  const listener = await listen(store, [SEALED_CHANNEL, SCRUB_CHANNEL], {
    onNotify(channel) {
      if (channel === SCRUB_CHANNEL) onScrub();
      const wait = Math.max(0, lastChange + MIN_INTERVAL_MS - performance.now());
      timer ??= setTimeout(change, wait).unref();
    },
    onConnect: changeAll,
  });
  const poll = setInterval(changeAll, POLL_MS).unref();
  return async () => {
    clearInterval(poll);
    clearTimeout(timer);
    await listener.close();
  };
}
