import { timeOf } from "../detection/mod.ts";

/** Leaves out the lines of a program that are older than a moment. A line without a time has that of the line before it. */
export function dropOldLines(text: string, since: Date): string {
  const now = new Date();
  let isOld = false;
  return text.split("\n").filter((line) => {
    const time = timeOf(line, now);
    if (time !== undefined) isOld = time < since.getTime();
    return !isOld;
  }).join("\n");
}
