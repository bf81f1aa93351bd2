/** Command lines of container engines. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { UNKNOWN } from "./_types.ts";

export const docker: ProgramRule = ({ args, input }) => {
  const words = operands(args);
  const text = ` ${args.join(" ")} `;
  const [group, verb = ""] =
    /^(system|volume|image|container|network|builder|compose|service|stack|swarm|node|secret|context|buildx)$/
        .test(words[0] ?? "")
      ? [words[0]!, words[1]]
      : ["", words[0]];
  if (verb === "prune") {
    if (group === "volume" || / --volumes/.test(text)) {
      return [
        deny("destroys", "It removes every volume that nothing uses at this moment, with its data"),
      ];
    }
    return [];
  }
  if (group === "volume" && /^(rm|remove)$/.test(verb)) {
    return [deny("destroys", "It removes volumes with their data")];
  }
  if (/^(stack|swarm|service|secret|node)$/.test(group) && /^(rm|remove|leave)$/.test(verb)) {
    return [deny("cluster", "It removes services, secrets or nodes of the swarm")];
  }
  if (/ down /.test(text) && / (-v|--volumes|--rmi)/.test(text)) {
    return [deny("destroys", "It removes containers with their volumes")];
  }
  if (verb === "kill" && / (-s|--signal)[= ]?(SIG)?(HUP|USR1|USR2|WINCH) /.test(text)) return [];
  if (
    / (compose )?(down|stop|kill) /.test(text) && group !== "container" ||
    /^(stop|kill)$/.test(verb)
  ) {
    return namesMany(words, input?.from)
      ? [ask("outage", "It stops all containers")]
      : [ask("outage", "It stops containers and does not start them again")];
  }
  if (/^rm$/.test(verb)) {
    return namesMany(words, input?.from)
      ? hasOption(args, "fv", "--force", "--volumes")
        ? [deny("destroys", "It removes all containers")]
        : []
      : hasOption(args, "v")
      ? [ask("destroys", "It removes a container with its volumes")]
      : hasOption(args, "f")
      ? [ask("outage", "It removes a container that may be running")]
      : [];
  }
  if (group === "system" && verb === "reset") {
    return [deny("destroys", "It removes every container, image and volume")];
  }
  if (/^rmi$/.test(verb) && hasOption(args, "f") && namesMany(words)) {
    return [ask("destroys", "It removes all images")];
  }
  if (/^(run|create)$/.test(verb)) return mountObjections(text);
  return [];
};

function namesMany(words: readonly string[], from?: readonly unknown[]): boolean {
  return words.some((word) => word.includes(UNKNOWN)) || from !== undefined && from.length > 0;
}

function mountObjections(text: string): Objection[] {
  if (
    / --privileged|(-v|--volume|--mount)[= ]("|')?(\/|type=bind,(source|src)=\/)(:|,)|docker\.sock|--pid[= ]host|--cap-add[= ](SYS_ADMIN|ALL)/
      .test(text)
  ) return [deny("access", "It starts a container with the rights of the host")];
  return / (-v|--volume)[= ]\/(etc|root|var\/run|boot)\b[^ ]*/.test(text)
    ? [ask("access", "It gives a container folders of the system")]
    : [];
}
