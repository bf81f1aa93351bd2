import type { Job, Outcome } from "./worker.ts";

/** Worker threads that run checks. */
export interface Pool {
  /** Maximum number of threads. */
  readonly size: number;
  /** Runs a job once a thread is free. */
  run(job: Job): Promise<Outcome>;
}

/** Trusted types, which TypeScript's types of the DOM lack. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

const MAX_THREADS = 4;

/** Creates a pool; threads start when they are needed. @param path of the worker's script, on this origin */
export function createPool(path: string): Pool {
  const size = Math.max(1, Math.min(MAX_THREADS, (navigator.hardwareConcurrency ?? 2) - 1));
  const url = trustedUrl(path);
  const free: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  let started = 0;

  function acquire(): Promise<Worker> {
    const worker = free.pop();
    if (worker) return Promise.resolve(worker);
    if (started < size) {
      started++;
      return Promise.resolve(new Worker(url));
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(worker: Worker): void {
    const next = waiting.shift();
    if (next) next(worker);
    else free.push(worker);
  }

  return {
    size,
    async run(job) {
      const worker = await acquire();
      const outcome = await new Promise<Outcome>((resolve) => {
        worker.onmessage = ({ data }: MessageEvent) => resolve(data);
        worker.onerror = () => resolve({ failed: "The worker thread could not be started" });
        worker.postMessage(job);
      });
      release(worker);
      return outcome;
    },
  };
}

/** Makes the URL a trusted one in browsers that require it; no other URL passes the policy. */
function trustedUrl(path: string): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("worker", {
    createScriptURL(url) {
      if (url === path) return url;
      throw new TypeError(`${url} is not the worker's script`);
    },
  });
  return policy ? policy.createScriptURL(path) : path;
}
