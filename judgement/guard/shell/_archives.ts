/** Programs that pack and unpack files. */
import { hasOption, operands } from "./_arguments.ts";
import { isSecret } from "./_destinations.ts";
import { writeObjections } from "./_files.ts";
import { areaOf } from "./_paths.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";

/** Judges `unzip`: it lists, prints, leaves what is there, or unpacks into a scratch folder. */
export const unpack: ProgramRule = ({ args, folder }) => {
  const at = args.findIndex((arg) => /^-\w*d$/.test(arg));
  const to = at < 0 ? args.find((arg) => /^-d./.test(arg))?.slice(2) ?? "." : args[at + 1] ?? "";
  return hasOption(args, "ltvpZn") || areaOf(to, folder) === "scratch"
    ? []
    : [ask("destroys", "It unpacks files that can't be seen over those that are there")];
};

/** Judges `tar`: what it runs, packs, and unpacks over. */
export const archive: ProgramRule = (run) => {
  const { args } = run;
  const runs = args.some((arg, n) =>
    /^--(checkpoint-action|to-command|rsh-command|use-compress-program|info-script|new-volume-script)/
        .test(arg) &&
      !/=(g?zip|pigz|zstd|xz|bzip2|pbzip2|lz4)( -\w+)*$/.test(arg) ||
    /^-\w*[IF]$/.test(arg) && !/^(pigz|zstd|xz|lz4|pbzip2)( -\w+)*$/.test(args[n + 1] ?? "")
  );
  if (runs) return [deny("unseen", "It runs a program by way of an option of tar")];
  if (
    args.some((arg) =>
      /^--(files-from|rmt-command|absolute-names|overwrite|unlink-first)/.test(arg)
    )
  ) {
    return [ask("unknown", "What it packs, or where it unpacks, can't be known")];
  }
  if (args.includes("--remove-files")) return [ask("destroys", "It removes what it packs")];
  const mode = args.filter((arg, n) => n === 0 || /^-\w/.test(arg)).join("");
  const files = args.flatMap((arg, n) =>
    /^-?\w*f$/.test(args[n - 1] ?? "") && (n === 1 || args[n - 1]!.startsWith("-")) ? [arg] : []
  );
  const paths = operands(args).filter((word, n) =>
    !files.includes(word) && !(n === 0 && /^\w*[ctxru]\w*$/.test(word) && word.length < 7)
  );
  if (/x|--extract|--get/.test(mode) || args.some((arg) => /^--(extract|get)/.test(arg))) {
    const at = args.indexOf("-C");
    const to = at < 0 ? undefined : args[at + 1];
    const isScratch = to !== undefined && areaOf(to, run.folder) === "scratch";
    return isScratch && !/P/.test(mode)
      ? []
      : [ask("destroys", "It unpacks files that can't be seen over those that are there")];
  }
  if (/t/.test(mode) && !/c/.test(mode)) return [];
  return [
    ...(paths.some(isSecret) ? [ask("secret", "It packs keys, passwords or accounts")] : []),
    ...(paths.some((path) => areaOf(path) === "root")
      ? [ask("secret", "It packs a whole part of the machine")]
      : []),
    ...files.filter((path) => path !== "-").flatMap((path) =>
      writeObjections(path, run, "overwrites")
    ),
  ];
};
