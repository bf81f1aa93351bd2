import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** A file of the docs that is made from the sources, in whole or in part. */
export interface GeneratedFile {
  /** Path in the project. */
  readonly path: string;
  /** Returns the file's text as it should be. */
  generate(): string | Promise<string>;
}

/** Returns a page whose part between `<!-- name: … -->` and `<!-- name end -->` is made from the sources. */
export function pageWith(path: string, name: string, makePart: () => string): GeneratedFile {
  const part = new RegExp(`(<!-- ${name}: [^>]* -->\n)[^]*(<!-- ${name} end -->)`);
  return {
    path,
    generate() {
      const page = readFileSync(join(ROOT, path), "utf8");
      if (!part.test(page)) throw new Error(`${path} has no part for ${name}`);
      return page.replace(part, (_, start, end) => `${start}\n${makePart()}\n\n${end}`);
    },
  };
}

/** Returns a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Returns a schema as JSON text. */
export function schemaFile(path: string, schema: unknown): GeneratedFile {
  return { path, generate: () => `${JSON.stringify(schema, null, 2)}\n` };
}
