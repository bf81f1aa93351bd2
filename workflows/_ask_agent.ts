/** One agent of the crew, as it answers a question: the pipeline reads what the agent reports. */
import {
  type AgentName,
  type AgentReport,
  type CrewScope,
  type Examination,
  type Intake,
  type LookupResult,
  type Plan,
  PLATFORM_SOURCE,
  type Retrieved,
  type Source,
} from "../contract/domain/mod.ts";
import { perform, QUICK } from "./_options.ts";

/** Chooses what an agent examines. @returns the plan, and a sentence on it */
export async function planForAgent(
  agent: AgentName,
  intake: Intake,
  retrieved: Retrieved,
): Promise<[Plan, string]> {
  const plan = await perform(QUICK, `${agent}: what it examines`)
    .planAgentLookups(agent, intake, retrieved);
  const subjects = plan.lookups.map(({ tool, arguments: { of = "" } }) => `${tool} ${of}`.trim());
  return [plan, subjects.join(", ") || "nothing to look at"];
}

/** Has an agent report on the services of a plan, and makes the plan's other lookups. */
export async function askAgent(
  agent: AgentName,
  prompt: string,
  { lookups }: Plan,
): Promise<[LookupResult[], string]> {
  const services = lookups.flatMap(({ tool, arguments: { of } }) =>
    tool === agent && of ? [of] : []
  );
  const read = await Promise.all(
    lookups.filter(({ tool }) => tool !== agent)
      .map((lookup) => perform(QUICK, `Looks up: ${lookup.tool}`).lookUp(lookup)),
  );
  const incident = [prompt, ...read.flatMap(({ says }) => says)].join("\n");
  const scope = { incident, services, round: 1 };
  const examined = agent === "triage" || services.length === 0
    ? []
    : await perform(QUICK, `Looks at ${services.join(", ")} as the loop does`)
      .examineServices(scope);
  const reports = await reportsOf(agent, scope, examined);
  const results = [...read, ...reports.flatMap(sentencesOf)];
  return [results, `${agent} says ${results.length} sentences about ${services.length} services`];
}

async function reportsOf(
  agent: AgentName,
  scope: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport[]> {
  const subject = scope.services.join(", ") || "the whole platform";
  const activities = perform(QUICK, `${agent}: ${subject}`);
  switch (agent) {
    case "triage":
      return [await activities.triageIncident({ incident: scope.incident })];
    case "logs":
      return [await activities.inspectLogs(scope, examined)];
    case "metrics":
      return [await activities.inspectMetrics(scope, examined)];
    case "topology":
      return [await activities.inspectTopology(scope, examined)];
    case "change":
      return [await activities.inspectChanges(scope, examined)];
    case "verifier":
      return await verify(scope, examined);
  }
}

/** Has the agents that name suspects report, and the verifier object. */
async function verify(
  scope: CrewScope,
  examined: readonly Examination[],
): Promise<AgentReport[]> {
  const asked = (["logs", "metrics", "topology"] as const)
    .map((agent) => reportsOf(agent, scope, examined));
  const reports = (await Promise.all(asked)).flat();
  const verification = await perform(QUICK, "verifier: what speaks against them")
    .verifySuspects(scope, reports);
  const suspicions = reports.map((report) => ({
    ...report,
    says: report.suspects.map(({ service, why }) => `${service} is suspected: ${why}`),
  }));
  return [...suspicions, verification];
}

/** Returns the sentences of a report, each with the source that it names. */
function sentencesOf({ agent, says, sources }: AgentReport): LookupResult[] {
  return says.map((text) => ({
    lookup: { tool: agent, arguments: {} },
    says: [text],
    sources: [sourceOf(String(text), sources)],
    data: {},
  }));
}

/**
 * Returns the source that a sentence names, the longest name first. One that names none stands on an article, or on the
 * platform's records.
 */
function sourceOf(text: string, sources: readonly Source[]): Source {
  const named = sources.filter(({ id, title }) => text.includes(id) || text.startsWith(title))
    .sort((a, b) => b.id.length - a.id.length);
  return named[0] ?? sources.find(({ kind }) => kind === "article") ?? PLATFORM_SOURCE;
}
