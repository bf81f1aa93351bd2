import { isGoverned, shippedRuleOf, splitByContract } from "../../contract/mod.ts";
import { operations } from "../../operations/mod.ts";
import { type GeneratedFile, table } from "./_page.ts";

const ROUTE_HEADS = ["Route", "Operation", "Who may call it", "Effect", "Shipped rule", "Summary"];
const TOOL_HEADS = ["Tool", "Operation", "Scopes", "Effect", "Shipped rule", "Summary"];

/** The tables of all operations and of all tools. */
export const referencePage: GeneratedFile = {
  path: "docs/reference.md",
  generate() {
    const { own, extensions } = splitByContract(operations);
    const [routes, tools] = [routesOf(own), toolsOf(own)];
    return `# Operations and tools

Made from the definitions in \`operations/\` by \`npm run docs\`. The gateway's \`/docs\` shows each
operation with its fields, its errors and an example; \`tools/list\` of the tool server does so for
tools. The [shipped rule](governance.md) decides about calls that no rule of the operator matches.

## ${routes.length} routes of the gateway

${table(ROUTE_HEADS, routes)}

## ${tools.length} tools

${table(TOOL_HEADS, tools)}

## Beyond the contract

These are operations like all others, but the two lists above stay as they are for the clients that
rely on them. The routes are described at \`/extensions/openapi.json\`; the tools are offered where a
client asks for them by name or group, as in \`/mcp?tools=itsm,on_call\`.

${table(ROUTE_HEADS, routesOf(extensions))}

${table(TOOL_HEADS, toolsOf(extensions))}
`;
  },
};

type Listed = (typeof operations)[number];

function routesOf(listed: readonly Listed[]): string[][] {
  return listed.flatMap((operation) =>
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
}

function toolsOf(listed: readonly Listed[]): string[][] {
  return listed.flatMap((operation) =>
    Object.entries(operation.tool ?? {}).map(([title, scopes]) => [
      `\`${title}\``,
      `\`${operation.name}\``,
      scopes.join(", "),
      operation.effect,
      ruleOf(operation),
      operation.summary,
    ])
  ).sort(([a], [b]) => a! < b! ? -1 : 1);
}

/** Returns the shipped rule that decides about calls; empty: nothing is decided about reads. */
function ruleOf(operation: Listed): string {
  return isGoverned(operation) ? `\`${shippedRuleOf(operation, operation.example.input)}\`` : "";
}

function pathOf(route: string): string {
  return route.slice(route.indexOf(" ") + 1);
}
