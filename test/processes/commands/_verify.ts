import { execFile } from "node:child_process";
import { ROOT } from "../../../config.ts";
import { program } from "../../_programs.ts";

/** End of a run of the command. */
export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command as npm does. */
export async function verify(...args: readonly string[]): Promise<Ended> {
  const command = [await program("processes/commands/verify.ts"), "--threads", "1", ...args];
  return await new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: ROOT }, (error, out, err) => {
      resolve({ status: Number(error?.code ?? 0), out, err });
    });
  });
}
