/** Finds commands within prose and within decoded text. */
import { readExpressions } from "./_expressions.ts";

const expressions = readExpressions("embedded_commands", [
  "order",
  "programs",
]);

const MAX_COMMANDS = 6;

/** An order in a ticket to run something. What was run ("someone ran …") is no order. */
const ORDER = expressions.order;
const PROGRAMS = expressions.programs;

/** Returns the parts of a text that begin with the name of a program. */
export function findCommands(text: string): string[] {
  return [...text.matchAll(PROGRAMS)].slice(0, MAX_COMMANDS)
    .map(([line]) => line.replace(/[`"”]?[.)]?\s*$/, ""));
}

/** Returns the commands that a text orders to run. */
export function findOrderedCommands(text: string): string[] {
  return [...text.matchAll(ORDER)].slice(0, MAX_COMMANDS)
    .map(([, line]) => line!.replace(/[.)\]]+\s*$/, ""));
}
