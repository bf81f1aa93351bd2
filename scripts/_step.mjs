/** Tells on standard error what is being done and how long it took; standard output may be a client's. */

const output = process.stderr;

/**
 * Does a piece of work and prints a line about it.
 *
 * @param {string} title for the line
 * @param {() => Promise<string>} work returns what it has done, in a few words
 */
export async function step(title, work) {
  const startedAt = performance.now();
  const head = `  ${title.padEnd(13)}`;
  if (output.isTTY) output.write(`${head}…\r`);
  const result = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  output.write(`${head}${result.padEnd(36)} ${seconds.padStart(5)} s\n`);
}
