/**
 * Prints how many questions of people on call an agent answers that knows nothing but the list of tools: it calls the tool
 * whose description has most of the question's words, and one more where that did not answer. Services were broken and
 * repaired for real before.
 *
 *     npm run eval -- agents            totals
 *     npm run eval -- agents details    and each question with its calls
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { openWorld } from "./_world.ts";
import { ask, rankTools } from "./_scripted_agent.ts";

/** A question, and what an answer has to contain. */
interface Question {
  readonly text: string;
  /** Patterns; all have to occur in what the calls return. */
  readonly expects: readonly string[];
  /** True where it asks for an act. */
  readonly acts?: true;
}

const MAX_CALLS = 2;
const MAX_LENGTH = 8 * 1024;

const lines = readFileSync(join(ROOT, "evals", "agents", "questions.jsonl"), "utf8");
const questions = lines.trim().split("\n").map((line): Question => JSON.parse(line));
const world = await openWorld();
try {
  const { tools } = await world.agent.listTools();
  const rank = rankTools(tools);
  const outcomes = [];
  for (const { text, expects, acts = false } of questions) {
    const patterns = expects.map((pattern) => new RegExp(pattern));
    const isAnswered = (results: string) => patterns.every((pattern) => pattern.test(results));
    const { calls, length, results } = await ask(world.agent, rank, text, {
      acts,
      services: world.services,
      maxCalls: MAX_CALLS,
      isAnswered,
    });
    outcomes.push({ text, calls, length, results, answered: isAnswered(results) });
  }
  const right = outcomes.filter(({ answered, length }) => answered && length <= MAX_LENGTH);
  const lengths = outcomes.map(({ length }) => length).sort((a, b) => a - b);
  console.log("## Questions of people on call, by descriptions alone\n");
  console.log(
    "| questions | answered within 2 calls and 8 KB | answered by the first call | median KB | most KB | list of tools, KB |",
  );
  console.log("| --: | --: | --: | --: | --: | --: |");
  const kb = (length: number) => (length / 1024).toFixed(1);
  console.log(
    `| ${outcomes.length} | ${right.length} | ${
      right.filter(({ calls }) => calls.length === 1).length
    } | ${kb(lengths[lengths.length >> 1]!)} | ${kb(lengths.at(-1)!)} | ${
      kb(JSON.stringify(tools).length)
    } |`,
  );
  if (process.argv.includes("details")) {
    for (const { text, calls, length, results, answered } of outcomes) {
      console.log(
        `- ${answered ? "answered" : "NOT answered"}: ${text} (${calls.join(", ")}; ${length})`,
      );
      if (!answered) console.log(results);
    }
  }
} finally {
  await world.close();
}
process.exit(0);
