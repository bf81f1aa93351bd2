import { spawn } from "node:child_process";

/**
 * Runs a program to its end. SIGTERM is passed on to it; its standard output goes to standard error.
 *
 * @param {readonly string[]} args
 * @param {{ program?: string, output?: number | "inherit" }} [options] program: Node by default. output: file descriptor
 * @returns {Promise<number>} its exit code; 1 where it could not be started or a signal ended it
 */
export function run(args, { program = process.execPath, output = 2 } = {}) {
  const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1" };
  const child = spawn(program, args, { stdio: ["inherit", output, 2], env });
  const passOn = (signal) => child.kill(signal);
  const ignore = () => {}; // a terminal sends SIGINT to the child as well
  process.on("SIGTERM", passOn).on("SIGINT", ignore);
  return new Promise((resolve) => {
    const end = (code) => {
      process.off("SIGTERM", passOn).off("SIGINT", ignore);
      resolve(code ?? 1);
    };
    child.once("error", (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      end(1);
    });
    child.once("close", end);
  });
}
