/** Programs that change who may use files. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { areaOf } from "./_paths.ts";
import { displayPath } from "./_removal.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";

/** Takes the rights from the owner, too. */
const TAKES_ALL = /^0*[0-3]?[0-7]{0,2}$|^(a|u\w*)?-[rwx]*r|^(a|u\w*)?=$/;

/** The rule for chmod. */
export const mode: ProgramRule = (run) => {
  const [modes, ...paths] = run.args.filter((arg) =>
    !/^-[a-zA-Z]*[Rvfc]/.test(arg) && !arg.startsWith("--")
  );
  const deep = hasOption(run.args, "R", "--recursive");
  const open = /(^|[0-7])[0-7]*[0-7]{2}[267]$|[oa]?\+[rx]*w|o=.*w|a=.*w|^\+.*w/.test(modes ?? "") &&
    !/^[ug]+[+=]/.test(modes ?? "");
  if (/^[2467][0-7]{3}$|[ua]*\+[rwx]*s/.test(modes ?? "") && !/^2/.test(modes ?? "")) {
    return [deny("access", "It lets whoever runs the file take its owner's rights (setuid)")];
  }
  return paths.flatMap((path): Objection[] => {
    const area = areaOf(path, run.folder);
    const named = `\`${displayPath(path)}\``;
    if (area === "root" || area === "device") {
      return [
        (deep || open ? deny : ask)(
          "opens",
          `It changes the rights of ${named}${deep ? " and all below it" : ""}`,
        ),
      ];
    }
    if (area === "secret") {
      return open || deep || /[4-7]$/.test(modes ?? "")
        ? [deny("access", `It opens ${named}, which holds keys or accounts`)]
        : [];
    }
    if (area === "system") {
      return deep
        ? [deny("opens", `It changes the rights of a part of the system: ${named}`)]
        : open
        ? [ask("opens", `It lets everyone write to ${named}`)]
        : /^\/(usr|s?bin|lib\d*|boot)\//.test(path)
        ? [ask("opens", `It changes who may use a program of the system: ${named}`)]
        : [];
    }
    if (area === "evidence" && open) return [ask("opens", `It lets everyone change ${named}`)];
    if (area === "unknown" || area === "relative" && !/^[ugoa]*\+[rx]+$/.test(modes ?? "")) {
      return [ask("unseen", "Whose rights it changes can't be told")];
    }
    if (deep && TAKES_ALL.test(modes ?? "") && area !== "scratch") {
      return [ask("opens", `It takes the rights on ${named} from everyone`)];
    }
    return open && deep && modes?.endsWith("777")
      ? [ask("opens", `It lets everyone write to all of ${named}`)]
      : [];
  });
};

/** The rule for chown and chgrp. */
export const owner: ProgramRule = (run) => {
  const deep = hasOption(run.args, "R", "--recursive");
  return operands(run.args).slice(run.args.some((arg) => arg.startsWith("--reference")) ? 0 : 1)
    .flatMap((path): Objection[] => {
      const area = areaOf(path, run.folder);
      if (deep && (area === "root" || area === "system")) {
        return [
          deny("opens", `It gives \`${displayPath(path)}\` and all below it to another owner`),
        ];
      }
      if (area === "secret" || area === "device") {
        return [deny("access", `It gives \`${displayPath(path)}\` to another owner`)];
      }
      if (area === "root") {
        return [ask("opens", `It gives \`${displayPath(path)}\` to another owner`)];
      }
      return area === "unknown" || area === "relative"
        ? [ask("unseen", "What it gives to another owner can't be told")]
        : [];
    });
};

/** The rule for chattr. */
export const attributes: ProgramRule = (run) =>
  hasOption(run.args, "R") &&
    operands(run.args).some((path) => ["root", "system"].includes(areaOf(path, run.folder)))
    ? [deny("opens", "It changes attributes of a whole part of the system")]
    : [];
