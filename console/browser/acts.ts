import { signal } from "@preact/signals";

/** Acts of the person on a page: one at a time, each with what came of it. */
export interface Acts {
  /** True while one is under way. */
  readonly busy: boolean;
  /** Why the last one failed, or else the last look; empty: none did. */
  readonly problem: string;
  /** Shows what is there now. */
  look(): Promise<void>;
  /** Runs one, and looks again. */
  run(work: () => Promise<unknown>): Promise<void>;
}

/** @param refresh shows what is there now; an error is told until the next look that has none */
export function createActs(refresh: () => Promise<unknown>): Acts {
  const busy = signal(false);
  const failed = signal("");
  const unseen = signal("");
  async function look(): Promise<void> {
    try {
      await refresh();
      unseen.value = "";
    } catch (error) {
      unseen.value = (error as Error).message;
    }
  }
  return {
    get busy() {
      return busy.value;
    },
    get problem() {
      return failed.value || unseen.value;
    },
    look,
    async run(work) {
      if (busy.value) return;
      busy.value = true;
      failed.value = "";
      try {
        await work();
      } catch (error) {
        failed.value = (error as Error).message;
      }
      await look();
      busy.value = false;
    },
  };
}
