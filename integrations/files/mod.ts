/**
 * Files on this host: YAML of operators with errors that name the line, files that change, logs that grow.
 *
 * ```ts
 * const read = readYamlFile(path, Schema);
 * const followed = await followFile({ path, name: "services file", log, apply });
 * const { lines, place } = await readAddedLines(path, lastPlace);
 * ```
 *
 * @module
 */
export { type AddedLines, type FilePlace, readAddedLines } from "./added_lines.ts";
export { type FollowedFile, followFile, type FollowOptions } from "./follow_file.ts";
export {
  type Explain,
  formatMistakes,
  type Mistake,
  readYaml,
  readYamlFile,
  type YamlContent,
} from "./yaml_file.ts";
