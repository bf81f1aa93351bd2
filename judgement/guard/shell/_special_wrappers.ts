/** Programs that name the program they run in a way of their own. */
import { optionValue, skipOptions } from "./_arguments.ts";
import { type Inner, UNKNOWN } from "./_types.ts";

function afterDashes(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  return at < 0 ? [] : args.slice(at + 1);
}

function text(script: string | undefined, remote = false): Inner[] {
  return script === undefined ? [] : [{ script, remote }];
}

function program(argv: readonly string[], remote = false): Inner[] {
  return argv.length === 0 ? [] : [{ argv, remote }];
}

/** Returns the value of a short option, apart or attached. */
function valueOf(args: readonly string[], letter: string): string | undefined {
  const at = args.findIndex((arg) => arg.startsWith(`-${letter}`));
  return at < 0 ? undefined : args[at]!.slice(2) || args[at + 1];
}

/** Returns the text of a word that a shell expands once more. */
function quoted(word: string | undefined): Inner[] {
  return word === undefined ? [] : text(`: "${word.replaceAll('"', " ")}"`);
}

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

/** Readers of arguments by program; undefined: the program is an ordinary wrapper here. */
export const SPECIAL_WRAPPERS: Readonly<
  Record<string, (args: readonly string[]) => Inner[] | undefined>
> = {
  find: (args) => {
    const at = args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg));
    const end = args.findIndex((arg, n) => n > at && (arg === ";" || arg === "+"));
    const [name, ...rest] = at < 0 ? [] : args.slice(at + 1, end < 0 ? undefined : end);
    if (name === undefined || /(^|\/)(rm|unlink|shred|srm)$/.test(name)) return [];
    const root = args[0]?.startsWith("-") || args[0] === undefined ? "." : args[0];
    const deep = /(^|\/)(chmod|chown|chgrp)$/.test(name) ? ["-R"] : [];
    return program([name, ...deep, ...rest.map((arg) => arg.replaceAll("{}", root))]);
  },
  mapfile: (args) => text(valueOf(args, "C")),
  readarray: (args) => text(valueOf(args, "C")),
  compgen: (args) => [...text(valueOf(args, "C")), ...quoted(valueOf(args, "W"))],
  complete: (args) => [...text(valueOf(args, "C")), ...quoted(valueOf(args, "W"))],
  bind: (args) => text(valueOf(args, "x")?.replace(/^[^:]*:/, "")),
  perf: (args) =>
    args[0] === "stat" || args[0] === "record" || args[0] === "trace"
      ? program(skipOptions(args.slice(1), "-p -t -C -e -r -I -F -o --pid --tid --cpu --event"))
      : [],
  eval: (args) => text(args.join(" ")),
  su: (args) => text(optionValue(args, "-c", "--command")),
  runuser: (args) =>
    optionValue(args, "-c", "--command") !== undefined
      ? text(optionValue(args, "-c", "--command"))
      : program(skipOptions(args, "-u -g --user")),
  script: (args) =>
    text(
      optionValue(args, "-c", "--command") ??
        args.find((_, n) => /^-\w*c$/.test(args[n - 1] ?? "")),
    ),
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
  "salt-call": (args) => SPECIAL_WRAPPERS.salt!(args),
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

/** Returns the commands within `--parameters '{"commands":["…"]}'` or `commands="…"`. */
function commandsOf(parameters: string | undefined): string | undefined {
  if (parameters === undefined) return undefined;
  const inside = /commands"?\s*[=:]\s*\[?(.*)/s.exec(parameters)?.[1];
  return inside?.replace(/["'\]},[]+/g, " ").trim() || UNKNOWN;
}
