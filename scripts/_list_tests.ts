import { readImports } from "./imports/mod.ts";

/** Unit tests need no servers; system tests do. Remote tests download others' programs, and are run by name alone. */
export type TestKind = "all" | "unit" | "system" | "remote";

/** Helpers that start a PostgreSQL, a Temporal, a browser, or whole processes of the platform. */
const SERVERS = ["test/_servers.ts", "test/_browser.ts", "test/_platform.ts"];

/** Folders whose tests take longest, as they start whole platforms and kill their processes. */
const LONGEST = /^test\/(?:workflows\/|ledger\/hostile\/|processes\/commands\/|[^/]*$)/;

/**
 * Lists test files, the longest first, so that none goes on alone at the end. A test is a system test where it imports what
 * starts servers, directly or through other files.
 */
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
  const system = all.filter((path) => withServers.has(path));
  const unit = all.filter((path) => !withServers.has(path));
  const long = system.filter((path) => LONGEST.test(path));
  const short = system.filter((path) => !LONGEST.test(path));
  if (kind === "unit") return unit;
  return [...long, ...short, ...kind === "all" ? unit : []];
}
