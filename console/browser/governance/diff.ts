/** A line of two texts that are compared. */
export interface DiffLine {
  /** `+`: only the later text has it; `-`: only the earlier one; a space: both. */
  readonly sign: "+" | "-" | " ";
  readonly line: string;
}

/** Compares two texts by their lines: those of a longest common subsequence are in both. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  /** Length of the longest common subsequence of what is left from line i of `a` and line j of `b` on. */
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j]
        ? common[i + 1]![j + 1]! + 1
        : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", line: a[i]! });
      [i, j] = [i + 1, j + 1];
    } else if (j === b.length || i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!) {
      lines.push({ sign: "-", line: a[i++]! });
    } else {
      lines.push({ sign: "+", line: b[j++]! });
    }
  }
  return lines;
}
