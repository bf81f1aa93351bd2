/** Programs that run other programs, which are read from their arguments. */
import { skipOptions } from "./_arguments.ts";
import { SPECIAL_WRAPPERS } from "./_special_wrappers.ts";
import type { Inner } from "./_types.ts";

interface Wrapper {
  /** Options that take their value from the next argument. */
  readonly valueOptions?: string;
  /** Number of its own operands before the other program: a duration, a host. */
  readonly operands?: number;
  /** The remaining arguments are joined and read by a shell, as ssh does. */
  readonly joinsArguments?: boolean;
  readonly remote?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { valueOptions: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir" },
  doas: { valueOptions: "-u -C" },
  pkexec: { valueOptions: "--user" },
  env: { valueOptions: "-u -C --unset --chdir" },
  nohup: {},
  setsid: {},
  time: { valueOptions: "-f -o" },
  timeout: { valueOptions: "-s -k --signal --kill-after", operands: 1 },
  gtimeout: { valueOptions: "-s -k", operands: 1 },
  nice: { valueOptions: "-n --adjustment" },
  ionice: { valueOptions: "-c -n -p -P -u" },
  chrt: { operands: 1 },
  taskset: { operands: 1 },
  numactl: {},
  stdbuf: { valueOptions: "-i -o -e" },
  unbuffer: {},
  chronic: {},
  command: {},
  builtin: {},
  exec: { valueOptions: "-a" },
  busybox: {},
  toybox: {},
  strace: { valueOptions: "-e -o -p -s -u" },
  ltrace: { valueOptions: "-e -o -p" },
  catchsegv: {},
  proxychains: { valueOptions: "-f" },
  proxychains4: { valueOptions: "-f" },
  torsocks: {},
  faketime: { operands: 1 },
  eatmydata: {},
  fakeroot: {},
  firejail: {},
  unshare: {},
  nsenter: { valueOptions: "-t -S -G --target" },
  chroot: { operands: 1 },
  "systemd-run": { valueOptions: "-p -u -t -M -H --unit --property --uid --gid --slice" },
  "systemd-inhibit": {},
  flock: { valueOptions: "-w -E -W", operands: 1 },
  watch: { valueOptions: "-n -d --interval", joinsArguments: true },
  xargs: { valueOptions: "-I -n -P -L -d -a -s -E --max-args --max-procs --delimiter --arg-file" },
  parallel: { valueOptions: "-j -a --jobs --delay --timeout", joinsArguments: true },
  ssh: {
    valueOptions: "-i -p -l -o -F -J -L -R -D -b -c -e -m -w -W -E -B -S -I",
    operands: 1,
    joinsArguments: true,
    remote: true,
  },
  mosh: { operands: 1, joinsArguments: true, remote: true },
  sshpass: { valueOptions: "-p -f" },
  pdsh: { valueOptions: "-w -g -x -l -f -R", joinsArguments: true, remote: true },
  clush: { valueOptions: "-w -g -x -l -f", joinsArguments: true, remote: true },
  pssh: { valueOptions: "-h -H -l -p -t", joinsArguments: true, remote: true },
  dsh: { valueOptions: "-m -g", joinsArguments: true, remote: true },
  "parallel-ssh": { valueOptions: "-h -H -l -p -t", joinsArguments: true, remote: true },
  wsl: { valueOptions: "-d -u" },
  torify: {},
  "dbus-run-session": {},
};
const SHELLS = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "ash",
  "mksh",
  "fish",
  "rbash",
  "csh",
  "tcsh",
]);
/** Interpreters by name, with the option for program text, and their language. */
const INTERPRETERS: readonly [RegExp, RegExp, string][] = [
  [/^(python|pypy)[\d.]*$/, /^-\w*c$/, "python"],
  [/^perl[\d.]*$/, /^-\w*[eE]$/, "perl"],
  [/^ruby[\d.]*$/, /^-\w*e$/, "ruby"],
  [/^(node|nodejs|deno|bun)$/, /^(-e|-p|--eval|-pe|--print|eval)$/, "javascript"],
  [/^php[\d.]*$/, /^-r$/, "php"],
  [/^lua[\d.]*$/, /^-e$/, "lua"],
  [/^(pwsh|powershell)$/, /^[-/]c/i, "powershell"],
  [/^(osascript)$/, /^-e$/, "applescript"],
  [/^(Rscript|r)$/i, /^-e$/, "r"],
];

/** Tells whether a program reads shell text. */
export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** Returns the language of an interpreter; undefined: the program is none. */
export function languageOf(program: string): string | undefined {
  return INTERPRETERS.find(([name]) => name.test(program))?.[2];
}

/** Returns everything that a program would run, by its arguments. */
export function unwrap(program: string, args: readonly string[]): Inner[] {
  if (isShell(program)) return unwrapShell(args);
  const special = Object.hasOwn(SPECIAL_WRAPPERS, program)
    ? SPECIAL_WRAPPERS[program]!(args)
    : undefined;
  if (special) return special;
  const interpreter = INTERPRETERS.find(([name]) => name.test(program));
  if (interpreter) return unwrapInterpreter(args, interpreter);
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program]! : undefined;
  return wrapper ? unwrapStandard(args, wrapper) : [];
}

function unwrapStandard(
  args: readonly string[],
  { valueOptions = "", operands = 0, joinsArguments, remote }: Wrapper,
): Inner[] {
  const rest = skipOptions(args, valueOptions).slice(operands);
  const start = rest.findIndex((arg) => !/^\w+=/.test(arg));
  const argv = start < 0 ? [] : rest.slice(start);
  if (argv.length === 0) return [];
  return joinsArguments ? [{ script: argv.join(" "), remote }] : [{ argv, remote }];
}

function unwrapShell(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg) && !arg.startsWith("--"));
  const text = at < 0 ? undefined : args.slice(at + 1).find((arg) => !arg.startsWith("-"));
  return text === undefined ? [] : [{ script: text }];
}

function unwrapInterpreter(
  args: readonly string[],
  [, option, language]: typeof INTERPRETERS[number],
): Inner[] {
  if (language === "powershell") return unwrapPowershell(args);
  const at = args.findIndex((arg) => option.test(arg));
  const text = args[at + 1];
  return at < 0 || text === undefined ? [] : [{ code: text, language }];
}

function unwrapPowershell(args: readonly string[]): Inner[] {
  const encoded = args.findIndex((arg) => /^[-/]e(c|nc\w*)?$/i.test(arg));
  if (encoded >= 0) {
    const text = Buffer.from(args[encoded + 1] ?? "", "base64").toString("utf16le");
    return [{ code: text, language: "powershell" }];
  }
  const at = args.findIndex((arg) => /^[-/]c(ommand)?$/i.test(arg));
  const text = at < 0
    ? args.filter((arg) => !arg.startsWith("-")).join(" ")
    : args.slice(at + 1).join(" ");
  return text === "" ? [] : [{ code: text, language: "powershell" }];
}
