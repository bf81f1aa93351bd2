export { stampOf } from "./_stamp.ts";
export { type Mistake, readYaml, readYamlFile } from "./yaml_file.ts";
