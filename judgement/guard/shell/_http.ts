/** The rule for HTTP clients. */
import type { Objection } from "../types.ts";
import { optionValue } from "./_arguments.ts";
import { carriesSecrets, hostsOf, isInternal, isSensitive } from "./_destinations.ts";
import { writeObjections } from "./_files.ts";
import { areaOf } from "./_paths.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { type Run, UNKNOWN } from "./_types.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("http", [
  "harmless_path",
]);

const METADATA =
  /169\.254\.169\.254|metadata\.google\.internal|metadata\.azure|fd00:ec2::254|100\.100\.100\.200/;

/** Paths of interfaces that a request may ask to act: to read settings again, to empty a cache, to try once more. */
const HARMLESS_PATH = expressions.harmless_path;
const CHANGES_BY_ADDRESS =
  /\/(shutdown|stop|kill|destroy|delete|drop|wipe|reset|disable|terminate|reboot|poweroff|halt|remove|flushall|factory-?reset)([/?]|$)/i;
const ENDS_READ_ONLY = /"index\.blocks\.read_only_allow_delete"\s*:\s*(null|false)/;

/** Tells whether a request asks for more than an answer. */
export function changesSomething({ args }: Run): boolean {
  return args.some((arg, n) => {
    const method = requestMethod(arg, args[n - 1]);
    if (method !== undefined) return !/^(GET|HEAD|OPTIONS)$/.test(method);
    return /^(-d|--data(-\w+)?|--json|-F|--form|-T|--upload-file|--post-data|--post-file|--body-data|--body-file)(=|$)|^-[dFT]./
          .test(arg) &&
        !args.some((one) => /^(-G|--get)$/.test(one)) || /^(POST|PUT|PATCH|DELETE)$/.test(arg);
  });
}

/** Returns objections to asking an interface to act, unless the address is one of those that are harmless. */
function actObjections(run: Run): Objection[] {
  const addresses = run.args.filter((arg) =>
    !arg.startsWith("-") && /[/:]/.test(arg) && !/\s|^[{"']|^@|^[\w-]+: /.test(arg)
  );
  const text = run.args.join(" ");
  if (addresses.some((one) => CHANGES_BY_ADDRESS.test(one))) {
    return [ask("outage", "It asks a service to end, or to remove what it has")];
  }
  if (!changesSomething(run) || ENDS_READ_ONLY.test(text)) return [];
  return addresses.some((one) => HARMLESS_PATH.test(one))
    ? []
    : [ask("unknown", "What it asks a service to change is not known")];
}

/** The rule for curl, wget and similar programs. */
export const http: ProgramRule = (run) => {
  const { args, input } = run;
  const text = args.join(" ");
  const found: Objection[] = [];
  if (
    /(^|\s)(file|dict|gopher|scp|sftp|smb|ldap|telnet|tftp|mqtt):/i.test(text) ||
    /(^|\s)(-H|--header)[ =]?@|%output\{/.test(text)
  ) {
    found.push(ask("secret", "It reads a file of the host, or asks by an unusual protocol"));
  }
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
  const outside = isOutside(args, text);
  for (const path of sentFiles(args)) {
    const isPiped = path === "-" || path === "/dev/stdin" || path === ".";
    if (isPiped ? carriesSecrets(input) : isSensitive(path)) {
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
  return [...found, ...actObjections(run), ...downloadObjections(run)];
};

/** Returns the files that a request sends; `-` is standard input. */
function sentFiles(args: readonly string[]): string[] {
  return args.flatMap((arg, n) => {
    const value =
      /^(-d|--data(-\w+)?|-F|--form|--json|-T|--upload-file|--post-file|--body-file|--data-urlencode)$/
          .test(args[n - 1] ?? "")
        ? arg
        : /^(?:-[dFT]|--(?:data(?:-\w+)?|form|json|upload-file|post-file|body-file)=)(.+)/.exec(arg)
          ?.[1];
    if (value === undefined) return [];
    const isUpload = /^(-T|--upload-file|--post-file|--body-file)$/.test(args[n - 1] ?? "") ||
      /^(-T|--upload|--post-file|--body-file)/.test(arg);
    const path = isUpload
      ? value
      : /(?:^|=|@)[@<](.+)|^[^=]*=?@(.+)/.exec(value)?.slice(1).find((one) => one !== undefined);
    return path === undefined ? value.includes(UNKNOWN) ? [UNKNOWN] : [] : [path];
  });
}

/** Tells whether a request may leave the internal network. */
function isOutside(args: readonly string[], text: string): boolean {
  return hostsOf(args).some((host) => !isInternal(host)) ||
    args.some((arg) =>
      /^[\w-]+(\.[\w-]+)+(\/|:\d|$)/.test(arg) && !/^-/.test(arg) &&
      /\.(com|net|org|io|xyz|ru|cn|dev|app|sh|co|me|info|site|top)(\/|:|$)/.test(arg)
    ) || text.includes(UNKNOWN);
}

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
  const options = run.program === "wget"
    ? /^(-\w*O|-o|-a|-P|--output-document|--directory-prefix)$/
    : /^(-\w*o|--output|--dump-header|-D|-c|--cookie-jar|--trace\S*|--stderr)$/;
  const at = run.args.findIndex((arg) => options.test(arg));
  const inline = run.args.map((arg) =>
    /^--output(?:-document)?=(.+)|^-[oO](\/.+)/.exec(arg)?.slice(1).find(Boolean)
  )
    .find((path) => path !== undefined);
  const isNamedThere = run.program === "curl" &&
    run.args.some((arg) => /^(-[a-zJLNRS]*O[a-zJLNRS]*|--remote-name(-all)?)$/.test(arg));
  const target = isNamedThere
    ? `${optionValue(run.args, "--output-dir") ?? "."}/download`
    : at < 0
    ? inline
    : run.args[at + 1];
  if (target === undefined || target === "-" || target.startsWith("/dev/")) return [];
  const written = writeObjections(target, run, "overwrites");
  if (written.length > 0) return written;
  return ["system", "secret", "root"].includes(areaOf(target))
    ? [ask("remote_code", "It puts what it downloads into a part of the system")]
    : [];
}
