import { readImports } from "./imports/mod.ts";

/**
 * Unit tests need no servers and start no processes to speak of; all others are system tests. Soak tests are those of both
 * that have sizes. Remote tests download others' programs, and are run by name alone.
 */
export type TestKind = "all" | "unit" | "system" | "soak" | "remote";

/** Tests in the two parts in which they run: beside many others, and then beside few. */
export interface TestLanes {
  /** The longest first, so that none goes on alone at the end. */
  readonly many: readonly string[];
  /** Files that start whole processes of the platform, kill them, or drive a browser. */
  readonly few: readonly string[];
}

/** Helper that makes the daily run smaller. */
const SIZE = ["test/_size.ts"];
/** Helpers that start a PostgreSQL, a Temporal, a browser, or whole processes of the platform. */
const SERVERS = ["test/_servers.ts", "test/_browser.ts", "test/_platform.ts"];
/** Helpers that start whole platforms or drive a browser. */
const PROCESSES = ["test/_browser.ts", "test/_platform.ts"];
/** Files that start single processes of the platform, kill them, or compare times beside what exhausts them. */
const KILLS = /^test\/(processes\/|.*(kill(s|ed)?|bombs)_test\.ts$)/;
/** Files that start agents of devices, verifiers, parsers or programs that make media, or type-check a copy of the sources. */
const STARTS =
  /^test\/(agent\/|integrations\/(media|strangers)\/|ledger\/(succession\/|verify\/receipt_files)|docs\/contributing)/;
/** Folders and files whose tests take longest. */
const LONGEST =
  /^test\/(?:workflows|ledger\/scrub|api|judgement\/(?:engine|guard)|contract)\/|identity/;

/** Lists test files. What they start is told by the helpers that they import, directly or through other files. */
export function listTests(kind: TestKind): TestLanes {
  const imports = readImports();
  const files = [...new Set(imports.map(({ from }) => from))].sort();
  if (kind === "remote") {
    return { many: files.filter((path) => /^test\/remote\/.*_remote\.ts$/.test(path)), few: [] };
  }
  const importersOf = (helpers: readonly string[]) => {
    const found = new Set(helpers);
    for (let next = helpers; next.length > 0;) {
      next = imports.filter(({ from, to, isType }) =>
        !isType && next.includes(to) && !found.has(from)
      ).map(({ from }) => from);
      next.forEach((path) => found.add(path));
    }
    return found;
  };
  const system = importersOf(SERVERS);
  const processes = importersOf(PROCESSES);
  const sized = importersOf(SIZE);
  const all = files.filter((path) => path.startsWith("test/") && path.endsWith("_test.ts"));
  const startsProcesses = (path: string) => processes.has(path) || KILLS.test(path);
  const isUnit = (path: string) =>
    !system.has(path) && !startsProcesses(path) && !STARTS.test(path);
  const wanted = all.filter((path) => {
    if (kind === "soak") return sized.has(path);
    return kind === "all" || isUnit(path) === (kind === "unit");
  });
  const many = wanted.filter((path) => !startsProcesses(path));
  const rank = (path: string) => LONGEST.test(path) ? 0 : system.has(path) ? 1 : 2;
  return {
    many: many.sort((a, b) => rank(a) - rank(b)),
    few: wanted.filter(startsProcesses),
  };
}
