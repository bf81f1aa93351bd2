import { FUNCTION_OWNERS, ROLES } from "../../store/mod.ts";
import { FUNCTIONS, type Grantee, RIGHTS, SEAL_CATEGORIES } from "../../store/rights/mod.ts";
import { pageWith, table } from "./_page.ts";

const { owner: _, ...LOGINS } = ROLES;
const GRANTEES = [...Object.keys(LOGINS), ...Object.keys(FUNCTION_OWNERS)] as Grantee[];

/** The tables of rights in `docs/rights.md`. */
export const rightsPage = pageWith("docs/rights.md", "rights", () =>
  [
    "### Tables",
    table(["table", "privileges", "roles"], tableRows()),
    "### Functions",
    table(["function", "runs with the rights of", "callers"], functionRows()),
    "### Categories of receipts",
    table(["category", "roles that may request it"], categoryRows()),
  ].join("\n\n"));

function tableRows(): string[][] {
  return Object.entries(RIGHTS).flatMap(([name, grants]) =>
    grants.length === 0 ? [[code(name), "", "none"]] : grants.map(([privileges, ...grantees]) => [
      code(name),
      privileges,
      sorted(grantees).join(", "),
    ])
  );
}

function functionRows(): string[][] {
  return Object.entries(FUNCTIONS).map(([name, { runsAs, callers }]) => [
    code(name),
    runsAs ? code(FUNCTION_OWNERS[runsAs]) : "its caller",
    callers.length === 0 ? "none" : sorted(callers).join(", "),
  ]);
}

function categoryRows(): string[][] {
  const categories = new Set(Object.values(SEAL_CATEGORIES).flat());
  return [...categories].sort().map((category) => [
    code(category),
    GRANTEES.filter((role) => SEAL_CATEGORIES[role]?.includes(category)).join(", "),
  ]);
}

const code = (text: string) => `\`${text}\``;

function sorted(grantees: readonly Grantee[]): Grantee[] {
  return GRANTEES.filter((role) => grantees.includes(role));
}
