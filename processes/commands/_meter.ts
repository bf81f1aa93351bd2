/** Says on standard error how far a long count has come, and how fast it goes. */
export interface Meter {
  /** @param count so far */
  at(count: number): void;
  /** Says the last word. */
  end(): void;
}

const SAY_MS = 1_000;

/**
 * Starts one.
 *
 * @param done what was done with them, like `verified`
 * @param total how many there are, where it is known
 * @param from how many had been done before
 */
export function openMeter(done: string, total: () => number | undefined, from = 0): Meter {
  const started = performance.now();
  const terminal = process.stderr.isTTY === true;
  let said = started;
  let last = from;
  const say = () => {
    const seconds = (performance.now() - started) / 1000;
    const rate = Math.round((last - from) / Math.max(seconds, 0.001));
    const all = total();
    const share = all ? ` of ${all} (${Math.floor((last / all) * 100)} %)` : "";
    const line = `${last}${share} receipts ${done} in ${seconds.toFixed(1)} s, ${rate}/s`;
    process.stderr.write(terminal ? `\r\x1b[K${line}` : `${line}\n`);
  };
  return {
    at(count) {
      last = count;
      if (performance.now() - said < SAY_MS) return;
      said = performance.now();
      say();
    },
    end() {
      say();
      if (terminal) process.stderr.write("\n");
    },
  };
}
