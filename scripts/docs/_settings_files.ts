import { SETTINGS_FILES } from "../../contract/domain/mod.ts";
import { pageWith, table } from "./_page.ts";

/** The table of the settings files in `docs/settings_files.md`. */
export const settingsFilesPage = pageWith(
  "docs/settings_files.md",
  "files",
  () =>
    table(
      ["name", "file", "its name in the data folder", "setting", "while nothing of it is in force"],
      Object.entries(SETTINGS_FILES).map(([name, { title, file, setting, without }]) => [
        `\`${name}\``,
        title,
        `\`${file}\``,
        `\`${setting}\``,
        without,
      ]),
    ),
);
