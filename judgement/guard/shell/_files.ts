/** Programs that overwrite, move or change files. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { isSecret } from "./_destinations.ts";
import { type Area, areaOf, normalizePath } from "./_paths.ts";
import { CRITICAL, displayPath } from "./_removal.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { isPlainSed } from "./_sed.ts";
import type { Run } from "./_types.ts";

/** Files from which programs start by themselves. */
const AUTORUN =
  /^\/etc\/(cron|profile|rc\.local|init\.d|systemd\/system\/|ld\.so\.preload|pam\.d|bash|environment)|^\/var\/spool\/cron|(^|\/)\.(bashrc|bash_profile|profile|zshrc|ssh\/rc)$/;

const SOURCES = /^\/etc\/(apt\/|yum\.(conf|repos\.d)|dnf\/|zypp\/|pip\.conf|npmrc|pacman\.)/;
/** A line of a systemd unit that sets limits, and runs nothing. */
const LIMIT_LINE =
  /^\s*(\[\w+\]|(Limit|Memory|CPU|Tasks|IO|Timeout|RestartSec|Restart|OOMScoreAdjust|Nice)\w*=[\w.%:-]*)?\s*$/;

/** Tells whether a program writes known text that only sets limits of a unit. */
function setsLimits({ input }: Run): boolean {
  return input?.text?.split("\n").every((line) => LIMIT_LINE.test(line)) === true;
}

/** Folders that web servers show to everyone. */
const WEB_ROOT =
  /^\/(var\/www|srv\/www|usr\/share\/nginx)\/(?!.*\/(cache|tmp|uploads?|logs?|sessions?)\/)/;

/** A certificate or its key, in an ordinary place. */
const CERTIFICATE = /^\/(etc|opt|srv|usr\/local|var)\/(?!.*\.ssh\/).*\.(pem|crt|key|p12|pfx|jks)$/;

/** Way in which a program writes a file: it adds to it or makes it, changes parts of it, or replaces all that is in it. */
export type WriteMode = "adds" | "edits" | "overwrites";

/** Returns objections to writing a file. */
export function writeObjections(path: string, run: Run, mode: WriteMode): Objection[] {
  const overwrites = mode === "overwrites";
  const at = normalizePath(path, run.folder);
  if (/^\/dev\/(null|stdout|stderr|tty|fd\/|shm\/|pts\/|zero|full)/.test(at)) return [];
  if (/^\/dev\/(tcp|udp)\//.test(at)) {
    return [deny("sends", "It opens a connection through the shell, as remote shells do")];
  }
  if (
    /^\/proc\/sysrq-trigger|^\/proc\/sys\/kernel\/(sysrq|core_pattern|modprobe|randomize)/.test(at)
  ) {
    return [
      deny(
        "outage",
        `It writes to \`${
          displayPath(at)
        }\`, which can halt the machine or change what the kernel runs`,
      ),
    ];
  }
  if (/^\/(proc|sys)\//.test(at)) {
    return /^\/proc\/sys\/vm\/drop_caches$|^\/sys\/class\/scsi_host\/host\d+\/scan$/.test(at)
      ? []
      : [ask("defence", `It changes a setting of the kernel: \`${displayPath(at)}\``)];
  }
  if (WEB_ROOT.test(at) && !/^(touch|mkdir|rm|chown|chmod|cp|rsync)$/.test(run.program)) {
    return [ask("sends", `It puts \`${displayPath(path)}\` where a web server shows it`)];
  }
  if (
    /^\/(usr|opt)\/.*\/s?bin(\/[^/]*)?$|^\/[^/]+$|^\/etc\/nologin$/.test(at) &&
    !/^\/(swapfile|data|mnt)/.test(at)
  ) {
    return [
      ask(
        "access",
        `It writes to \`${displayPath(path)}\`, where programs or signs for the system lie`,
      ),
    ];
  }
  const area: Area = areaOf(path, run.folder);
  const named = `\`${displayPath(path)}\``;
  if (area === "device") return [deny("disk", `It writes to the device ${named}`)];
  if (/^\/etc\/systemd\/system\/[\w@.-]+\.d\//.test(at) && setsLimits(run)) return [];
  if (SOURCES.test(at)) {
    return [ask("remote_code", `It changes ${named}, which says where software comes from`)];
  }
  if (AUTORUN.test(at)) {
    return [deny("access", `It writes to ${named}, from which programs start by themselves`)];
  }
  if (area === "secret" && CERTIFICATE.test(at)) return [];
  if (area === "secret") {
    return [deny("access", `It writes to ${named}, which holds keys, accounts or rights`)];
  }
  if (area === "evidence" && overwrites) {
    return [deny("traces", `It overwrites ${named}, which shows who did what`)];
  }
  if (area === "root") return [deny("destroys", `It writes over ${named}`)];
  if (CRITICAL.test(at)) {
    return [
      (overwrites ? deny : ask)("destroys", `It changes ${named}, on which the system depends`),
    ];
  }
  if (area === "system" && !at.startsWith("/run/")) {
    return [
      /^\/(etc|usr\/local|usr\/share)\//.test(at)
        ? ask("unknown", `It changes ${named}: what programs then make of it can't be known`)
        : deny("destroys", `It writes to ${named}, a part of the system`),
    ];
  }
  if (area === "unknown") return [ask("unseen", "Which file it writes can't be known beforehand")];
  if (mode === "adds") return [];
  if (area === "relative") {
    return [ask("unseen", `It writes over ${named} in a folder that is not named`)];
  }
  if (area === "data") {
    const isDatabase = overwrites && /\/var\/lib\/(mysql|postgresql|mongo|etcd)/.test(at);
    return [(isDatabase ? deny : ask)("destroys", `It writes over data: ${named}`)];
  }
  if (area === "backup") {
    return isEmptied(run) ? [ask("destroys", `It empties a backup: ${named}`)] : [];
  }
  return area === "named" ? [ask("destroys", `It writes over ${named}`)] : [];
}

/** Tells whether a program writes nothing, or hardly anything, in place of what was there. */
function isEmptied({ program, args, input }: Run): boolean {
  return /^(:|\{|true|echo|printf)$/.test(program) || input?.path === "/dev/null" ||
    args.some((arg) => /^(if=)?\/dev\/(null|zero|u?random)$/.test(arg));
}

/** Judges `mv`: what it takes away, and what it overwrites. */
export const move: ProgramRule = (run) => {
  const { sources, target } = splitPaths(run);
  const taken = sources.flatMap((path): Objection[] => {
    const area = areaOf(path, run.folder);
    const named = `\`${displayPath(path)}\``;
    if (area === "unknown" || area === "relative") {
      return [ask("unseen", `What it moves away as ${named} can't be known`)];
    }
    if (
      ["root", "system", "secret", "evidence", "backup"].includes(area) &&
      !/^\/etc\/(?!passwd|shadow|sudoers|ssh)/.test(path)
    ) return [deny("destroys", `It moves ${named} away`)];
    if (area === "system") return [ask("destroys", `It moves a setting away: ${named}`)];
    return (area === "data" || area === "named") && target !== undefined &&
        !/\.(bak|old)|backup|_old/.test(target)
      ? [ask("destroys", `It moves data away: ${named}`)]
      : [];
  });
  const lost = target === "/dev/null" ? [deny("destroys", "It moves files to /dev/null")] : [];
  return [...lost, ...taken, ...(target ? writeObjections(target, run, writeMode(run)) : [])];
};

/** Judges `cp`: what it reads, and what it overwrites. */
export const copy: ProgramRule = (run) => {
  const { sources, target } = splitPaths(run);
  if (target === undefined || sources.length === 0 && run.program !== "install") return [];
  const isWithinCertificates = CERTIFICATE.test(target);
  const read = sources.filter((path) =>
    areaOf(path) === "root" || isSecret(path) && !isWithinCertificates
  ).slice(0, 1).map((path) => ask("secret", `It copies \`${displayPath(path)}\``));
  return [...read, ...writeObjections(target, run, writeMode(run))];
};

/** Tells whether `cp`, `mv` or `install` may replace a file: not where it keeps those that are there, or copies beside. */
function writeMode(run: Run): WriteMode {
  const { program, args } = run;
  const { sources, target } = splitPaths(run);
  const keeps = hasOption(
    args,
    program === "install" ? "d" : "nb",
    "--no-clobber",
    "--backup",
    "--directory",
  );
  const isBeside = sources.length === 1 && target !== undefined && target !== sources[0] &&
    target.startsWith(sources[0]!) && !target.slice(sources[0]!.length).startsWith("/");
  return keeps || isBeside ? "adds" : "overwrites";
}

/** Judges `ln`: what it hides, and whether it points to where anybody may write. */
export const link: ProgramRule = (run) => {
  const { sources, target } = splitPaths(run);
  const foreign = sources.some((path) =>
    path.startsWith("/") && ["scratch", "secret"].includes(areaOf(path))
  );
  return [
    ...(foreign
      ? [ask("unseen", "It links to secrets, or to a file that anybody may change")]
      : []),
    ...(target !== undefined
      ? writeObjections(target, run, hasOption(run.args, "f", "--force") ? "overwrites" : "adds")
      : []),
  ];
};

function splitPaths(run: Run): { sources: readonly string[]; target: string | undefined } {
  const all = operands(run.args);
  const target = run.args.includes("-t") ? run.args[run.args.indexOf("-t") + 1] : all.at(-1);
  return { sources: all.filter((path) => path !== target), target };
}

/** Judges `truncate`. */
export const truncate: ProgramRule = (run) =>
  operands(run.args).filter((path) => !/^[+\-<>/%]?\d+[KMGTkB]*$/.test(path)).flatMap(
    (path): Objection[] => {
      const area = areaOf(path, run.folder);
      if (area === "unknown" || area === "relative") {
        return [ask("unseen", "What it empties can't be told")];
      }
      if (area === "named") return [ask("destroys", `It empties \`${displayPath(path)}\``)];
      if (area === "evidence") {
        return [deny("traces", `It empties \`${displayPath(path)}\`, which shows who did what`)];
      }
      return ["root", "system", "secret", "device", "data", "backup"].includes(area)
        ? [deny("destroys", `It empties \`${displayPath(path)}\``)]
        : [];
    },
  );

/** Judges `rsync`: what it removes, and where it writes. */
export const sync: ProgramRule = (run) => {
  if (hasOption(run.args, "n", "--dry-run", "--list-only")) return [];
  const target = operands(run.args).at(-1) ?? "";
  const path = target.replace(/^[\w.@-]+:{1,2}/, "");
  const isSite = WEB_ROOT.test(path) && path.endsWith("/");
  const written = isSite ? [] : writeObjections(path, run, "overwrites");
  if (!run.args.some((arg) => /^--(delete|del|remove-source-files)/.test(arg))) return written;
  const area = areaOf(path.endsWith("/") ? `${path}*` : path, run.folder);
  if (area === "scratch") return written;
  return [
    (["root", "system", "data", "backup", "secret"].includes(area) ? deny : ask)(
      "destroys",
      `It removes from \`${displayPath(target)}\` whatever its source lacks`,
    ),
  ];
};

/** Judges `sed`: its script, and the files that it changes. */
export const edit: ProgramRule = (run) => {
  const { args } = run;
  const scripts = args.flatMap((arg, n) =>
    /^(-\w*e|--expression)$/.test(args[n - 1] ?? "")
      ? [arg]
      : /^(?:--expression=|-e)(.+)/s.exec(arg)?.slice(1) ?? []
  );
  const words = operands(args).filter((word) => !scripts.includes(word));
  const paths = scripts.length > 0 ? words : words.slice(1);
  const script = scripts.length > 0 ? scripts.join("\n") : words[0] ?? "";
  const unclear = isPlainSed(script)
    ? []
    : [ask("unknown", "What its script does is not known: it may run programs or write files")];
  if (!args.some((arg) => /^(-[a-zA-Z]*i|--in-place)/.test(arg))) {
    const secret = paths.some(isSecret);
    return [...unclear, ...(secret ? [ask("secret", "It reads keys, passwords or accounts")] : [])];
  }
  const disables = /SELINUX=(disabled|permissive)|PermitRootLogin\s+yes|NOPASSWD/i.test(script);
  return [
    ...unclear,
    ...(disables ? [deny("defence", "It edits a setting that protects the system")] : []),
    ...paths.flatMap((path) => writeObjections(path, run, "edits")).map((one) =>
      /^s?\/?[^s]*s\/\^\/#/.test(script) ? { ...one, weight: "ask" as const } : one // it only comments out
    ),
  ];
};

/** Judges `tee`. */
export const tee: ProgramRule = (run) =>
  operands(run.args).flatMap((path) =>
    writeObjections(path, run, hasOption(run.args, "a", "--append") ? "adds" : "overwrites")
  );

/** Judges `fallocate`. */
export const fallocate: ProgramRule = (run) =>
  run.args.some((arg) => /^\d{3,}[GT]i?B?$|^\d+[TPE]i?B?$/i.test(arg))
    ? [ask("outage", "It takes more space than a disk has to spare")]
    : operands(run.args).filter((word) => !/^\d+[KMGT]?i?B?$/i.test(word))
      .flatMap((path) =>
        writeObjections(
          path,
          run,
          hasOption(run.args, "cpz", "--punch-hole", "--zero-range", "--collapse-range")
            ? "overwrites"
            : "adds",
        )
      );
