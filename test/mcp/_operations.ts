/** Operations of tests, with behaviour that no operation of the platform shows on demand. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, JsonText, Problem } from "../../contract/mod.ts";

const operation = defineOperation<Platform>();
const common = { group: "test", access: "key", input: z.object({}) } as const;

/** Counts to three, with progress. */
export const counting = operation({
  ...common,
  name: "test.count",
  summary: "Count",
  effect: "read",
  output: z.array(z.number()),
  tool: { count: ["full"] },
  example: { input: {}, output: [1, 2, 3] },
  run: (_, { progress }) => {
    for (const n of [1, 2, 3]) progress(n, 3, `at ${n}`);
    return Promise.resolve([1, 2, 3]);
  },
});

/** Creates an operation that waits until it is cancelled. */
export function waiting(name = "wait"): {
  operation: typeof counting;
  begun: Promise<void>;
  ended: Promise<void>;
} {
  let begin = () => {};
  let end = () => {};
  const begun = new Promise<void>((resolve) => begin = resolve);
  const ended = new Promise<void>((resolve) => end = resolve);
  const waits = operation({
    ...common,
    name: `test.${name}`,
    summary: "Wait to be cancelled",
    effect: "run",
    output: z.object({}),
    tool: { [name]: ["full"] },
    governance: { rule: "key-decides" },
    example: { input: {}, output: {} },
    run: (_, { signal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => {
          end();
          reject(new Problem("Cancelled", "The caller cancelled"));
        });
        begin();
      }),
  });
  return { operation: waits, begun, ended };
}

/** Takes half a second. */
export const slow = operation({
  ...common,
  name: "test.slow",
  summary: "Take half a second",
  effect: "read",
  output: z.object({ done: z.boolean() }),
  tool: { slow: ["full"] },
  example: { input: {}, output: { done: true } },
  run: () => sleep(500, { done: true }),
});

/** Returns a JSON text whose bytes matter. */
export const exact = operation({
  ...common,
  name: "test.exact",
  summary: "Give a number with its fraction",
  description: "Even where it is nought.",
  effect: "write",
  output: z.object({ value: z.number() }),
  tool: { exact: ["full", "audit"] },
  governance: { rule: "key-decides" },
  example: { input: {}, output: { value: 1 } },
  run: () => Promise.resolve(new JsonText('{"value":1.0}')),
});

/** Fails with an unexpected error. */
export const broken = operation({
  ...common,
  name: "test.break",
  summary: "Fail",
  effect: "run",
  output: z.object({}),
  tool: { break: ["full"] },
  governance: { rule: "key-decides" },
  example: { input: {}, output: {} },
  run: () => Promise.reject(new Error("SELECT secret FROM /etc/passwd")),
});
