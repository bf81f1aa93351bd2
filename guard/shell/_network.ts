/** Programs that send data from the host, or listen on it. */
import { operands } from "./_arguments.ts";
import { carriesSecrets, hostsOf, isInternal, isSecret, isSensitive } from "./_destinations.ts";
import { http } from "./_http.ts";
import { areaOf } from "./_paths.ts";
import { ask, deny, type ProgramRule, type ProgramRules } from "./_rule.ts";
import { UNKNOWN } from "./_types.ts";
import { unknownProgram } from "./_unknown_programs.ts";
import { isShell } from "./_wrappers.ts";

const socket: ProgramRule = ({ args, input, into }) => {
  const shell = input?.from.some(({ program }) => isShell(program)) ||
    into !== undefined && isShell(into);
  if (
    args.some((arg) => /^-\w*[ec]$/.test(arg) && !/^-\w*z/.test(arg)) ||
    args.some((arg) => /^(EXEC|SYSTEM|SHELL):/i.test(arg) || /^--(exec|sh-exec)/.test(arg)) || shell
  ) return [deny("sends", "It hands a shell to another host")];
  const own = operands(args)[0];
  if (
    input !== undefined && input.from.length > 0 &&
    (own === undefined || !isInternal(own) || carriesSecrets(input))
  ) {
    return [
      carriesSecrets(input)
        ? deny("sends", "It sends secrets, accounts or a database to another host")
        : ask("sends", "It sends what a program prints to another host"),
    ];
  }
  if (input?.path !== undefined) {
    return [(isSensitive(input.path) ? deny : ask)("sends", "It sends a file to another host")];
  }
  return args.some((arg) => /^-\w*l/.test(arg))
    ? [ask("sends", "It listens for whoever connects")]
    : [];
};

const transfer: ProgramRule = ({ program, args }) => {
  const all = operands(args);
  const target = all.at(-1) ?? "";
  const goesOut = /^[\w.@-]+:/.test(target) || /^(s?ftp|rsync):\/\//.test(target);
  if (!goesOut) return [];
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

const ssh: ProgramRule = ({ args, input }) => {
  if (args.some((arg) => /^-\w*R/.test(arg)) || args.some((arg) => /^-\w*D$/.test(arg))) {
    return [deny("sends", "It opens a way into this network for another host")];
  }
  if (args.some((arg) => /ProxyCommand|LocalCommand/.test(arg))) {
    return [ask("unseen", "It runs a program to connect")];
  }
  return input !== undefined && carriesSecrets(input)
    ? [deny("sends", "It sends secrets, accounts or a database to another host")]
    : [];
};

const lookUpHost: ProgramRule = ({ args }) =>
  args.some((arg) => new RegExp(`${UNKNOWN}[^ ]*\\.[a-z]`).test(arg))
    ? [deny("sends", "It hides what a program prints in a name that it looks up")]
    : [];

const mail: ProgramRule = ({ args, input }) => {
  if (input === undefined && !args.includes("-a") && !args.includes("-A")) return [];
  return [
    carriesSecrets(input) || args.some(isSensitive) ||
      input?.path !== undefined && isSensitive(input.path)
      ? deny("sends", "It mails secrets")
      : ask("sends", "It mails what a program prints, or a file"),
  ];
};

const readFiles: ProgramRule = ({ args, program, input }) => {
  const paths = [...operands(args), ...(input?.path === undefined ? [] : [input.path])];
  return paths.some(isSecret) && !/^(stat|ls|test)$/.test(program)
    ? [ask("secret", "It reads keys, passwords or accounts")]
    : [];
};
const listener: ProgramRule = () => [ask("sends", "It opens what is on the host to others")];

const serve: ProgramRule = (run) =>
  run.args.some((arg) => /^(http\.server|SimpleHTTPServer|pyftpdlib)$/.test(arg))
    ? listener(run)
    : unknownProgram(run);
const installPackage: ProgramRule = ({ args }) =>
  args.some((arg) => /^(install|i|add)$/.test(arg)) &&
    args.some((arg) => /^(git\+)?https?:\/\//.test(arg) && !isInternal(hostsOf([arg])[0] ?? ""))
    ? [ask("remote_code", "It installs what an address serves")]
    : [];

export const network: ProgramRules = {
  curl: http,
  wget: http,
  http,
  https: http,
  xh: http,
  nc: socket,
  ncat: socket,
  netcat: socket,
  socat: socket,
  telnet: socket,
  cryptcat: socket,
  scp: transfer,
  rsync: transfer,
  sftp: transfer,
  ftp: transfer,
  lftp: transfer,
  croc: () => [deny("sends", "It sends files through a stranger's service")],
  magic: listener,
  ssh,
  autossh: ssh,
  ngrok: () => [deny("sends", "It opens a way into this network from outside")],
  cloudflared: ({ args }) =>
    args.includes("--url") ? [deny("sends", "It opens a way into this network from outside")] : [],
  chisel: () => [deny("sends", "It opens a way into this network from outside")],
  dig: lookUpHost,
  nslookup: lookUpHost,
  host: lookUpHost,
  ping: lookUpHost,
  mail,
  mailx: mail,
  sendmail: mail,
  mutt: mail,
  cat: readFiles,
  less: readFiles,
  more: readFiles,
  head: readFiles,
  tail: readFiles,
  grep: readFiles,
  strings: readFiles,
  xxd: readFiles,
  base64: readFiles,
  awk: readFiles,
  tar: (run) => {
    const paths = operands(run.args);
    if (
      run.args.some((arg) =>
        /^--(checkpoint-action=exec|to-command|rsh-command|use-compress-program)/.test(arg) &&
        !/=(g?zip|pigz|zstd|xz|bzip2|pbzip2|lz4)\b/.test(arg)
      )
    ) {
      return [deny("unseen", "It runs a program by way of an option of tar")];
    }
    const extracts = run.args.some((arg, n) =>
      n === 0 && /^-?\w*x/.test(arg) || arg === "-x" || /^-\w*x/.test(arg)
    );
    const to = run.args[run.args.indexOf("-C") + 1];
    if (extracts && run.args.includes("-C") && to !== undefined && areaOf(to) === "root") {
      return [ask("destroys", "It unpacks over a whole part of the machine")];
    }
    if (run.args.includes("--remove-files")) return [ask("destroys", "It removes what it packs")];
    return paths.some(isSecret) ? [ask("secret", "It packs keys, passwords or accounts")] : [];
  },
  python: serve,
  python3: serve,
  pip: installPackage,
  pip3: installPackage,
  npm: installPackage,
  tcpdump: ({ args }) =>
    args.some((arg) => /^-w/.test(arg))
      ? [ask("secret", "It records what passes the network")]
      : [],
};
