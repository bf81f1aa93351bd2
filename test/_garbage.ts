/** Garbage collection on demand. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Does work while all garbage is collected again and again. */
export async function whileCollectingGarbage<T>(work: () => Promise<T>, everyMs = 20): Promise<T> {
  const timer = setInterval(collectGarbage, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
