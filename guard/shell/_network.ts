/** Programs that send data from the host, or listen on it. */
import type { Objection } from "../types.ts";
import { unknownProgram } from "./_unknown_programs.ts";
import { ask, deny, type ProgramRule, type ProgramRules, operands } from "./_rule.ts";
import { areaOf } from "./_paths.ts";
import { type Input, type Run, UNKNOWN } from "./_types.ts";
import { isShell } from "./_wrappers.ts";

const SENDS_SECRETS =
  /^(env|printenv|set|history|pg_dump|pg_dumpall|mysqldump|mongodump|mongoexport|redis-cli|gpg|security|secretsmanager|getent|vault|kubectl|last|who|netstat|lsof)$/;
const INTERNAL =
  /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1|\[?f[cd][0-9a-f]{2}:)|\.(local|internal|lan|intra|intranet|corp|home|svc|consul|test|localdomain)(:|$)|\.svc\.cluster\.local|\.cluster\.local/i;

/** Tells by its name whether a host is internal. Names without a dot are. */
export function isInternal(host: string): boolean {
  return INTERNAL.test(host) || !/[.:]/.test(host.replace(/:\d+$/, ""));
}

function hostsOf(args: readonly string[]): string[] {
  return args.flatMap((arg) =>
    /^(?:\w+:\/\/)(?:[^@/\s]{0,100}@)?([^/\s:?#]+)/.exec(arg)?.[1] ?? []
  );
}

/** Tells whether a path holds secrets that must not leave the host. */
export function isSecret(path: string): boolean {
  return areaOf(path.replace(/^[@<]/, "")) === "secret" && !/\.pem$|\/passwd$|\.crt$/.test(path) ||
    /shadow|id_rsa|\.key$|private.*\.pem$|\/proc\/\d+\/environ/.test(path);
}

function carriesSecrets(input: Input | undefined): boolean {
  return input?.from.some((run) =>
    SENDS_SECRETS.test(run.program) || run.args.some(isSensitive) || carriesSecrets(run.input)
  ) === true;
}

function isSensitive(path: string): boolean {
  const area = areaOf(path.replace(/^@/, ""));
  return isSecret(path) || /\/etc\/passwd/.test(path) || area === "secret" ||
    area === "root" && path !== "." && path.startsWith("/") ||
    area === "backup" && path.startsWith("/") || /^~|^\/(root|home)\//.test(path);
}

const METADATA =
  /169\.254\.169\.254|metadata\.google\.internal|metadata\.azure|fd00:ec2::254|100\.100\.100\.200/;

const http: ProgramRule = (run) => {
  const { args, input } = run;
  const text = args.join(" ");
  const found: Objection[] = [];
  if (METADATA.test(text)) {
    found.push(
      (/credential|token|user-data|identity/i.test(text) ? deny : ask)(
        "secret",
        "It asks the cloud's metadata service, which gives credentials",
      ),
    );
  }
  if (args.some((arg, n) => requestMethod(arg, args[n - 1]) === "DELETE")) {
    found.push(...deleteObjections(args, text));
  }
  if (
    /\/_(all|shutdown)|accept_data_loss|_delete_by_query/.test(text) &&
    /-X ?(DELETE|POST|PUT)|XDELETE/.test(text)
  ) found.push(deny("data", "It deletes or moves the data of a whole cluster"));
  if (/\/script(Text)?(["'?\s]|$)/.test(text) && /-d|--data|POST/.test(text)) {
    found.push(deny("remote_code", "It has a server run code"));
  }
  if (
    /\/(shutdown|actuator\/shutdown|kill|destroy|wipe|factory-?reset|delete-all|drop)(["'?\s]|$)/i
      .test(text) && /-X|--request|-d|--data|POST/.test(text)
  ) found.push(ask("outage", "It asks a service to end, or to remove what it has"));
  const files = args.flatMap((arg, n) => {
    const given =
      /^(-d|--data(-\w+)?|-F|--form|--json|-T|--upload-file|--post-file|--body-file|--data-urlencode)$/
          .test(args[n - 1] ?? "")
        ? arg
        : /^(?:-[dFT]|--(?:data(?:-\w+)?|form|json|upload-file|post-file|body-file)=)(.+)/.exec(arg)
          ?.[1];
    if (given === undefined) return [];
    const uploads = /^(-T|--upload-file|--post-file|--body-file)$/.test(args[n - 1] ?? "") ||
      /^(-T|--upload|--post-file|--body-file)/.test(arg);
    const path = uploads
      ? given
      : /(?:^|=|@)[@<](.+)|^[^=]*=?@(.+)/.exec(given)?.slice(1).find((one) => one !== undefined);
    return path === undefined ? given.includes(UNKNOWN) ? [UNKNOWN] : [] : [path];
  });
  const outside = hostsOf(args).some((host) => !isInternal(host)) ||
    args.some((arg) =>
      /^[\w-]+(\.[\w-]+)+(\/|:\d|$)/.test(arg) && !/^-/.test(arg) &&
      /\.(com|net|org|io|xyz|ru|cn|dev|app|sh|co|me|info|site|top)(\/|:|$)/.test(arg)
    ) || text.includes(UNKNOWN);
  for (const path of files) {
    const piped = path === "-" || path === "/dev/stdin" || path === ".";
    if (piped ? carriesSecrets(input) : isSensitive(path)) {
      found.push(deny("sends", "It sends secrets, accounts or a database to another host"));
    } else if (outside) {
      found.push(ask("sends", "It sends a file, or what a program prints, outside"));
    }
  }
  if (outside && args.some((arg) => /^(\w+:\/\/|[\w.-]+\/).*\uE000/.test(arg))) {
    found.push(
      carriesSecrets(input)
        ? deny("sends", "It sends secrets, accounts or a database to another host")
        : ask("sends", "It puts what a program prints into an address outside"),
    );
  }
  return [...found, ...downloadObjections(run)];
};

function requestMethod(arg: string, before: string | undefined): string | undefined {
  if (before === "-X" || before === "--request") return arg.toUpperCase();
  return /^(?:-X|--request=|--method=)([A-Za-z]+)$/.exec(arg)?.[1]?.toUpperCase();
}

function deleteObjections(args: readonly string[], text: string): Objection[] {
  const url = args.find((arg) => /^\w+:\/\//.test(arg)) ?? args.find((arg) => /\//.test(arg)) ?? "";
  const path = url.replace(/^\w+:\/\/[^/]*/, "");
  if (
    /^\/?(_all|\*|_data_stream.*|[^/]*\*[^/]*)?\/?$|:92\d\d\/[^/]+\/?$|\/(namespaces|indices|databases?|users|buckets|clusters?|projects|repos)(\/|$)/
      .test(path) || /:92\d\d\//.test(text)
  ) return [deny("data", "It deletes data through an interface")];
  return /cache|session|lock|silence|alert|token|job|purge/.test(path)
    ? []
    : [ask("destroys", "It deletes something through an interface")];
}

function downloadObjections(run: Run): Objection[] {
  const at = run.args.findIndex((arg) => /^(-o|-O|--output|--output-document)$/.test(arg));
  const target = at < 0 ? undefined : run.args[at + 1];
  if (target === undefined || !target.startsWith("/") || target.startsWith("/dev/")) return [];
  return ["system", "secret", "root"].includes(areaOf(target))
    ? [ask("remote_code", "It puts what it downloads into a part of the system")]
    : [];
}

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
