import { isGoverned, shippedRuleOf } from "../../contract/mod.ts";
import { operations } from "../../operations/mod.ts";
import { type GeneratedFile, table } from "./_page.ts";

/** The tables of all operations and of all tools. */
export const referencePage: GeneratedFile = {
  path: "docs/reference.md",
  generate() {
    const routes = operations.flatMap((operation) =>
      Object.values(operation.rest ?? {}).map((route) => ({ route, operation }))
    ).sort((a, b) => pathOf(a.route) < pathOf(b.route) ? -1 : 1)
      .map(({ route, operation }) => [
        `\`${route}\``,
        `\`${operation.name}\``,
        operation.access,
        operation.effect,
        ruleOf(operation),
        operation.summary,
      ]);
    const tools = operations.flatMap((operation) =>
      Object.entries(operation.tool ?? {}).map(([title, scopes]) => [
        `\`${title}\``,
        `\`${operation.name}\``,
        scopes.join(", "),
        operation.effect,
        ruleOf(operation),
        operation.summary,
      ])
    ).sort(([a], [b]) => a! < b! ? -1 : 1);
    return `# Operations and tools

Made from the definitions in \`operations/\` by \`npm run docs\`. The gateway's \`/docs\` shows each
operation with its fields, its errors and an example; \`tools/list\` of the tool server does so for
tools. The [shipped rule](governance.md) decides about calls that no rule of the operator matches.

## ${routes.length} routes of the gateway

${table(["Route", "Operation", "Who may call it", "Effect", "Shipped rule", "Summary"], routes)}

## ${tools.length} tools

${table(["Tool", "Operation", "Scopes", "Effect", "Shipped rule", "Summary"], tools)}
`;
  },
};

/** Returns the shipped rule that decides about calls; empty: nothing is decided about reads. */
function ruleOf(operation: (typeof operations)[number]): string {
  return isGoverned(operation) ? `\`${shippedRuleOf(operation, operation.example.input)}\`` : "";
}

function pathOf(route: string): string {
  return route.slice(route.indexOf(" ") + 1);
}
