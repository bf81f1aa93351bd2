import { z } from "zod";
import {
  CommandsFile,
  loadRunbooks,
  type Runbook,
  RunbookFile,
  SHIPPED_RUNBOOKS,
} from "../../judgement/runbooks/mod.ts";
import { type GeneratedFile, pageWith, schemaFile, table } from "./_page.ts";

const ACTIONS = new Set(
  [
    "restart",
    "http",
    "command",
    "clean",
    "purge",
    "wait",
    "workflow",
    "notify",
    "script",
    "stop",
    "descriptors",
    "join",
  ],
);

/** The table of the shipped runbooks, and the schemas of runbooks and of the file of their commands. */
export const runbookFiles: readonly GeneratedFile[] = [
  pageWith("docs/runbooks.md", "runbooks", () => {
    const { runbooks } = loadRunbooks(SHIPPED_RUNBOOKS);
    return table(["runbook", "when", "steps", "undone"], runbooks.map(row));
  }),
  schemaFile("docs/runbook.schema.json", {
    title: "A runbook",
    ...z.toJSONSchema(RunbookFile, { io: "input" }),
  }),
  schemaFile("docs/runbook-commands.schema.json", {
    title: "Commands that runbooks may run",
    ...z.toJSONSchema(CommandsFile, { io: "input" }),
  }),
];

function row({ runbook, match, parameters, needs, steps }: Runbook): string[] {
  const findings = (match.findings ?? []).map(({ check, codes }) =>
    codes.includes("*") ? check : `${check}: ${codes.join(" ")}`
  );
  const required = Object.entries(parameters)
    .filter(([, { default: value, from }]) =>
      value === undefined && (!from || from === "bounded_folder")
    )
    .map(([name, { from }]) => `\`${name}\`${from ? " or has a bounded folder" : ""}`);
  const when = [
    ...findings,
    ...(match.words ? [`says ${match.words.map((word) => `“${word}”`).join(" or ")}`] : []),
    ...(match.causes ? [`cause ${match.causes.join(" ")}`] : []),
    ...(match.types ? [`type ${match.types.join(" ")}`] : []),
    ...(needs.includes("restart") ? ["lists a restart"] : []),
    ...(required.length > 0 ? [`gives ${required.join(", ")}`] : []),
  ].join("; ");
  const actions = steps.map((step) =>
    Object.keys(step).find((key) => ACTIONS.has(key)) + (step.bounds.ask ? " (asks first)" : "")
  );
  const undone = steps.filter(({ undo }) => !("none" in undo)).map(({ step }) => step);
  return [
    `\`${runbook}\``,
    when.replaceAll("*", "\\*"),
    actions.join(", "),
    undone.join(", ") || "no",
  ];
}
