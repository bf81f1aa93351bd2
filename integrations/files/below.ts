import { realpath } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";
import { Problem } from "../../contract/mod.ts";

/**
 * Returns the path of something below a folder. What names a part of a path and comes from outside passes here: ids, names,
 * what files of others list.
 *
 * @param parts relative to the folder; `/` within one separates folders
 * @throws {Problem} `InvalidInput`: the path would leave the folder, or be the folder itself
 */
export function pathBelow(folder: string, ...parts: readonly string[]): string {
  const root = resolve(folder);
  const path = resolve(root, ...parts);
  const isBelow = path.startsWith(root === sep ? sep : root + sep) && path !== root;
  // An absolute part would replace those before it, and climb back below the folder.
  const isPlain = parts.every((part) => !part.includes("\0") && !isAbsolute(part)) &&
    parts.every((part) => !part.split(/[\\/]/).includes(".."));
  if (isBelow && isPlain) return path;
  throw new Problem(
    "InvalidInput",
    `Cannot use the path ${JSON.stringify(parts.join("/"))}: it is not below its folder`,
  );
}

/**
 * Returns the real path of something that is below a folder, with all symbolic links followed.
 *
 * @returns undefined: there is no such thing, or a link leads out of the folder
 * @throws {Problem} `InvalidInput`: the path would leave the folder
 */
export async function realPathBelow(
  folder: string,
  ...parts: readonly string[]
): Promise<string | undefined> {
  const path = pathBelow(folder, ...parts);
  const [root, real] = await Promise.all(
    [folder, path].map((one) => realpath(one).catch(() => undefined)),
  );
  return real !== undefined && root !== undefined && real.startsWith(root + sep) ? real : undefined;
}
