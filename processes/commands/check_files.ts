/** `npm run check-files`: checks all settings files as the processes would, without any of them. */
import { existsSync } from "node:fs";
import { BadSetting, type Config, loadConfig } from "../../config.ts";
import {
  checkGovernanceFile,
  governanceFileOf,
  unknownNamesIn,
} from "../../calls/governance/mod.ts";
import { toLine } from "../../contract/mod.ts";
import { describeMistake } from "../../integrations/settings_files/mod.ts";
import { registry } from "../../operations/mod.ts";
import { type CheckedFile, checkSettingsFiles } from "../_settings_files.ts";
import { runToEnd } from "../_end.ts";
import { parseArguments, reportFailure } from "./_arguments.ts";

const USAGE = `Usage: npm run check-files

Checks the environment, temporal.yaml and all settings files as the processes would, which need not run. Prints a line for
each: that it is ok, or the file with line and column, what is wrong, and what would be right. Ends with 1 where something
would be refused.`;

await runToEnd(() => {
  try {
    parseArguments(USAGE, {});
    const config = loadConfig(process.env);
    console.log("ok        the environment and temporal.yaml");
    const files = checkSettingsFiles(config);
    for (const file of files) console.log(describe(file));
    for (const warning of warnings(config, files)) console.log(`warning   ${toLine(warning)}`);
    return files.some(({ mistakes }) => mistakes.length > 0) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof BadSetting)) return reportFailure(error, USAGE);
    console.log(`refused   ${error.message}`);
    return 1;
  }
});

function describe({ path, mistakes }: CheckedFile): string {
  if (mistakes.length > 0) {
    return mistakes.map((one) => `refused   ${toLine(describeMistake(one))}`).join("\n");
  }
  return existsSync(path) ? `ok        ${path}` : `none      ${path}, which need not be there`;
}

/** Returns the names in rules of governance that match nothing. The file is taken all the same. */
function warnings(config: Config, files: readonly CheckedFile[]): string[] {
  const file = governanceFileOf(config);
  const isTaken = files.some(({ name, mistakes }) =>
    name === "governance" && mistakes.length === 0
  );
  const content = isTaken ? checkGovernanceFile(file) : undefined;
  if (!content) return [];
  return unknownNamesIn(content, [...registry.values()]).map((one) => `${file.path}: ${one}`);
}
