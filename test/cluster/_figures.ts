/** Prints the figures of a scenario, one a line, past mocha's report. */
export function figures(title: string, values: Readonly<Record<string, number | string>>): void {
  const lines = Object.entries(values).map(([name, value]) =>
    `    ${name}: ${typeof value === "number" ? Math.round(value * 10) / 10 : value}\n`
  );
  process.stderr.write(`\n  ${title}\n${lines.join("")}`);
}
