import { loadScripts, type Script, scriptFileSchema } from "../../judgement/catalogue/mod.ts";
import { type GeneratedFile, pageWith, schemaFile, table } from "./_page.ts";

/** The table of the shipped scripts for devices, and the schema of their files. */
export const scriptFiles: readonly GeneratedFile[] = [
  pageWith(
    "docs/scripts.md",
    "scripts",
    () =>
      table(["script", "does", "as", "parameters", "changes", "verified by", "undone by"], rows()),
  ),
  schemaFile("docs/script.schema.json", scriptFileSchema()),
];

function rows(): string[][] {
  return loadScripts().map(row);
}

function row({ script, title, user, parameters, read_only, verify, undo }: Script): string[] {
  return [
    `\`${script}\``,
    title,
    user,
    Object.keys(parameters).map((name) => `\`${name}\``).join(", "),
    read_only ? "nothing" : "the device",
    verify ? `\`${verify}\`` : "",
    undo && "script" in undo ? `\`${undo.script}\`` : read_only ? "" : "nothing",
  ];
}
