import { operations } from "../../operations/mod.ts";
import { type GeneratedFile, table } from "./_page.ts";

/** The tables of all operations and of all tools. */
export const referencePage: GeneratedFile = {
  path: "docs/reference.md",
  generate() {
    const routes = operations.flatMap((operation) =>
      Object.values(operation.rest ?? {}).map((route) => ({ route, operation }))
    ).sort((a, b) => pathOf(a.route) < pathOf(b.route) ? -1 : 1)
      .map(({ route, operation: { name, access, effect, summary } }) => [
        `\`${route}\``,
        `\`${name}\``,
        access,
        effect,
        summary,
      ]);
    const tools = operations.flatMap(({ tool, name, summary, effect }) =>
      Object.entries(tool ?? {}).map(([title, scopes]) => [
        `\`${title}\``,
        `\`${name}\``,
        scopes.join(", "),
        effect,
        summary,
      ])
    ).sort(([a], [b]) => a! < b! ? -1 : 1);
    return `# Operations and tools

Made from the definitions in \`operations/\` by \`npm run docs\`. The gateway's \`/docs\` shows each
operation with its fields, its errors and an example; \`tools/list\` of the tool server does so for
tools.

## ${routes.length} routes of the gateway

${table(["Route", "Operation", "Who may call it", "Effect", "Summary"], routes)}

## ${tools.length} tools

${table(["Tool", "Operation", "Scopes", "Effect", "Summary"], tools)}
`;
  },
};

function pathOf(route: string): string {
  return route.slice(route.indexOf(" ") + 1);
}
