import { readImports } from "./imports/mod.ts";

/**
 * Unit tests need no servers and start no processes to speak of; all others are system tests. Soak tests are those of both
 * that have sizes. Remote tests download others' programs, and those of the cluster run all of it with real parts: both are
 * run by name alone.
 */
export type TestKind = "all" | "unit" | "system" | "soak" | "remote" | "cluster";

/** Tests in the two parts in which they run: beside many others, and then beside few. */
export interface TestLanes {
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
/** Files that took longest in a run of all, the longest first. Those of folders follow, and then all others. */
const LONGEST = [
  "test/workflows/worker_kill_test.ts",
  "test/ledger/hostile/hostile_test.ts",
  "test/processes/commands/commands_test.ts",
  "test/way_test.ts",
  "test/start_test.ts",
  "test/approvals_way_test.ts",
  "test/api/pages_test.ts",
  "test/workflows/bombs_test.ts",
  "test/console/console_test.ts",
  "test/workflows/crew_written_test.ts",
  "test/operations/devices/commands_test.ts",
  "test/workflows/media_test.ts",
  "test/workflows/scrub_test.ts",
  "test/ledger/scrub/scrub_test.ts",
  "test/tenants/walls_test.ts",
  "test/docs/contributing_test.ts",
  "test/workflows/guardrails_away_test.ts",
  "test/agent/install_test.ts",
  "test/mcp/others_test.ts",
  "test/mcp/a2a_messages_test.ts",
  "test/mcp/process_test.ts",
  "test/api/every_operation_test.ts",
  "test/calls/idempotent_operations_test.ts",
  "test/operations/integrations/acts_test.ts",
  "test/ledger/seal/append_test.ts",
  "test/ledger/log/log_test.ts",
  "test/integrations/media/speech_test.ts",
  "test/judgement/engine/providers_test.ts",
  "test/calls/injections_test.ts",
  "test/crm_erase_test.ts",
  "test/agent/agent_commands_test.ts",
  "test/integrations/strangers/pool_test.ts",
];
const LONG_FOLDERS = /^test\/(?:workflows|api|agent|mcp|judgement\/engine|operations\/devices)\//;

/** Lists test files. What they start is told by the helpers that they import, directly or through other files. */
export function listTests(kind: TestKind): TestLanes {
  const imports = readImports();
  const files = [...new Set(imports.map(({ from }) => from))].sort();
  if (kind === "remote" || kind === "cluster") {
    const named = new RegExp(`^test/${kind}/.*_${kind}\\.ts$`);
    return { many: files.filter((path) => named.test(path)), few: [] };
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
  return {
    many: longestFirst(many, isUnit),
    few: longestFirst(wanted.filter(startsProcesses), isUnit),
  };
}

/** Sorts files so that none that takes long is left to the end, where it would run alone. */
function longestFirst(
  paths: readonly string[],
  isUnit: (path: string) => boolean,
): readonly string[] {
  const rank = (path: string) => {
    const place = LONGEST.indexOf(path);
    if (place >= 0) return place;
    const group = LONG_FOLDERS.test(path) ? 0 : isUnit(path) ? 2 : 1;
    return LONGEST.length + group;
  };
  return paths.toSorted((a, b) => rank(a) - rank(b));
}
