import { dirname } from "node:path";
import type { Import } from "./read.ts";

/**
 * Returns whether a file may be imported by another one as far as folders are concerned: it is the face of its folder,
 * or stands in the other's folder or in one above it.
 */
export function isFaceOf({ from, to }: Import): boolean {
  const folder = dirname(to);
  if (folder === "." || to.endsWith("/mod.ts")) return true;
  return `${dirname(from)}/`.startsWith(`${folder}/`);
}

/** Finds files that import each other, directly or through others. */
export function findCycles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...targets.get(from) ?? [], to]);
  const state = new Map<string, "open" | "done">();
  const cycles: string[][] = [];
  const path: string[] = [];
  const visit = (file: string) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      cycles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    state.set(file, "open");
    path.push(file);
    targets.get(file)?.forEach(visit);
    path.pop();
    state.set(file, "done");
  };
  for (const file of targets.keys()) visit(file);
  return cycles;
}
