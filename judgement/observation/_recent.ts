/** A time at the start of a line, as most programs write it: `2026-03-01T10:20:30.123Z`, `2026/03/01 10:20:30`, in brackets. */
const TIME =
  /^\W{0,2}(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?\s?(Z|[+-]\d\d:?\d\d)?/;

/** Leaves out the lines of a program that are older than a moment. A line without a time has that of the line before it. */
export function dropOldLines(text: string, since: Date): string {
  let isOld = false;
  return text.split("\n").filter((line) => {
    const time = timeOf(line);
    if (time !== undefined) isOld = time < since.getTime();
    return !isOld;
  }).join("\n");
}

function timeOf(line: string): number | undefined {
  const [, year, month, day, time, zone = ""] = TIME.exec(line.slice(0, 60)) ?? [];
  if (year === undefined) return undefined;
  const at = Date.parse(`${year}-${month}-${day}T${time}${zone.replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  return Number.isNaN(at) ? undefined : at;
}
