import { z } from "zod";
import { SETTINGS } from "../../config.ts";
import { pageWith, table } from "./_page.ts";

/** The table of settings in `docs/operating.md`. */
export const settingsPage = pageWith("docs/operating.md", "settings", () => {
  const { properties } = z.toJSONSchema(SETTINGS, { io: "input", unrepresentable: "any" }) as {
    properties: Record<string, { default?: unknown; description?: string }>;
  };
  return table(
    ["setting", "default", "meaning"],
    Object.entries(properties).map(([name, { default: fallback, description }]) => [
      `\`${name}\``,
      fallback === undefined ? "" : `\`${fallback}\``,
      description ?? "",
    ]),
  );
});
