import type { Condition, Part } from "../../store/mod.ts";

/** What became of a row's condition. */
export interface Held {
  /** True where there is none. */
  readonly holds: boolean;
  /** What the database told of it. */
  readonly found?: unknown;
}

/** What a statement asks of the conditions of all that it writes. */
export interface Question {
  readonly name: string;
  /** The last of its tables is `asked`. */
  readonly part: Omit<Part, "columns">;
  /** Whether a row is to be written. */
  readonly holds: string;
  /** @param asked its row; absent: it has none */
  answers(asked: unknown): readonly Held[] | undefined;
}

/**
 * What can be asked of conditions, in that order: the first that has answers says what becomes of their rows. One that is
 * undefined: there are no conditions.
 */
export function questionsOf(
  conditions: readonly (Condition | undefined)[],
): (Question | undefined)[] {
  const one = conditions.find((condition) => condition);
  if (!one) return [undefined];
  const values = conditions.map((condition) => JSON.stringify(condition?.value ?? null));
  const many = values.length;
  const { alike } = one;
  const function_: Question = {
    name: one.function,
    part: {
      tables: `asked AS MATERIALIZED (SELECT holds, told FROM ${one.function}(?::jsonb))`,
      values: [`[${values.join(",")}]`],
    },
    holds: "(SELECT holds FROM asked)[nr]",
    answers(asked) {
      const { holds, told } = asked as { holds: boolean[]; told: unknown[] };
      return holds.map((holds, n) => ({ holds, found: told[n] }));
    },
  };
  if (!alike || values.some((value) => value !== values[0])) return [function_];
  return [{
    name: alike.name,
    part: alike.part(many),
    holds: "EXISTS (SELECT FROM asked)",
    answers: (asked) =>
      asked
        ? values.map((_, n) => ({ holds: true, found: alike.told(asked, many - 1 - n) }))
        : undefined,
  }, function_];
}
