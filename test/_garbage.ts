/** Garbage, collected when a test wants it. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Does something while all garbage is collected again and again. */
export async function collecting<T>(work: () => Promise<T>, everyMs = 20): Promise<T> {
  const timer = setInterval(collect, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
