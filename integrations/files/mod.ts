/**
 * Files that operators write: reading them with errors that name the line, and following their changes.
 *
 * ```ts
 * const read = readYamlFile(path, Schema);
 * const followed = await followFile({ path, name: "services file", log, apply });
 * ```
 *
 * @module
 */
export { stampOf } from "./_stamp.ts";
export { type FollowedFile, followFile, type FollowOptions } from "./follow_file.ts";
export {
  type Explain,
  formatMistakes,
  type Mistake,
  readYaml,
  readYamlFile,
  type YamlContent,
} from "./yaml_file.ts";
