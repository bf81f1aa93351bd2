/** Judges programs that send data from the host, or listen on it. */
import type { Objection } from "../types.ts";
import { operands } from "./_arguments.ts";
import { carriesSecrets, isInternal, isSensitive } from "./_destinations.ts";
import { writeObjections } from "./_files.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { type Run, UNKNOWN } from "./_types.ts";
import { isShell } from "./_wrappers.ts";

/** Words for control sockets of servers, which only look. */
const LOOKS =
  /^\s*((show [\w ./#-]*|stats?|status|info|version|ruok|mntr|srvr|conf|cons|envi|ping|help|quit|PING|INFO|QUIT|EHLO [\w.-]+|HEAD \S+ HTTP\/1\.[01]|GET \S+ HTTP\/1\.[01]|Host: [\w.:-]+|Connection: close|flush_all|\s)(\\?[rn;\s])*)*$/;

/** Tells whether text only asks a server to look. */
export function onlyAsks(text: string | undefined): boolean {
  return text !== undefined &&
    (text.trim() === "" || /^\s*[QR]\s*$/.test(text) || LOOKS.test(text));
}

/** Judges `nc`, `socat` and similar programs. */
export const socket: ProgramRule = ({ args, input, into }) => {
  const shell = input?.from.some(({ program }) => isShell(program)) ||
    into !== undefined && isShell(into);
  if (
    args.some((arg) => /^-\w*[ec]$/.test(arg) && !/^-\w*z/.test(arg)) ||
    args.some((arg) => /^(EXEC|SYSTEM|SHELL):/i.test(arg) || /^--(exec|sh-exec)/.test(arg)) || shell
  ) return [deny("sends", "It hands a shell to another host")];
  if (args.some((arg) => /^-\w*z/.test(arg)) && input === undefined) return [];
  if (
    input?.text !== undefined && LOOKS.test(input.text) && !args.some((arg) => /^-\w*l/.test(arg))
  ) return [];
  const own = operands(args)[0];
  if (
    input !== undefined && input.from.length > 0 &&
    own !== undefined
  ) {
    return [
      carriesSecrets(input)
        ? deny("sends", "It sends secrets, accounts or a database to another host")
        : ask("sends", "It sends what a program prints to another host or server"),
    ];
  }
  if (input?.path !== undefined) {
    return [(isSensitive(input.path) ? deny : ask)("sends", "It sends a file to another host")];
  }
  return [ask("sends", "It opens a connection, for whoever listens or connects")];
};

/** Judges `scp` and similar programs: what leaves the host, and what is overwritten. */
export const transfer: ProgramRule = (run) => {
  const { program, args } = run;
  const all = operands(args);
  const target = all.at(-1) ?? "";
  const goesOut = /^[\w.@-]+:/.test(target) || /^(s?ftp|rsync):\/\//.test(target);
  if (!goesOut) return program === "rsync" ? [] : writeObjections(target, run, "overwrites");
  const sources = all.slice(0, -1);
  if (sources.some(isSensitive)) {
    return [
      deny("sends", "It copies secrets, accounts or whole folders of the system to another host"),
    ];
  }
  const host = target.replace(/^\w+:\/\//, "").replace(/^.*@/, "").replace(/:.*$/, "");
  return isInternal(host) || program === "rsync" && isInternal(host)
    ? []
    : [ask("sends", "It copies files to another host")];
};

/** Judges programs that look up a name. */
export const lookUpHost: ProgramRule = ({ args }) =>
  args.some((arg) => new RegExp(`${UNKNOWN}[^ ]*\\.[a-z]`).test(arg))
    ? [deny("sends", "It hides what a program prints in a name that it looks up")]
    : [];

/** Judges programs that mail. */
export const mail: ProgramRule = ({ args, input }) => {
  if (input === undefined && !args.includes("-a") && !args.includes("-A")) return [];
  return [
    carriesSecrets(input) || args.some(isSensitive) ||
      input?.path !== undefined && isSensitive(input.path)
      ? deny("sends", "It mails secrets")
      : ask("sends", "It mails what a program prints, or a file"),
  ];
};

/** Judges `aws s3 cp`. */
export function sendObject([source = "", target = ""]: readonly string[], run: Run): Objection[] {
  if (source.startsWith("s3://") && !target.startsWith("s3://")) {
    return writeObjections(target, run, "overwrites");
  }
  return [ask("sends", "It stores something outside of the host")];
}
