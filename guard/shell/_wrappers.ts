/** Programs that run other programs: what they would run, taken out of their arguments. */
import { UNKNOWN } from "./_types.ts";

/** What a program runs besides itself. */
export type Inner =
  | { readonly argv: readonly string[]; readonly remote?: boolean }
  | { readonly script: string; readonly remote?: boolean }
  | { readonly code: string; readonly language: string };

interface Wrapper {
  /** Options that take their value from the next argument. */
  readonly valueOptions?: string;
  /** Arguments of its own before the other program: a duration, a host. */
  readonly operands?: number;
  /** What follows is joined and read by a shell, as ssh does. */
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
/** Interpreters by name, with the option that gives the program. */
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

/** Whether a program reads shell text. */
export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** The language of an interpreter's programs, where it is one. */
export function languageOf(program: string): string | undefined {
  return INTERPRETERS.find(([name]) => name.test(program))?.[2];
}

/** Everything that a program would run, as far as its arguments say. */
export function unwrap(program: string, args: readonly string[]): Inner[] {
  if (isShell(program)) return unwrapShell(args);
  const special = SPECIAL[program]?.(args);
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

/** Arguments from the first that is no option on. */
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

/** The value of an option, as `--name value` or `--name=value`. */
export function optionValue(args: readonly string[], ...names: string[]): string | undefined {
  for (const [n, arg] of args.entries()) {
    if (names.includes(arg)) return args[n + 1];
    const name = names.find((one) => one.startsWith("--") && arg.startsWith(`${one}=`));
    if (name) return arg.slice(name.length + 1);
  }
  return undefined;
}

function afterDashes(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  return at < 0 ? [] : args.slice(at + 1);
}

const text = (script: string | undefined, remote = false): Inner[] =>
  script === undefined ? [] : [{ script, remote }];
const program = (argv: readonly string[], remote = false): Inner[] =>
  argv.length === 0 ? [] : [{ argv, remote }];

function unwrapContainer(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => ["exec", "run", "attach", "compose"].includes(arg));
  if (at < 0) return [];
  if (args[at] === "compose") return unwrapContainer(args.slice(at + 1));
  const valued =
    "-e -u -w -v -p -l -m -h -c --env --user --workdir --volume --name --network --net --mount --publish " +
    "--entrypoint --label --memory --cpus --pid --ipc --hostname --env-file --restart --device --cap-add --add-host";
  const entry = optionValue(args, "--entrypoint");
  const rest = skipOptions(args.slice(at + 1), valued).slice(1);
  return program(entry === undefined ? rest : [entry, ...rest], true);
}

function unwrapPod(args: readonly string[]): Inner[] {
  if (!args.includes("exec") && !args.includes("run") && !args.includes("debug")) return [];
  const after = afterDashes(args);
  if (after.length > 0) return program(after, true);
  if (!args.includes("exec")) return [];
  return program(
    skipOptions(args.slice(args.indexOf("exec") + 1), "-n -c --namespace --container").slice(1),
    true,
  );
}

/** Programs whose way of naming another is their own. */
const SPECIAL: Readonly<Record<string, (args: readonly string[]) => Inner[] | undefined>> = {
  find: (args) => {
    const at = args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg));
    const end = args.findIndex((arg, n) => n > at && (arg === ";" || arg === "+"));
    const [name, ...rest] = at < 0 ? [] : args.slice(at + 1, end < 0 ? undefined : end);
    if (name === undefined || /(^|\/)(rm|unlink|shred|srm)$/.test(name)) return [];
    const root = args[0]?.startsWith("-") || args[0] === undefined ? "." : args[0];
    const deep = /(^|\/)(chmod|chown|chgrp)$/.test(name) ? ["-R"] : [];
    return program([name, ...deep, ...rest.map((arg) => arg.replaceAll("{}", root))]);
  },
  eval: (args) => text(args.join(" ")),
  su: (args) => text(optionValue(args, "-c", "--command")),
  runuser: (args) =>
    optionValue(args, "-c", "--command") !== undefined
      ? text(optionValue(args, "-c", "--command"))
      : program(skipOptions(args, "-u -g --user")),
  script: (args) =>
    text(optionValue(args, "-c", "--command") ?? args.find((_, n) => /^-\w*c$/.test(args[n - 1] ?? ""))),
  trap: (args) => text(args[0]?.startsWith("-") ? undefined : args[0]),
  alias: (args) => args.flatMap((arg) => text(/^[\w.-]+=(.*)$/s.exec(arg)?.[1])),
  env: (args) => {
    const at = args.findIndex((arg) => arg === "-S" || arg.startsWith("--split-string"));
    return at < 0 ? undefined : text(
      args.slice(at + (args[at] === "-S" ? 1 : 0)).join(" ").replace(/^--split-string=/, ""),
    );
  },
  flock: (args) =>
    optionValue(args, "-c", "--command") === undefined
      ? undefined
      : text(optionValue(args, "-c", "--command")),
  kubectl: unwrapPod,
  oc: unwrapPod,
  docker: unwrapContainer,
  podman: unwrapContainer,
  nerdctl: unwrapContainer,
  "docker-compose": unwrapContainer,
  crictl: unwrapContainer,
  lxc: (args) => program(afterDashes(args), true),
  incus: (args) => program(afterDashes(args), true),
  pct: (args) => program(afterDashes(args), true),
  multipass: (args) => program(afterDashes(args), true),
  vagrant: (args) => text(optionValue(args, "-c", "--command"), true),
  gcloud: (args) => text(optionValue(args, "--command"), true),
  aws: (args) => text(commandsOf(optionValue(args, "--parameters")), true),
  az: (args) => text(optionValue(args, "--scripts"), true),
  ansible: (args) => {
    const module = optionValue(args, "-m", "--module-name") ?? "command";
    return /(^|\.)(shell|command|raw|script)$/.test(module)
      ? text(optionValue(args, "-a", "--args"), true)
      : [];
  },
  salt: (args) => {
    const at = args.findIndex((arg) => /^cmd\.(run|shell|script|run_all)$/.test(arg));
    return at < 0 ? [] : text(args[at + 1], true);
  },
  "salt-call": (args) => SPECIAL.salt!(args),
  tmux: (args) =>
    args.some((arg) => /^(new|new-session|send-keys|send|neww|new-window|run-shell)$/.test(arg))
      ? text(skipOptions(args.slice(1), "-s -n -t -c -d").join(" "))
      : [],
  screen: (args) => program(skipOptions(args, "-S -c -t")),
  awk: (args) => unwrapAwk(args),
  gawk: (args) => unwrapAwk(args),
  mawk: (args) => unwrapAwk(args),
  tar: (args) =>
    args.flatMap((arg) =>
      text(
        /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command)=(.*)$/s.exec(arg)
          ?.[1],
      )
    ),
  vim: (args) => args.flatMap((arg) => text(/^[+:]?:?!(.*)$/s.exec(arg)?.[1])),
  git: (args) => args.flatMap((arg) => text(/^(?:alias\.\w+|core\.\w+)=!?(.*)$/s.exec(arg)?.[1])),
  nsenter: (args) => {
    const after = afterDashes(args);
    return after.length > 0 ? program(after, true) : undefined;
  },
  cmd: (args) => {
    const at = args.findIndex((arg) => /^\/[ck]$/i.test(arg));
    return at < 0 ? [] : [{ code: args.slice(at + 1).join(" "), language: "cmd" }];
  },
};

function unwrapAwk(args: readonly string[]): Inner[] {
  const code = skipOptions(args, "-F -v -f")[0];
  return code === undefined ? [] : [{ code, language: "awk" }];
}

/** The commands within `--parameters '{"commands":["…"]}'` or `commands="…"`. */
function commandsOf(parameters: string | undefined): string | undefined {
  if (parameters === undefined) return undefined;
  const inside = /commands"?\s*[=:]\s*\[?(.*)/s.exec(parameters)?.[1];
  return inside?.replace(/["'\]},[]+/g, " ").trim() || UNKNOWN;
}
