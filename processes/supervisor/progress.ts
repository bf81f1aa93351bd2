/** The progress of a start, as the operator sees it. */
export interface Progress {
  /** False: what is printed may be kept, as in a log. */
  readonly isTerminal: boolean;
  /**
   * Runs a step, and prints a line with its result and how long it took.
   *
   * @param title of the part, at most 12 characters
   */
  step<T>(title: string, step: Step<T>): Promise<T>;
  /** Prints a line. */
  line(text: string): void;
  /** Prints a line about something that happened, with its time of day. @param at default: now */
  news(text: string, at?: Date): void;
  /** Silences the steps that still run. */
  mute(): void;
}

/** A step of a start. */
export interface Step<T> {
  /** @param report shows what the step is doing */
  run(report: (text: string) => void): Promise<T>;
  /** Returns the text of the step's line. */
  describe(result: T): string;
}

const TITLE_WIDTH = 13;
const TEXT_WIDTH = 36;
/** Where lines cannot be written over, a long step prints what it is doing this often, milliseconds. */
const REPORT_EVERY_MS = 30_000;

/** Prints progress. A terminal shows what is being done below the finished lines; elsewhere only lines are printed. */
export function openProgress(output: NodeJS.WriteStream): Progress {
  output.on("error", () => {}); // nobody reads any more; the platform goes on
  const isTerminal = output.isTTY === true;
  const erase = isTerminal ? "\r\x1b[K" : "";
  let isMuted = false;

  function line(text: string): void {
    output.write(`${erase}${text}\n`);
  }

  function reporter(title: string): (text: string) => void {
    let reportedAt = Date.now();
    return (text) => {
      if (isMuted) return;
      const shown = `  ${title.padEnd(TITLE_WIDTH)}${text} …`;
      if (isTerminal) return void output.write(`${erase}${shown.slice(0, output.columns - 1)}`);
      if (Date.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = Date.now();
      line(shown);
    };
  }

  return {
    isTerminal,
    line,
    news: (text, at = new Date()) => line(`  ${timeOf(at)}  ${text}`),
    mute: () => {
      isMuted = true;
    },
    async step(title, { run, describe }) {
      const startedAt = performance.now();
      const report = reporter(title);
      report("starting");
      const result = await run(report);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
      const text = describe(result).padEnd(TEXT_WIDTH);
      if (!isMuted) line(`  ${title.padEnd(TITLE_WIDTH)}${text} ${seconds} s`);
      return result;
    },
  };
}

/** Returns the time of day on this machine; of another day with the date. */
function timeOf(at: Date): string {
  const pad = (part: number) => String(part).padStart(2, "0");
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(pad).join(":");
  if (at.toDateString() === new Date().toDateString()) return time;
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${time}`;
}
