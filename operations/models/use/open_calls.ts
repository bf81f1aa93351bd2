/** The model calls of this process that have not been settled. */
import { withTimeout } from "../../../contract/mod.ts";

const open = new Set<Promise<void>>();

/** Notes that a call has begun. @returns a function to call once it is settled */
export function beginOpenCall(): () => void {
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  open.add(ended);
  return () => {
    open.delete(ended);
    end();
  };
}

/** Waits until the calls whose connections were closed are settled, so that they are billed for what was made. */
export async function waitForModelCalls(timeoutMs: number): Promise<void> {
  await withTimeout(timeoutMs, Promise.all(open)).catch(() => {}); // else a worker settles them at their reserve
}
