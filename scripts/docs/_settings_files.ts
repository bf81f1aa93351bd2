import { SETTINGS_FILES } from "../../contract/domain/mod.ts";
import { pageWith, table } from "./_page.ts";

const KEEPS = {
  before: "what it said before stays in force",
  until_restart: "what it said before stays in force in processes that go on",
  nothing: "nothing of it is in force",
} as const;

/** The table of the settings files in `docs/settings_files.md`. */
export const settingsFilesPage = pageWith(
  "docs/settings_files.md",
  "files",
  () =>
    table(
      ["name", "file", "while it is refused", "while nothing of it is in force"],
      Object.entries(SETTINGS_FILES).map(([name, { title, keeps, without }]) => [
        `\`${name}\``,
        title,
        KEEPS[keeps],
        without,
      ]),
    ),
);
