/** Judges programs that end processes, or tell them something. */
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { UNKNOWN } from "./_types.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("processes", [
  "defence",
]);

const SIGNAL = /^(-[sn]?|--signal=?)?(SIG)?([A-Z]+\d?|\d+)$/;
const LIGHT = /^(0|1|2|3|6|9|10|12|15|18|HUP|INT|QUIT|ABRT|KILL|USR1|USR2|TERM|CONT|WINCH|28)$/;
const TELLS = /^(0|1|10|12|HUP|USR1|USR2|CONT|WINCH|28|18)$/;
const DEFENCE = expressions.defence;
const VITAL =
  /^(init|systemd\S*|sshd?|dockerd|containerd\S*|kubelet|postgres\S*|mysqld?|mariadbd?|mongod|redis-server|etcd|dbus\S*|java|python\d?|node|ruby|perl|php\S*|bash|sh|nginx|httpd|apache2|haproxy|qemu\S*|libvirtd)$/;

interface Signalled {
  readonly signal: string;
  readonly words: readonly string[];
  readonly options: readonly string[];
}

/** Tells the signal apart from what gets it. */
function readSignal(args: readonly string[]): Signalled {
  let signal = "TERM";
  const words: string[] = [];
  const options: string[] = [];
  let ended = false;
  for (let n = 0; n < args.length; n++) {
    const arg = args[n]!;
    if (ended || !arg.startsWith("-")) words.push(arg);
    else if (arg === "--") ended = true;
    else if (/^(-s|-n|--signal)$/.test(arg)) signal = args[++n] ?? "";
    else if (SIGNAL.test(arg) && !(n > 0 && arg === "-1")) signal = SIGNAL.exec(arg)![3]!;
    else if (/^-\d/.test(arg)) words.push(arg);
    else options.push(arg);
  }
  return { signal: signal.replace(/^SIG/, ""), words, options };
}

/** Judges `kill`. */
export const kill: ProgramRule = ({ args }) => {
  const { signal, words, options } = readSignal(args);
  if (options.some((one) => /^-[lL]/.test(one))) return [];
  if (words.includes("-1") || args[0] === "-1" && words.length === 0) {
    return [deny("outage", "It ends every process of the host")];
  }
  if (words.includes("1") && !/^(HUP|1|0)$/.test(signal)) {
    return [deny("outage", "It ends process 1, on which all others depend")];
  }
  if (!LIGHT.test(signal)) return [ask("outage", "It holds a process, or sends it a rare signal")];
  if (words.length > 3) return [ask("outage", `It ends ${words.length} processes at once`)];
  return words.length === 0 || words.some((word) => !/^(\d+|%\d+)$/.test(word))
    ? [ask("outage", "Which processes it ends can't be known")]
    : [];
};

/** Judges `pkill` and `killall`. */
export const killByName: ProgramRule = ({ args }) => {
  const { signal, words, options } = readSignal(args);
  if (args.some((arg, n) => /^(-u|-U|--user)$/.test(arg) && args[n + 1] === "root")) {
    return [deny("outage", "It ends every process of root")];
  }
  if (words.some((name) => /^[.*^$]*$/.test(name))) {
    return [deny("outage", "It ends every process of the host")];
  }
  if (words.some((name) => DEFENCE.test(name))) {
    return [deny("defence", "It ends a program that protects or records")];
  }
  if (TELLS.test(signal) && words.length === 1) return [];
  if (!LIGHT.test(signal)) {
    return [ask("outage", "It holds processes, or sends them a rare signal")];
  }
  const unclear = words.length !== 1 ||
    words.some((name) => name.length < 4 || name.includes(UNKNOWN)) ||
    options.some((one) => !/^-(f|x|e|q|w|9|i|fx|xf|ef)$/.test(one));
  if (unclear) return [ask("outage", "Which processes it ends can't be known")];
  return words.some((name) => VITAL.test(name))
    ? [ask("outage", "It ends programs on which others depend")]
    : [];
};
