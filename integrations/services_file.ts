import { existsSync, readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";

const Argv = z.array(z.string().min(1)).min(1);
const Check = z.union([
  z.strictObject({ http: z.url({ protocol: /^https?$/ }) }),
  z.strictObject({ tcp: z.string().regex(/^.+:\d{1,5}$/, "Expected host:port") }),
  z.strictObject({ command: Argv }),
]);
const Process = z.strictObject({
  command: Argv,
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const Restart = z.union([z.strictObject({ command: Argv }), z.strictObject({ process: Process })]);
const Service = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, "Expected letters, digits and . _ -"),
  type: z.string().default("service"),
  host: z.string().default("localhost"),
  owner: z.string().optional(),
  depends_on: z.array(z.string()).default([]),
  check: Check.optional(),
  restart: Restart.optional(),
});
const File = z.strictObject({ services: z.array(Service).default([]) });

/** A service as the file describes it. */
export type ServiceEntry = z.output<typeof Service>;

/** The services file is wrong; each message begins with the line. */
export class BadServicesFile extends Error {
  override readonly name = "BadServicesFile";
}

/**
 * Reads the file of the services to watch.
 *
 * @param path a file that is not there gives no services
 * @param known names that `depends_on` may use besides those of the file
 * @throws {BadServicesFile} says the line, what was wrong, and what would be right
 */
export function readServicesFile(path: string, known: readonly string[] = []): ServiceEntry[] {
  if (!existsSync(path)) return [];
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, "utf8"), { lineCounter: lines });
  const lineOf = (at: readonly PropertyKey[]): number => {
    for (let length = at.length; length >= 0; length--) {
      const node = document.getIn(at.slice(0, length), true) as { range?: [number] } | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const fail = (problems: [number, string][]): never => {
    const text = problems.map(([line, problem]) => `  line ${line}: ${problem}`).join("\n");
    throw new BadServicesFile(`Cannot use ${path}:\n${text}`);
  };
  if (document.errors.length > 0) {
    fail(document.errors.map((e) => [lines.linePos(e.pos[0]).line, e.message.split("\n")[0]!]));
  }
  const parsed = File.safeParse(document.toJS() ?? {});
  if (!parsed.success) {
    fail(
      parsed.error.issues.map((
        issue,
      ) => [lineOf(issue.path), `${issue.path.join(".")}: ${explain(issue)}`]),
    );
  }
  const { services } = parsed.data!;
  const wrong = inconsistencies(services, known).map((
    [at, text],
  ): [number, string] => [lineOf(at), text]);
  if (wrong.length > 0) fail(wrong);
  return services;
}

function explain(issue: z.core.$ZodIssue): string {
  const field = issue.path.at(-1);
  if (field === "check") return "expected {http: url}, {tcp: host:port} or {command: [argv]}";
  if (field === "restart") return "expected {command: [argv]} or {process: {command: [argv]}}";
  if (issue.code === "unrecognized_keys") {
    return `unknown field ${issue.keys.join(", ")}; there are ${
      Object.keys(Service.shape).join(", ")
    }`;
  }
  return issue.message;
}

function inconsistencies(
  services: readonly ServiceEntry[],
  known: readonly string[],
): [PropertyKey[], string][] {
  const names = services.map(({ name }) => name);
  const all = new Set([...names, ...known]);
  return services.flatMap(({ name, depends_on }, i): [PropertyKey[], string][] => [
    ...(names.indexOf(name) < i || known.includes(name)
      ? [
        [["services", i, "name"], `there is another service named ${name}`] as [
          PropertyKey[],
          string,
        ],
      ]
      : []),
    ...depends_on.flatMap((other, j): [PropertyKey[], string][] =>
      all.has(other)
        ? []
        : [[["services", i, "depends_on", j], `there is no service named ${other}`]]
    ),
  ]);
}
