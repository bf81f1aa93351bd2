/**
 * Runs a command and ends the process with its exit code, once whoever reads its output has taken all of it:
 * `process.exit()` alone drops what a pipe has not taken. A reader that has gone, such as `head`, ends nothing.
 *
 * @param command returns the exit code, and prints its own errors
 */
export async function runToEnd(command: () => number | Promise<number>): Promise<never> {
  const outputs = [process.stdout, process.stderr];
  for (const output of outputs) output.on("error", ignoreGoneReader);
  const code = await command();
  await Promise.all(outputs.map(drain));
  process.exit(code);
}

function ignoreGoneReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Resolves when a stream's reader has taken what was written, or has gone. */
function drain(output: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed) resolve();
    else output.write("", () => resolve());
  });
}
