/** Programs that overwrite, move or change files. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { type Area, areaOf, normalizePath } from "./_paths.ts";
import { attributes, mode, owner } from "./_permissions.ts";
import { CRITICAL, displayPath, find, removalObjections, remove } from "./_removal.ts";
import { ask, deny, type ProgramRule, type ProgramRules } from "./_rule.ts";
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

/** A certificate or its key, in an ordinary place. */
const CERTIFICATE = /^\/(etc|opt|srv|usr\/local|var)\/(?!.*\.ssh\/).*\.(pem|crt|key|p12|pfx|jks)$/;

/** Returns objections to writing a file. @param overwrites false: the program appends */
export function writeObjections(path: string, run: Run, overwrites: boolean): Objection[] {
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
  if (/^\/(proc|sys)\//.test(at)) return [];
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
  if (area === "system" && !/^\/(etc|usr\/local|run|usr\/share)\//.test(at)) {
    return [deny("destroys", `It writes to ${named}, a part of the system`)];
  }
  if (area === "data" && overwrites && /\/var\/lib\/(mysql|postgresql|mongo|etcd)/.test(at)) {
    return [deny("destroys", `It overwrites data: ${named}`)];
  }
  return [];
}

const move: ProgramRule = (run) => {
  const all = operands(run.args);
  const target = run.args.includes("-t") ? run.args[run.args.indexOf("-t") + 1] : all.at(-1);
  const sources = all.filter((path) => path !== target);
  const taken = sources.flatMap((path): Objection[] => {
    const area = areaOf(path, run.folder);
    if (
      ["root", "system", "secret", "evidence", "backup"].includes(area) &&
      !/^\/etc\/(?!passwd|shadow|sudoers|ssh)/.test(path)
    ) return [deny("destroys", `It moves \`${displayPath(path)}\` away`)];
    return area === "data" && target !== undefined && !/\.(bak|old)|backup|_old/.test(target)
      ? [ask("destroys", `It moves data away: \`${displayPath(path)}\``)]
      : [];
  });
  const lost = target === "/dev/null" ? [deny("destroys", "It moves files to /dev/null")] : [];
  return [...lost, ...taken, ...(target ? writeObjections(target, run, true) : [])];
};

const copy: ProgramRule = (run) => {
  const target = run.args.includes("-t")
    ? run.args[run.args.indexOf("-t") + 1]
    : operands(run.args).at(-1);
  return target && operands(run.args).length > 1 ? writeObjections(target, run, true) : [];
};

const truncate: ProgramRule = (run) =>
  operands(run.args).filter((path) => !/^[+\-<>/%]?\d+[KMGTkB]*$/.test(path)).flatMap(
    (path): Objection[] => {
      const area = areaOf(path, run.folder);
      if (area === "unknown") return [ask("unseen", "What it empties can't be told")];
      if (area === "evidence") {
        return [deny("traces", `It empties \`${displayPath(path)}\`, which shows who did what`)];
      }
      return ["root", "system", "secret", "device", "data", "backup"].includes(area)
        ? [deny("destroys", `It empties \`${displayPath(path)}\``)]
        : [];
    },
  );

const sync: ProgramRule = (run) => {
  const target = operands(run.args).at(-1) ?? "";
  if (!run.args.some((arg) => /^--(delete|del|remove-source-files)/.test(arg))) return [];
  const path = target.replace(/^[\w.@-]+:{1,2}/, "");
  const area = areaOf(path.endsWith("/") ? `${path}*` : path, run.folder);
  if (area === "scratch") return [];
  return [
    (["root", "system", "data", "backup", "secret"].includes(area) ? deny : ask)(
      "destroys",
      `It removes from \`${displayPath(target)}\` whatever its source lacks`,
    ),
  ];
};

const edit: ProgramRule = (run) => {
  if (!run.args.some((arg) => /^(-[a-zA-Z]*i|--in-place)/.test(arg))) return [];
  const paths = operands(run.args).slice(1);
  const disables = /SELINUX=(disabled|permissive)|PermitRootLogin\s+yes|NOPASSWD/i.test(
    run.args.join(" "),
  );
  return [
    ...(disables ? [deny("defence", "It edits a setting that protects the system")] : []),
    ...paths.flatMap((path) => writeObjections(path, run, false)),
  ];
};

export const files: ProgramRules = {
  rm: remove,
  srm: remove,
  unlink: remove,
  rmdir: (run) => operands(run.args).flatMap((path) => removalObjections(path, run, false)),
  shred: (run) =>
    operands(run.args).filter((word) => !/^\d+$/.test(word)).flatMap((path) => {
      const found = removalObjections(path, run, true);
      return found.length > 0
        ? found
        : areaOf(path, run.folder) === "scratch"
        ? []
        : [ask("destroys", `It shreds \`${displayPath(path)}\``)];
    }),
  find,
  fd: (run) =>
    /^(rm|shred)$/.test(
        run.args[run.args.findIndex((arg) => /^-[xX]$|^--exec/.test(arg)) + 1] ?? "",
      )
      ? [ask("destroys", "It removes whatever matches")]
      : [],
  mv: move,
  cp: copy,
  install: (run) => [
    ...copy(run),
    ...(run.args.some((arg, n) =>
        /^(-m|--mode)$/.test(run.args[n - 1] ?? "") && /^[467][0-7]{3}$|s/.test(arg)
      )
      ? [deny("access", "It lets whoever runs the file take its owner's rights (setuid)")]
      : []),
  ],
  ln: (run) => hasOption(run.args, "f", "--force") ? copy(run) : [],
  tee: (run) =>
    operands(run.args).flatMap((path) =>
      writeObjections(path, run, !hasOption(run.args, "a", "--append"))
    ),
  chmod: mode,
  setfacl: (run) => hasOption(run.args, "R") ? owner(run) : [],
  chown: owner,
  chgrp: owner,
  chattr: attributes,
  truncate,
  fallocate: (run) =>
    run.args.some((arg) => /^\d{3,}[GT]i?B?$|^\d+[TPE]i?B?$/i.test(arg))
      ? [ask("outage", "It takes more space than a disk has to spare")]
      : operands(run.args).flatMap((path) => writeObjections(path, run, true)),
  rsync: sync,
  sed: edit,
  perl: edit,
};
