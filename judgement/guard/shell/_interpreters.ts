/** Judges shells and interpreters by where their text comes from. The text itself is judged where it can be seen. */
import type { Objection } from "../types.ts";
import { findProgram } from "./_programs.ts";
import { displayPath } from "./_removal.ts";
import { ask } from "./_rule.ts";
import type { Run } from "./_types.ts";
import { unwrap } from "./_wrappers.ts";

const ONLY_TELLS = /^(-[vVmihlc]|--(version|help|ini|info|rf|ri|modules)|-h|-XshowSettings)$/;
const HARMLESS_MODULE =
  /^(json\.tool|timeit|platform|site|calendar|sysconfig|zipfile|tarfile|this|pip)$/;
const LOADS_MORE =
  /^(-r|-I|-M\w*|-d\S*|-i\S*|-p?i\S*|--require|--import|--loader|--experimental-loader|--inspect\S*|-S|-e\S+|--eval-\S*)$/;

/** Judges what a shell is given to run: nothing is a shell in which anything can be typed; a file can't be read. */
export function checkShell(words: readonly string[], { program, args, input }: Run): Objection[] {
  if (unwrap(program, args).length > 0) return [];
  if (input !== undefined && (words.length === 0 || args.includes("-s"))) return []; // judged, or an issue of the line
  if (words.length === 0) {
    return args.some((arg) => /^(--version|--help)$/.test(arg))
      ? []
      : [ask("unseen", "It opens a shell, in which anything can be typed")];
  }
  if (words.some((word) => /\s/.test(word))) return []; // of `bash <(…)`
  return [ask("unknown", `What the script \`${displayPath(words[0]!)}\` does can't be seen`)];
}

/** Judges what an interpreter is given to run. */
export function checkInterpreter(words: readonly string[], run: Run): Objection[] {
  const { program, args, input } = run;
  const at = args.indexOf("-m");
  if (at >= 0 && /^(python|pypy)/.test(program)) {
    const module = args[at + 1] ?? "";
    return HARMLESS_MODULE.test(module) && module !== "pip"
      ? []
      : [ask("unknown", `What the module \`${displayPath(module)}\` does is not known`)];
  }
  if (
    args.some((arg) => LOADS_MORE.test(arg) && !/^-(e|ne|pe|le|lne|ane|lane|c|r)$/.test(arg)) &&
    !(program.startsWith("php") && args.includes("-r"))
  ) {
    return [ask("unknown", "It loads more than its text, or changes files in place")];
  }
  if (unwrap(program, args).length > 0) return [];
  if (
    args.length > 0 && args.every((arg) => ONLY_TELLS.test(arg)) && !args.includes("-i") &&
    !args.includes("-c")
  ) return [];
  if (input !== undefined && words.length === 0) return [];
  const script = words[0]?.replace(/^.*\//, "");
  if (script !== undefined && findProgram(script)) return [];
  return [
    words.length === 0
      ? ask("unseen", "It opens an interpreter, in which anything can be typed")
      : ask("unknown", `What the script \`${displayPath(words[0]!)}\` does can't be seen`),
  ];
}

/** Judges files of settings that a shell reads. */
export function checkSource(words: readonly string[]): Objection[] {
  const isSettings =
    /^(\/etc\/(os-release|default\/[\w.-]+|sysconfig\/[\w.-]+|environment|profile)|[\w./-]*venv\/bin\/activate)$/;
  return words.length > 0 && words.every((word) => isSettings.test(word) || /\s/.test(word))
    ? []
    : [ask("unknown", `What \`${displayPath(words[0] ?? "")}\` sets or runs can't be seen`)];
}
