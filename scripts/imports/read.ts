import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { ROOT } from "../../config.ts";

/** One import of a file of the project by another. */
export interface Import {
  /** Path in the project. */
  readonly from: string;
  /** Path in the project. */
  readonly to: string;
  /** True: only types are imported. */
  readonly isType: boolean;
}

const SKIPPED = new Set(["node_modules", "dist", ".git", ".data"]);
/** Imports and exports from a file, dynamic imports, and types of the form `import("…")`. */
const IMPORT =
  /(?:^|\n)(?:import|export)( type)?\b[^"';]*? from "(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"\s*\)/g;

/** Reads the imports of all TypeScript files of the project, those of types and dynamic ones included. */
export function readImports(): Import[] {
  return listSources(".").flatMap((from) =>
    [...readFileSync(join(ROOT, from), "utf8").matchAll(IMPORT)].map((match) => ({
      from,
      to: posix.join(dirname(from), match[2] ?? match[3]!),
      isType: match[1] !== undefined,
    }))
  );
}

/** Lists the faces of all folders: their `mod.ts`. */
export function listFaces(): string[] {
  return listSources(".").filter((path) => path.endsWith("/mod.ts"));
}

function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name) || entry.name.startsWith("dist.")) return [];
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return listSources(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}
