/** One line of the table: figures of the house beside those of its bare baseline, measured in turns. */
export interface Figure {
  /** What was measured, with its unit. */
  readonly what: string;
  /** One a round. */
  readonly house: readonly number[];
  /** One a round; none where there is nothing to compare with. */
  readonly bare?: readonly number[];
  /** What the baseline is. */
  readonly baseline?: string;
  /** The ratio that it is to have, in words. */
  readonly goal?: string;
}

/** Work of the two that are compared; gives the figure of one round. */
export interface Pair<T> {
  readonly bare: T;
  readonly house: T;
}

/**
 * Takes figures in turns, bare and house, house and bare, so that whatever else the machine does meets both. A first
 * round warms up and is not kept.
 */
export async function inTurns(
  rounds: number,
  measure: Pair<() => Promise<number>>,
): Promise<Pair<number[]>> {
  const figures: Pair<number[]> = { bare: [], house: [] };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? ["bare", "house"] as const : ["house", "bare"] as const;
    for (const which of order) {
      const figure = await measure[which]();
      if (round > 0) figures[which].push(figure);
    }
  }
  return figures;
}

/** The value below which the given share of them lies. @param share 0 to 1 */
export function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.round((values.length - 1) * share)]!;
}

const HEAD = ["What", "Median (lowest–highest)", "Bare", "Ratio", "Goal"];

/** What a line of the table says: a ratio is the median of the rounds' own ratios. */
export function row({ what, house, bare, baseline, goal }: Figure): string[] {
  return [
    what,
    `${show(quantile(house, 0.5))} (${show(quantile(house, 0))}–${show(quantile(house, 1))})`,
    bare ? `${show(quantile(bare, 0.5))} ${baseline ?? ""}`.trim() : "",
    bare ? quantile(house.map((figure, at) => figure / bare[at]!), 0.5).toFixed(2) : "",
    goal ?? "",
  ];
}

/** A Markdown table of medians. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(row);
  const widths = HEAD.map((_, at) => Math.max(...[HEAD, ...rows].map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(HEAD), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

const show = (value: number) =>
  value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", { maximumSignificantDigits: 3 });
