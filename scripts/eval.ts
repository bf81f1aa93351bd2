/**
 * Prints how well the platform judges, measured on cases that were judged by people. Each section is a program:
 *
 *     npm run eval                     all sections
 *     npm run eval -- guard details    one; arguments after its name go to its program
 */
import { run } from "./_run.mjs";

const SECTIONS: Readonly<Record<string, string>> = {
  guard: "guard/eval.ts",
  reports: "engine/classifier/eval.ts",
  findings: "detection/findings_eval.ts",
  citations: "engine/classifier/citations_eval.ts",
  logs: "detection/logs_eval.ts",
};

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !Object.hasOwn(SECTIONS, name)) {
  console.error(`There is no section ${name}; there are ${Object.keys(SECTIONS).join(", ")}`);
  process.exit(2);
}
for (const path of name === undefined ? Object.values(SECTIONS) : [SECTIONS[name]!]) {
  const code = await run(["--import", "tsx", path, ...args], { output: "inherit" });
  if (code !== 0) process.exit(code);
}
