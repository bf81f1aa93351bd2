/**
 * Text that a shell runs although it is no command: arithmetic, subscripts, names of variables and `${x@P}`. Quotes do not
 * protect it: `test -v 'a[$(reboot)]'` reboots.
 */
import type { ArithmeticExpression } from "unbash";
import { findProgram } from "./_programs.ts";
import { UNKNOWN } from "./_types.ts";

/** Kinds of words that a shell evaluates. */
const EVALUATED = new Set(["arithmetic", "assignment", "condition", "number", "variable"]);
const SUBSTITUTION = /\$\(|`|\$\{/;
const MAX_STEPS = 8;

/** Tells whether a shell evaluates the words of a program. */
export function evaluatesWords(program: string): boolean {
  const known = findProgram(program);
  return known !== undefined &&
    (EVALUATED.has(known.args ?? "") ||
      [...known.options.values()].some((kind) => EVALUATED.has(kind)));
}

/** Tells whether text holds a substitution, which runs a program. */
export function hasSubstitution(text: string): boolean {
  return SUBSTITUTION.test(text);
}

/**
 * Returns the values of variables that arithmetic would evaluate, as far as they hold more than numbers and names: bash
 * evaluates the value of a name like the text that has the name.
 */
export function evaluatedValues(
  text: string,
  variables: ReadonlyMap<string, string>,
): readonly string[] {
  const found = new Set<string>();
  let names: readonly string[] = [text];
  for (let step = 0; step < MAX_STEPS && names.length > 0; step++) {
    const values = names.flatMap((one) => one.match(/[A-Za-z_]\w*/g) ?? [])
      .map((name) => variables.get(name)).filter((value) => value !== undefined);
    names = values.filter((value) => !found.has(value));
    for (const value of names) found.add(value);
  }
  return [...found].filter((value) => SUBSTITUTION.test(value));
}

/** Returns the text of an arithmetic expression of a `for` loop. */
export function arithmeticText(expression: ArithmeticExpression | undefined): string {
  switch (expression?.type) {
    case undefined:
      return "";
    case "ArithmeticWord":
      return expression.value;
    case "ArithmeticCommandExpansion":
      return expression.text;
    case "ArithmeticGroup":
      return arithmeticText(expression.expression);
    case "ArithmeticUnary":
      return arithmeticText(expression.operand);
    case "ArithmeticBinary":
      return `${arithmeticText(expression.left)} ${arithmeticText(expression.right)}`;
    case "ArithmeticTernary":
      return [expression.test, expression.consequent, expression.alternate].map(arithmeticText)
        .join(" ");
  }
}

/** Tells whether a word is a variable's name, with a plain subscript or none. */
export function isVariableName(word: string): boolean {
  return /^[A-Za-z_]\w*(\[(\d+|[@*]|[A-Za-z_]\w*)\])?$/.test(word);
}

/** Tells whether a word is plain arithmetic: numbers, names and signs. What a program printed counts as a number. */
export function isPlainArithmetic(word: string): boolean {
  return /^[\w\s+*/%()<>=!&|^~?:,.-]*$/.test(word.replaceAll(UNKNOWN, "0"));
}
