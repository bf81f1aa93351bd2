import type { Job, Outcome } from "./worker.ts";

/** Threads that check. */
export interface Pool {
  /** Threads there are. */
  readonly size: number;
  /** Runs a job as soon as a thread is free. */
  run(job: Job): Promise<Outcome>;
}

/** What browsers with trusted types have, which the types of a page do not know yet. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

const MOST_THREADS = 4;

/** Starts threads when there is work for them. @param path of the worker's script, on this origin */
export function createPool(path: string): Pool {
  const size = Math.max(1, Math.min(MOST_THREADS, (navigator.hardwareConcurrency ?? 2) - 1));
  const address = trusted(path);
  const free: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  let started = 0;

  function take(): Promise<Worker> {
    const worker = free.pop();
    if (worker) return Promise.resolve(worker);
    if (started < size) {
      started++;
      return Promise.resolve(new Worker(address));
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  function give(worker: Worker): void {
    const next = waiting.shift();
    if (next) next(worker);
    else free.push(worker);
  }

  return {
    size,
    async run(job) {
      const worker = await take();
      const outcome = await new Promise<Outcome>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent) => resolve(data);
        worker.onerror = () => resolve({ failed: "The checking thread could not be started" });
        worker.postMessage(job);
      });
      give(worker);
      return outcome;
    },
  };
}

/** Where the browser asks that scripts be vouched for, this one is, and no other. */
function trusted(path: string): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("worker", {
    createScriptURL(url) {
      if (url === path) return url;
      throw new TypeError(`${url} is not the checking thread's script`);
    },
  });
  return policy ? policy.createScriptURL(path) : path;
}
