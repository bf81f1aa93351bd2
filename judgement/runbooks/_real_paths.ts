/** Files and folders in arguments of commands, by their real paths: where an allow-list bounds them, links don't lead out. */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

/** An argument that is a path, or an option with one. */
const PATH = /^([A-Za-z0-9_-]+=)?(\/.*)$/s;
/** A segment of dots alone, which leads out of its folder or looks as if it did. */
const DOTS = /(^|[/=])\.{2,}(\/|$)/;

/**
 * Returns an argument with the real path of what it names, as far as that exists.
 *
 * @returns undefined: its path is not a plain one, leads through a link to nothing, or can't be looked at
 */
export function withRealPath(argument: string): string | undefined {
  if (DOTS.test(argument)) return undefined;
  const [, option = "", path] = PATH.exec(argument) ?? [];
  if (path === undefined) return argument;
  if (normalize(path) !== path) return undefined;
  const real = findRealPath(path);
  return real === undefined ? undefined : option + real;
}

function findRealPath(path: string): string | undefined {
  let missing = "";
  for (let at = path;; at = dirname(at)) {
    try {
      return join(realpathSync(at), missing);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR" || isLink(at)) return undefined;
      missing = join(basename(at), missing);
    }
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
