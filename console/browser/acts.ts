import { signal } from "@preact/signals";

/** Acts of the person on a page: one at a time, each with what came of it. */
export interface Acts {
  /** True while one is under way. */
  readonly busy: boolean;
  /** Why the last one failed; empty: it did not. */
  problem: string;
  /** Runs one, and looks again. */
  run(work: () => Promise<unknown>): Promise<void>;
}

/** @param refresh shows what is there now */
export function createActs(refresh: () => Promise<unknown>): Acts {
  const busy = signal(false);
  const problem = signal("");
  return {
    get busy() {
      return busy.value;
    },
    get problem() {
      return problem.value;
    },
    set problem(text) {
      problem.value = text;
    },
    async run(work) {
      if (busy.value) return;
      busy.value = true;
      problem.value = "";
      try {
        await work();
      } catch (error) {
        problem.value = (error as Error).message;
      }
      await refresh();
      busy.value = false;
    },
  };
}
