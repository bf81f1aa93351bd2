/** Reads arguments of programs. */

/** Returns the arguments that are no options. */
export function operands(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.filter((arg, n) => arg !== "--" && (!arg.startsWith("-") || end >= 0 && n > end));
}

/** Tells whether the arguments have one of some short options, given as letters, or one of some long options. */
export function hasOption(args: readonly string[], letters: string, ...long: string[]): boolean {
  return args.some((arg) =>
    /^-[^-]/.test(arg)
      ? [...letters].some((letter) => arg.slice(1).includes(letter))
      : long.includes(arg.split("=")[0]!)
  );
}

/** Returns the arguments from the first operand on. @param valued options that take their value from the next argument */
export function skipOptions(args: readonly string[], valued: string): readonly string[] {
  const takes = new Set(valued.split(" "));
  let n = 0;
  while (n < args.length) {
    const arg = args[n]!;
    if (arg === "--") return args.slice(n + 1);
    if (!arg.startsWith("-") || arg === "-") break;
    n += takes.has(arg) ? 2 : 1;
  }
  return args.slice(n);
}

/** Returns the value of an option, given as `--name value` or `--name=value`. */
export function optionValue(args: readonly string[], ...names: string[]): string | undefined {
  for (const [n, arg] of args.entries()) {
    if (names.includes(arg)) return args[n + 1];
    const name = names.find((one) => one.startsWith("--") && arg.startsWith(`${one}=`));
    if (name) return arg.slice(name.length + 1);
  }
  return undefined;
}
