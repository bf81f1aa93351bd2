/** Programs that run other programs: what they would run, taken out of their arguments. */
import { UNKNOWN } from "./_types.ts";

/** What a program runs besides itself. */
export type Inner =
  | { readonly argv: readonly string[]; readonly remote?: boolean }
  | { readonly script: string; readonly remote?: boolean }
  | { readonly code: string; readonly language: string };

interface Wrapper {
  /** Options that take their value from the next argument. */
  readonly valued?: string;
  /** Arguments of its own before the other program: a duration, a host. */
  readonly own?: number;
  /** What follows is joined and read by a shell, as ssh does. */
  readonly joins?: boolean;
  readonly remote?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir" },
  doas: { valued: "-u -C" },
  pkexec: { valued: "--user" },
  env: { valued: "-u -C --unset --chdir" },
  nohup: {},
  setsid: {},
  time: { valued: "-f -o" },
  timeout: { valued: "-s -k --signal --kill-after", own: 1 },
  gtimeout: { valued: "-s -k", own: 1 },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c -n -p -P -u" },
  chrt: { own: 1 },
  taskset: { own: 1 },
  numactl: {},
  stdbuf: { valued: "-i -o -e" },
  unbuffer: {},
  chronic: {},
  command: {},
  builtin: {},
  exec: { valued: "-a" },
  busybox: {},
  toybox: {},
  strace: { valued: "-e -o -p -s -u" },
  ltrace: { valued: "-e -o -p" },
  catchsegv: {},
  proxychains: { valued: "-f" },
  proxychains4: { valued: "-f" },
  torsocks: {},
  faketime: { own: 1 },
  eatmydata: {},
  fakeroot: {},
  firejail: {},
  unshare: {},
  nsenter: { valued: "-t -S -G --target" },
  chroot: { own: 1 },
  "systemd-run": { valued: "-p -u -t -M -H --unit --property --uid --gid --slice" },
  "systemd-inhibit": {},
  flock: { valued: "-w -E -W", own: 1 },
  watch: { valued: "-n -d --interval", joins: true },
  xargs: { valued: "-I -n -P -L -d -a -s -E --max-args --max-procs --delimiter --arg-file" },
  parallel: { valued: "-j -a --jobs --delay --timeout", joins: true },
  ssh: {
    valued: "-i -p -l -o -F -J -L -R -D -b -c -e -m -w -W -E -B -S -I",
    own: 1,
    joins: true,
    remote: true,
  },
  mosh: { own: 1, joins: true, remote: true },
  sshpass: { valued: "-p -f" },
  pdsh: { valued: "-w -g -x -l -f -R", joins: true, remote: true },
  clush: { valued: "-w -g -x -l -f", joins: true, remote: true },
  pssh: { valued: "-h -H -l -p -t", joins: true, remote: true },
  dsh: { valued: "-m -g", joins: true, remote: true },
  "parallel-ssh": { valued: "-h -H -l -p -t", joins: true, remote: true },
  wsl: { valued: "-d -u" },
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
export function innerOf(program: string, args: readonly string[]): Inner[] {
  if (isShell(program)) return shellText(args);
  const special = SPECIAL[program]?.(args);
  if (special) return special;
  const interpreter = INTERPRETERS.find(([name]) => name.test(program));
  if (interpreter) return codeOf(args, interpreter);
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program]! : undefined;
  return wrapper ? wrapped(args, wrapper) : [];
}

function wrapped(
  args: readonly string[],
  { valued = "", own = 0, joins, remote }: Wrapper,
): Inner[] {
  const rest = positional(args, valued).slice(own);
  const start = rest.findIndex((arg) => !/^\w+=/.test(arg));
  const argv = start < 0 ? [] : rest.slice(start);
  if (argv.length === 0) return [];
  return joins ? [{ script: argv.join(" "), remote }] : [{ argv, remote }];
}

/** Arguments from the first that is no option on. */
export function positional(args: readonly string[], valued: string): readonly string[] {
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

function shellText(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg) && !arg.startsWith("--"));
  const text = at < 0 ? undefined : args.slice(at + 1).find((arg) => !arg.startsWith("-"));
  return text === undefined ? [] : [{ script: text }];
}

function codeOf(
  args: readonly string[],
  [, option, language]: typeof INTERPRETERS[number],
): Inner[] {
  if (language === "powershell") return powershell(args);
  const at = args.findIndex((arg) => option.test(arg));
  const text = args[at + 1];
  return at < 0 || text === undefined ? [] : [{ code: text, language }];
}

function powershell(args: readonly string[]): Inner[] {
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
export function option(args: readonly string[], ...names: string[]): string | undefined {
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

function inContainer(args: readonly string[]): Inner[] {
  const at = args.findIndex((arg) => ["exec", "run", "attach", "compose"].includes(arg));
  if (at < 0) return [];
  if (args[at] === "compose") return inContainer(args.slice(at + 1));
  const valued =
    "-e -u -w -v -p -l -m -h -c --env --user --workdir --volume --name --network --net --mount --publish " +
    "--entrypoint --label --memory --cpus --pid --ipc --hostname --env-file --restart --device --cap-add --add-host";
  const entry = option(args, "--entrypoint");
  const rest = positional(args.slice(at + 1), valued).slice(1);
  return program(entry === undefined ? rest : [entry, ...rest], true);
}

function inPod(args: readonly string[]): Inner[] {
  if (!args.includes("exec") && !args.includes("run") && !args.includes("debug")) return [];
  const after = afterDashes(args);
  if (after.length > 0) return program(after, true);
  if (!args.includes("exec")) return [];
  return program(
    positional(args.slice(args.indexOf("exec") + 1), "-n -c --namespace --container").slice(1),
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
  su: (args) => text(option(args, "-c", "--command")),
  runuser: (args) =>
    option(args, "-c", "--command") !== undefined
      ? text(option(args, "-c", "--command"))
      : program(positional(args, "-u -g --user")),
  script: (args) =>
    text(option(args, "-c", "--command") ?? args.find((_, n) => /^-\w*c$/.test(args[n - 1] ?? ""))),
  trap: (args) => text(args[0]?.startsWith("-") ? undefined : args[0]),
  alias: (args) => args.flatMap((arg) => text(/^[\w.-]+=(.*)$/s.exec(arg)?.[1])),
  env: (args) => {
    const at = args.findIndex((arg) => arg === "-S" || arg.startsWith("--split-string"));
    return at < 0 ? undefined : text(
      args.slice(at + (args[at] === "-S" ? 1 : 0)).join(" ").replace(/^--split-string=/, ""),
    );
  },
  flock: (args) =>
    option(args, "-c", "--command") === undefined
      ? undefined
      : text(option(args, "-c", "--command")),
  kubectl: inPod,
  oc: inPod,
  docker: inContainer,
  podman: inContainer,
  nerdctl: inContainer,
  "docker-compose": inContainer,
  crictl: inContainer,
  lxc: (args) => program(afterDashes(args), true),
  incus: (args) => program(afterDashes(args), true),
  pct: (args) => program(afterDashes(args), true),
  multipass: (args) => program(afterDashes(args), true),
  vagrant: (args) => text(option(args, "-c", "--command"), true),
  gcloud: (args) => text(option(args, "--command"), true),
  aws: (args) => text(commandsOf(option(args, "--parameters")), true),
  az: (args) => text(option(args, "--scripts"), true),
  ansible: (args) => {
    const module = option(args, "-m", "--module-name") ?? "command";
    return /(^|\.)(shell|command|raw|script)$/.test(module)
      ? text(option(args, "-a", "--args"), true)
      : [];
  },
  salt: (args) => {
    const at = args.findIndex((arg) => /^cmd\.(run|shell|script|run_all)$/.test(arg));
    return at < 0 ? [] : text(args[at + 1], true);
  },
  "salt-call": (args) => SPECIAL.salt!(args),
  tmux: (args) =>
    args.some((arg) => /^(new|new-session|send-keys|send|neww|new-window|run-shell)$/.test(arg))
      ? text(positional(args.slice(1), "-s -n -t -c -d").join(" "))
      : [],
  screen: (args) => program(positional(args, "-S -c -t")),
  awk: (args) => awk(args),
  gawk: (args) => awk(args),
  mawk: (args) => awk(args),
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

function awk(args: readonly string[]): Inner[] {
  const code = positional(args, "-F -v -f")[0];
  return code === undefined ? [] : [{ code, language: "awk" }];
}

/** The commands within `--parameters '{"commands":["…"]}'` or `commands="…"`. */
function commandsOf(parameters: string | undefined): string | undefined {
  if (parameters === undefined) return undefined;
  const inside = /commands"?\s*[=:]\s*\[?(.*)/s.exec(parameters)?.[1];
  return inside?.replace(/["'\]},[]+/g, " ").trim() || UNKNOWN;
}
