/** Figures of the platform beside those of a bare baseline, and the table of them. */

/** One line of the table. */
export interface Figure {
  /** The measured quantity, with its unit. */
  readonly label: string;
  /** One value a round. */
  readonly platform: readonly number[];
  /** One value a round; undefined where there is nothing to compare with. */
  readonly baseline?: readonly number[];
  readonly baselineLabel?: string;
  /** The ratio or the value to reach, in words. */
  readonly goal?: string;
}

/** The two that are compared. */
export interface Pair<T> {
  readonly baseline: T;
  readonly platform: T;
}

/** One of the two that are compared. */
export type Side = keyof Pair<unknown>;

/**
 * Measures baseline and platform in turns, so that what else the machine does affects both alike. A first round warms
 * up and is not counted.
 *
 * @param measure each returns the value of one round
 */
export async function measureInTurns(
  rounds: number,
  measure: Pair<() => Promise<number>>,
): Promise<Pair<number[]>> {
  const values: Pair<number[]> = { baseline: [], platform: [] };
  for (let round = 0; round <= rounds; round++) {
    const order: Side[] = round % 2 === 0 ? ["baseline", "platform"] : ["platform", "baseline"];
    for (const side of order) {
      const value = await measure[side]();
      if (round > 0) values[side].push(value);
    }
  }
  return values;
}

/** Returns the value below which the given share of the values lies. @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.round((values.length - 1) * share)]!;
}

const HEAD = ["What", "Median (lowest–highest)", "Baseline", "Ratio", "Goal"];

/** Formats the cells of a figure's line. Its ratio is the median of the rounds' own ratios. */
export function formatRow({ label, platform, baseline, baselineLabel, goal }: Figure): string[] {
  const [lowest, median, highest] = [0, 0.5, 1].map((share) => format(quantile(platform, share)));
  const ratios = baseline?.map((value, round) => platform[round]! / value);
  return [
    label,
    `${median} (${lowest}–${highest})`,
    baseline ? `${format(quantile(baseline, 0.5))} ${baselineLabel ?? ""}`.trim() : "",
    ratios ? quantile(ratios, 0.5).toFixed(2) : "",
    goal ?? "",
  ];
}

/** Formats figures as a Markdown table. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map(formatRow);
  const widths = HEAD.map((_, at) => Math.max(...[HEAD, ...rows].map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function format(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
