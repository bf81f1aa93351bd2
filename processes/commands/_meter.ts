/** Prints on standard error how far a long count is, and its rate. */
export interface Meter {
  /** @param count so far */
  update(count: number): void;
  /** Prints the last line. */
  end(): void;
}

const PRINT_EVERY_MS = 1_000;

/**
 * Starts a meter.
 *
 * @param action done to each receipt, in the past tense: `verified`
 * @param total returns the count at the end, where it is known
 * @param from count that was reached before
 */
export function openMeter(action: string, total: () => number | undefined, from = 0): Meter {
  const startedAt = performance.now();
  const isTerminal = process.stderr.isTTY === true;
  let printedAt = startedAt;
  let count = from;
  const print = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round((count - from) / Math.max(seconds, 0.001));
    const all = total();
    const share = all ? ` of ${all} (${Math.floor((count / all) * 100)} %)` : "";
    const line = `${count}${share} receipts ${action} in ${seconds.toFixed(1)} s, ${rate}/s`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  };
  return {
    update(newCount) {
      count = newCount;
      if (performance.now() - printedAt < PRINT_EVERY_MS) return;
      printedAt = performance.now();
      print();
    },
    end() {
      print();
      if (isTerminal) process.stderr.write("\n");
    },
  };
}

/** Meters of the steps of a command, each on a line of its own. */
export interface Meters {
  /** @param step in the past tense: `verified` */
  report(step: string, done: number, total?: number): void;
  end(): void;
}

/** Opens the meters of a command. */
export function openMeters(): Meters {
  let step: string | undefined;
  let meter: Meter | undefined;
  return {
    report(next, done, total) {
      if (next !== step) {
        meter?.end();
        meter = openMeter(next, () => total, done);
        step = next;
      }
      meter?.update(done);
    },
    end: () => meter?.end(),
  };
}
