import { readImports } from "./imports/mod.ts";

/** Unit tests need no servers; system tests do. Remote tests download others' programs, and are run by name alone. */
export type TestKind = "all" | "unit" | "system" | "remote";

/** Helpers that start a PostgreSQL, a Temporal, a browser, or whole processes of the platform. */
const SERVERS = ["test/_servers.ts", "test/_browser.ts", "test/_platform.ts"];

/** Lists test files. A test is a system test where it imports what starts servers, directly or through other files. */
export function listTests(kind: TestKind): string[] {
  const imports = readImports();
  if (kind === "remote") {
    const files = new Set(imports.map(({ from }) => from));
    return [...files].filter((path) => /^test\/remote\/.*_remote\.ts$/.test(path)).sort();
  }
  const importers = (paths: readonly string[]) =>
    imports.filter(({ to, isType }) => !isType && paths.includes(to)).map(({ from }) => from);
  const withServers = new Set(SERVERS);
  for (let next = SERVERS; next.length > 0;) {
    next = importers(next).filter((path) => !withServers.has(path));
    next.forEach((path) => withServers.add(path));
  }
  const all = [...new Set(imports.map(({ from }) => from))]
    .filter((path) => path.startsWith("test/") && path.endsWith("_test.ts")).sort();
  if (kind === "all") return all;
  return all.filter((path) => withServers.has(path) === (kind === "system"));
}
