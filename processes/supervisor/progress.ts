/** What a person who starts the platform sees of it. */
export interface Progress {
  /**
   * Runs a step, and prints a line with what came of it and how long it took.
   *
   * @param title of the part, at most 12 characters
   * @param work may say what it is doing; resolves with the text of the line
   */
  step<T>(title: string, work: Step<T>): Promise<T>;
  /** Prints a line. */
  line(text: string): void;
  /** Steps that still run print nothing from here on. */
  mute(): void;
}

/** A step on the way up. `told` gives the text of its line. */
export interface Step<T> {
  run(doing: (text: string) => void): Promise<T>;
  told(result: T): string;
}

const TITLE = 13;
const TEXT = 36;
/** Where lines can't be written over, a step that takes long says so this often, milliseconds. */
const QUIET_MS = 30_000;

/** Prints progress: on a terminal the newest thing being done is shown below the lines, elsewhere only lines are. */
export function openProgress(out: NodeJS.WriteStream): Progress {
  out.on("error", () => {}); // nobody reads any more; the platform goes on
  const terminal = out.isTTY === true;
  const erase = terminal ? "\r\x1b[K" : "";

  let muted = false;

  function line(text: string): void {
    out.write(`${erase}${text}\n`);
  }

  function doing(title: string): (text: string) => void {
    let said = Date.now();
    return (text) => {
      if (muted) return;
      const shown = `  ${title.padEnd(TITLE)}${text} …`;
      if (terminal) return void out.write(`${erase}${shown.slice(0, out.columns - 1)}`);
      if (Date.now() - said < QUIET_MS) return;
      said = Date.now();
      line(shown);
    };
  }

  return {
    line,
    mute: () => {
      muted = true;
    },
    async step(title, { run, told }) {
      const started = performance.now();
      const say = doing(title);
      say("starting");
      const result = await run(say);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (!muted) {
        line(`  ${title.padEnd(TITLE)}${told(result).padEnd(TEXT)} ${seconds.padStart(5)} s`);
      }
      return result;
    },
  };
}
