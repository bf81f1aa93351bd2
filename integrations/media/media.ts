import type { Config } from "../../config.ts";
import { type MediaFiles, openMediaFiles } from "./files.ts";
import { type MediaTools, openMediaTools } from "./tools.ts";

/** The programs that make media, and the files that they have made. */
export interface Media {
  readonly tools: MediaTools;
  readonly files: MediaFiles;
}

/** Opens both. Nothing is looked for before it is used. */
export function openMedia(config: Config): Media {
  return { tools: openMediaTools(config), files: openMediaFiles(config) };
}
