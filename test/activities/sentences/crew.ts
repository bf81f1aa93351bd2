/** Sentences of the crew's agents, each with a report that says so, and one that says otherwise. */
import type { AgentReport, Examination } from "../../../contract/domain/mod.ts";
import type { Pair } from "../../_sentences.ts";
import { type Platforms, REPAIRED, report, textOf } from "./_platforms.ts";
import type { Asked } from "./lookups.ts";

type Agent = Parameters<typeof report>[1];

const ask =
  (agent: Agent, services: readonly string[], examined: readonly Examination[] = []) =>
  ({ full }: Platforms) => report(full, agent, services, examined);
const logs = (...services: string[]) => ask("inspectLogs", services);
const metrics = (...services: string[]) => ask("inspectMetrics", services);
const topology = (...services: string[]) => ask("inspectTopology", services);
const changes = (...services: string[]) => ask("inspectChanges", services);
const changesEmpty: Asked = ({ empty }) => report(empty, "inspectChanges", []);
const triage = (incident: string): Asked => async ({ full }) =>
  textOf(await full.crew.triageIncident({ incident }));
const triageAlone = (incident: string): Asked => async ({ alone }) =>
  textOf(await alone.crew.triageIncident({ incident }));
const triageEmpty = (incident: string): Asked => async ({ empty }) =>
  textOf(await empty.crew.triageIncident({ incident }));

const EXAMINED: Examination = {
  service: "down",
  ticket_id: null,
  symptom: "status_500",
  cause: "disk_full",
  says: "The disk of down is full.",
  cause_confidence: 0.9,
  category: "storage",
  observations: [2],
  alternatives: [],
  seen: [{ number: 2, source: "storage", code: "full", says: "No room is left" }],
};
const examined = (fields: Partial<Examination>) =>
  ask("inspectMetrics", [], [{ ...EXAMINED, ...fields }]);

/** Asks the verifier about suspects of another agent, of the services that are looked at. */
const verify =
  (suspects: readonly string[], services: readonly string[] = suspects): Asked =>
  async ({ full }) => {
    const other: AgentReport = {
      agent: "topology",
      round: 1,
      says: [],
      sources: [],
      suspects: suspects.map((service) => ({ service, weight: 1, why: "" })),
    };
    return textOf(await full.crew.verifySuspects({ incident: "x", services, round: 1 }, [other]));
  };

const drafted =
  (cause: string, support: Readonly<{ [service: string]: number }>, says = "It fails."): Asked =>
  async ({ full }) => {
    const { objections } = await full.review({
      incident: "It fails",
      evidence: [{ n: 1, from: "metrics", text: "It fails." }],
      services: ["up", "down"],
      support,
    }, { cause, confidence: 1, diagnosis: { text: says, evidence: [1] }, steps: [] });
    return objections.join("\n");
  };

/** Pairs about what the agents report. */
export const CREW: readonly Pair<Asked>[] = [
  ["… was not measured, as no check of it is known here", metrics("elsewhere"), metrics("up")],
  ["no finding of the log detector is open on them", logs("up"), logs("logged")],
  ["… (… times)", logs("logged"), logs("up")],
  ["a finding about its log is open", logs("logged"), logs("up")],
  ["it fails its health check", metrics("down"), metrics("up")],
  ["it goes up and down", metrics("flapping"), metrics("up")],
  ["what was observed there names a cause", examined({}), examined({ cause: null })],
  [
    "… was not measured, as no check of it is known",
    metrics("unchecked"),
    metrics("up"),
  ],
  ["… answers its check in … ms", metrics("up"), metrics("down")],
  ["… fails its check: …", metrics("down"), metrics("up")],
  ["… was down at … of its last … looks", metrics("down"), metrics("unchecked")],
  ["(observations …)", examined({}), examined({ observations: [] })],
  [", as observed for …", examined({ ticket_id: "INC-000000000000" }), examined({})],
  ["…, observation …: …", examined({}), examined({ seen: [] })],
  ["within … steps, … needs … others and is needed by …", topology("base"), topology("nobody")],
  ["… needs ……, which was down when it was last seen", topology("above"), topology("base")],
  ["through others", topology("top"), topology("above")],
  [
    "… needs it, and it was down when it was last seen",
    topology("above"),
    topology("needs-hub-1"),
  ],
  ["no repair or incident of them is on record within a day", changes("up"), changes("healed")],
  ["repair … of … on …: …", changes("healed"), changes("up")],
  ["… on …: … (…)", changes("ticketed-a"), changes("up")],
  ["… of …", changes(), changesEmpty],
  ["… at …", changes(), changesEmpty],
  ["without a runbook", changes("healed"), changes("unhealed")],
  ["Repair of …", changes(REPAIRED[0]), changes("up")],
  ["it is named", triage("Look at up"), triage("Something is wrong")],
  ["concerns …, by name", triage("Look at up"), triage("Something is wrong")],
  [
    "something was found on it that stands open",
    triage("Something is wrong"),
    triage("Look at up"),
  ],
  [
    "names no service that is known",
    triageEmpty("Something is wrong"),
    triage("Look at up"),
  ],
  [
    "names no service that is known; findings are open on …",
    triage("Something is wrong"),
    triageEmpty("Something is wrong"),
  ],
  [
    "the engine is away, so its kind is not judged",
    triageAlone("Look at up"),
    triage("Look at up"),
  ],
  [
    "by its words it is …, … (confidence …, judged by …)",
    triage("Look at up"),
    triageAlone("Look at up"),
  ],
  ["… is suspected, and answers its health check now", verify(["up"]), verify(["down"])],
  ["it answers when measured again", verify(["up"]), verify(["down"])],
  ["nothing that was found speaks against any service", verify([]), verify(["down"])],
  ["… may be the cause, and nobody has looked at it yet", verify(["down"], []), verify(["down"])],
  [
    "no check of what is suspected is known, so nothing was measured again",
    verify(["unchecked"]),
    verify(["down"]),
  ],
  [
    "measured again, each suspect fails its check",
    verify(["down"]),
    verify(["down", "unchecked"]),
  ],
  [
    "measured again, … of … suspects fail their checks; the others were not measured",
    verify(["down", "unchecked"]),
    verify(["down"]),
  ],
  [
    "It names no cause, though what was measured speaks for …",
    drafted("(none)", { down: 0.9 }),
    drafted("(none)", {}),
  ],
  [
    "It names … as the cause, which is none of the services",
    drafted("elsewhere", {}),
    drafted("down", {}),
  ],
  [
    "What was measured speaks against … as the cause",
    drafted("down", { down: -0.5 }),
    drafted("down", { down: 0.5 }),
  ],
  [
    "… answers its health check, so it is not the cause",
    drafted("up", { up: 0.5 }),
    drafted("down", { down: 0.5 }),
  ],
  [
    "The diagnosis does not name its cause, …",
    drafted("down", { down: 0.5 }),
    drafted("down", { down: 0.5 }, "The service down fails."),
  ],
];

const errors = (lines: readonly string[]): Asked => ({ full }) => full.reportLog(lines);

/** Pairs about what agents find in logs. */
export const LOGS: readonly Pair<Asked>[] = [
  ["the log … of … tells of no error within the hour", errors([]), errors(["It broke"])],
  [
    "the log … of … tells of … errors within the hour, most often: …",
    errors(["It broke"]),
    errors([]),
  ],
  ["its log tells of errors within the hour", errors(["It broke"]), errors([])],
];
