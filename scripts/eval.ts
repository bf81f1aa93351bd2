/**
 * Prints how well the platform judges, measured on cases that were judged by people. Each section is a program:
 *
 *     npm run eval                     all sections
 *     npm run eval -- guard details    one; arguments after its name go to its program
 */
import { run } from "./_run.mjs";

const SECTIONS: Readonly<Record<string, string>> = {
  guard: "evals/guard/eval.ts",
  reports: "evals/reports/eval.ts",
  findings: "evals/detection/findings_eval.ts",
  citations: "evals/reports/citations_eval.ts",
  questions: "evals/questions/eval.ts",
  logs: "evals/detection/logs_eval.ts",
  causes: "evals/causes/eval.ts",
  root_causes: "evals/root_causes/eval.ts",
  agents: "evals/agents/eval.ts",
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  for (const path of Object.values(SECTIONS)) {
    process.exitCode = await evaluate(path);
    if (process.exitCode !== 0) break;
  }
} else if (Object.hasOwn(SECTIONS, name)) {
  process.exitCode = await evaluate(SECTIONS[name]!);
} else {
  console.error(`There is no section ${name}; there are ${Object.keys(SECTIONS).join(", ")}`);
  process.exitCode = 2;
}

async function evaluate(path: string): Promise<number> {
  return await run(["--import", "tsx", path, ...args], { output: "inherit" });
}
