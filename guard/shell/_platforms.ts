/** Clusters, containers, infrastructure as code, repositories. */
import type { Objection } from "../types.ts";
import { ask, deny, hasOption, type ProgramRule, type ProgramRules, operands } from "./_rule.ts";
import { DOWNLOADERS } from "./_state.ts";
import { UNKNOWN } from "./_types.ts";

/** Kinds of objects that Kubernetes creates anew when they are removed. */
const RECREATED =
  /^(po|pod|pods|job|jobs|event|events|ev|rs|replicasets?|lease|leases|endpoints?|certificaterequests?|orders?|challenges?)$/;
const WEIGHTY =
  /^(ns|namespaces?|pvc?|persistentvolumes?|persistentvolumeclaims?|sts|statefulsets?|crds?|customresourcedefinitions?|no|nodes?|all|secrets?|clusterroles?|clusterrolebindings?|storageclass(es)?|deploy|deployments?|svc|services?|ds|daemonsets?|volumesnapshots?|networkpolic(y|ies)|netpol|ingress(es)?|validatingwebhookconfigurations?|sa|serviceaccounts?)$/;

const kubernetes: ProgramRule = ({ args, input }) => {
  const said = operands(args.slice(0, args.includes("--") ? args.indexOf("--") : undefined)).filter((
    word,
    _,
    all,
  ) => !isValue(word, args, all));
  const verb = said[0] ?? "";
  const kinds = (said[1] ?? "").split(/[,/]/);
  const all = hasOption(args, "", "--all", "--all-namespaces") || hasOption(args, "A");
  const text = args.join(" ");
  switch (verb) {
    case "delete": {
      if (hasOption(args, "", "--dry-run")) return [];
      if (all) return [deny("cluster", "It deletes every object of a kind")];
      if (args.some((arg) => arg === "-f" || arg.startsWith("--filename") || arg === "-k")) {
        return [ask("cluster", "It deletes what a file lists")];
      }
      if (kinds.some((kind) => WEIGHTY.test(kind))) {
        return [
          (/^(ns|namespace|pv|persistent|sts|stateful|crd|custom|no|node|all|deploy|secret|storage|cluster|volume)/
              .test(kinds.find((kind) => WEIGHTY.test(kind))!)
            ? deny
            : ask)(
              "cluster",
              `It deletes ${kinds[0]} objects, which do not come back by themselves`,
            ),
        ];
      }
      return RECREATED.test(kinds[0] ?? "")
        ? []
        : [ask("cluster", `It deletes ${kinds[0] || "an object"} of the cluster`)];
    }
    case "drain":
      return [
        (/--disable-eviction|--force/.test(text) && all ? deny : ask)(
          "outage",
          "It moves everything off a node",
        ),
      ];
    case "scale":
      if (/--replicas[= ]0\b/.test(text)) {
        return [
          (all || /--all/.test(text) ? deny : ask)(
            "outage",
            "It scales a workload down to nothing",
          ),
        ];
      }
      return [];
    case "create":
    case "apply":
    case "replace":
      if (/cluster-admin/.test(text) || /clusterrolebinding/.test(text)) {
        return [deny("access", "It gives rights over the whole cluster")];
      }
      if (/https?:\/\//.test(text)) {
        return [ask("remote_code", "It applies what an address serves")];
      }
      if (input?.from.some(({ program }) => DOWNLOADERS.test(program))) {
        return [deny("remote_code", "It applies what it downloads")];
      }
      if (verb === "replace" && hasOption(args, "", "--force")) {
        return [ask("cluster", "It deletes objects and makes them anew")];
      }
      return privilegeObjections(input?.text ?? "");
    case "run":
    case "debug":
      return [
        ...privilegeObjections(text),
        ...(verb === "debug" && kinds[0]?.startsWith("node")
          ? [ask("access", "It opens a shell on a node")]
          : []),
      ];
    case "patch":
    case "edit":
    case "label":
    case "taint":
      if (kinds.some((kind) => /^(cluster)?role(binding)?s?$/.test(kind))) {
        return [
          (/["']\*["']|cluster-admin/.test(text) ? deny : ask)(
            "access",
            "It changes rights in the cluster",
          ),
        ];
      }
      if (/pod-security\.kubernetes\.io\/\w+=privileged/.test(text)) {
        return [deny("access", "It lets workloads have the rights of the host")];
      }
      if (/NoExecute/.test(text)) return [ask("outage", "It drives everything off a node")];
      if (/"replicas"\s*:\s*0/.test(text)) {
        return [ask("outage", "It scales a workload down to nothing")];
      }
      if (/finalizers/.test(text) && /null|\[\]/.test(text)) {
        return [ask("cluster", "It lets an object go without cleaning up")];
      }
      return privilegeObjections(text);
    case "get":
    case "describe":
      return kinds.some((kind) => /^secrets?$/.test(kind)) && /-o|--output|describe/.test(text) &&
          !/-o[= ]?name|wide/.test(text)
        ? [ask("secret", "It reads secrets of the cluster")]
        : [];
    case "cp":
    case "proxy":
    case "port-forward":
      return verb === "proxy" && /--address[= ]0\.0\.0\.0|accept-hosts/.test(text)
        ? [deny("access", "It opens the cluster's interface to everyone")]
        : [];
    case "config":
      return /\bdelete-|unset\b/.test(text)
        ? [ask("cluster", "It removes a way into the cluster")]
        : [];
    default:
      return [];
  }
};

/** Tells whether a word is the value of the option before it: `-n shop`. */
function isValue(word: string, args: readonly string[], all: readonly string[]): boolean {
  const at = args.indexOf(word);
  return all.indexOf(word) >= 0 && at > 0 &&
    /^(-n|--namespace|--context|--cluster|--kubeconfig|-l|--selector|-c|--container|-o|--output|--grace-period|--field-selector|--timeout|-p|--patch|--type|--user|--as|--token|-s|--server|--replicas|-f|--filename|-k|--cascade)$/
      .test(args[at - 1]!);
}

function privilegeObjections(text: string): Objection[] {
  return /"?privileged"?\s*[:=]\s*"?true|hostPath|"?hostPID"?\s*:\s*true|"?hostNetwork"?\s*:\s*true/
      .test(text)
    ? [deny("access", "It starts something with the rights of the host")]
    : [];
}

const docker: ProgramRule = ({ args, input }) => {
  const said = operands(args);
  const text = ` ${args.join(" ")} `;
  const [group, verb = ""] =
    /^(system|volume|image|container|network|builder|compose|service|stack|swarm|node|secret|context|buildx)$/
        .test(said[0] ?? "")
      ? [said[0]!, said[1]]
      : ["", said[0]];
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
    return namesMany(said, input?.from)
      ? [ask("outage", "It stops all containers")]
      : [ask("outage", "It stops containers and does not start them again")];
  }
  if (/^rm$/.test(verb)) {
    return namesMany(said, input?.from)
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
  if (/^rmi$/.test(verb) && hasOption(args, "f") && namesMany(said)) {
    return [ask("destroys", "It removes all images")];
  }
  if (/^(run|create)$/.test(verb)) return mountObjections(text);
  return [];
};

function namesMany(said: readonly string[], from?: readonly unknown[]): boolean {
  return said.some((word) => word.includes(UNKNOWN)) || from !== undefined && from.length > 0;
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

const git: ProgramRule = ({ args }) => {
  const said = operands(args);
  const text = ` ${args.join(" ")} `;
  if (said.includes("push")) {
    if (
      / --mirror | --delete | --prune /.test(text) ||
      said.slice(said.indexOf("push") + 1).some((ref) => /^:\S/.test(ref))
    ) return [deny("data", "It removes branches of the shared repository")];
    if (hasOption(args, "f", "--force") || said.some((ref) => ref.startsWith("+"))) {
      return [deny("data", "It overwrites the history of the shared repository")];
    }
    if (said.some((word) => /^(https?|ssh|git):\/\//.test(word))) {
      return [ask("sends", "It hands the repository to another place")];
    }
    return hasOption(args, "", "--force-with-lease")
      ? [ask("data", "It overwrites the history of a shared branch")]
      : [];
  }
  if (said[0] === "clean" && hasOption(args, "f") && hasOption(args, "x")) {
    return [ask("destroys", "It removes all that the repository does not track")];
  }
  if (/ (filter-branch|filter-repo|update-ref -d|reflog expire .*--all) /.test(text)) {
    return [ask("data", "It rewrites or removes history")];
  }
  return said[0] === "remote" && /set-url|add/.test(text)
    ? [ask("sends", "It has the repository talk to another place")]
    : [];
};

const infrastructure: ProgramRule = ({ program, args }) => {
  const text = ` ${args.join(" ")} `;
  if (/ (destroy|apply -destroy|down|dn|delete|stack rm) |-destroy\b/.test(text)) {
    return [deny("cloud", `It takes down what ${program} has built`)];
  }
  if (/ (apply|up|deploy) /.test(text) && /-auto-approve|--yes| -y /.test(text)) {
    return [ask("cloud", `It changes what ${program} has built, without showing how before`)];
  }
  if (/ (state rm|taint|force-unlock|workspace delete|import) /.test(text)) {
    return [ask("cloud", `It changes what ${program} knows of what it has built`)];
  }
  return [];
};

export const platforms: ProgramRules = {
  kubectl: kubernetes,
  oc: kubernetes,
  k3s: (run) => kubernetes({ ...run, args: run.args.slice(1) }),
  microk8s: (run) => kubernetes({ ...run, args: run.args.slice(1) }),
  helm: ({ args }) => {
    const verb = operands(args)[0] ?? "";
    return /^(uninstall|delete|del|un)$/.test(verb)
      ? [deny("cluster", "It takes a whole release off the cluster")]
      : verb === "install" && /https?:|oci:/.test(args.join(" "))
      ? [ask("remote_code", "It installs what an address serves")]
      : [];
  },
  docker,
  podman: docker,
  nerdctl: docker,
  "docker-compose": (run) => docker({ ...run, args: ["compose", ...run.args] }),
  crictl: ({ args }) =>
    /^(rmp|rm|rmi|stopp)$/.test(operands(args)[0] ?? "") && hasOption(args, "a", "--all")
      ? [deny("destroys", "It removes all containers")]
      : [],
  terraform: infrastructure,
  tofu: infrastructure,
  terragrunt: infrastructure,
  pulumi: infrastructure,
  cdk: infrastructure,
  serverless: ({ args }) =>
    operands(args)[0] === "remove" ? [deny("cloud", "It takes down what has been deployed")] : [],
  kops: ({ args }) => operands(args)[0] === "delete" ? [deny("cloud", "It deletes a cluster")] : [],
  eksctl: ({ args }) =>
    operands(args)[0] === "delete" ? [deny("cloud", "It deletes a cluster or its nodes")] : [],
  kubeadm: ({ args }) =>
    operands(args)[0] === "reset"
      ? [deny("cluster", "It takes a node out of its cluster and erases its state")]
      : [],
  git,
  svn: ({ args }) =>
    /^(delete|rm|remove)$/.test(operands(args)[0] ?? "")
      ? [ask("data", "It removes from the repository")]
      : [],
  gh: ({ args }) =>
    / (repo|release|secret|run|gist|codespace) delete | repo (archive|edit .*--visibility public) /
        .test(` ${args.join(" ")} `)
      ? [deny("data", "It removes or opens a repository, or what belongs to it")]
      : [],
  vault: ({ args }) => {
    const text = ` ${args.join(" ")} `;
    if (
      / (delete|kv (delete|destroy|metadata delete)|secrets disable|auth disable|token revoke|operator seal|policy delete|lease revoke|audit disable|operator generate-root|policy write) /
        .test(text)
    ) return [deny("access", "It removes secrets or rights, or opens or seals the vault")];
    return / (read|kv get|print token) /.test(text) ? [ask("secret", "It reads secrets")] : [];
  },
  nomad: ({ args }) =>
    / (stop|job stop) .*-purge| system gc | (namespace|volume) delete/.test(` ${args.join(" ")} `)
      ? [deny("cluster", "It removes jobs or volumes")]
      : / job stop | stop /.test(` ${args.join(" ")} `)
      ? [ask("outage", "It stops a job")]
      : [],
  virsh: ({ args }) =>
    /^(destroy|undefine|vol-delete|pool-delete|shutdown|snapshot-delete)$/.test(
        operands(args)[0] ?? "",
      )
      ? [
        (operands(args)[0] === "shutdown" ? ask : deny)(
          "disk",
          "It ends or removes a virtual machine or its storage",
        ),
      ]
      : [],
  "ansible-playbook": ({ args }) =>
    operands(args).some((word) =>
        /(wipe|destroy|delete|remove|decommission|teardown|purge|format)[\w-]*\.ya?ml$/i.test(word)
      )
      ? [ask("destroys", "By its name, the playbook destroys something")]
      : /https?:/.test(args.join(" "))
      ? [ask("remote_code", "It runs what an address serves")]
      : [],
  ansible: ({ args }) =>
    /(^|\s)(-m|--module-name)[ =](\S+\.)?(reboot|shutdown|user|authorized_key|firewalld|filesystem|parted)(\s|$)/
        .test(args.join(" "))
      ? [ask("outage", "It restarts hosts, or changes their accounts, disks or firewalls")]
      : /state=absent/.test(args.join(" ")) && /path=|dest=|name=/.test(args.join(" "))
      ? [ask("destroys", "It removes files, packages or users on the hosts named")]
      : [],
};
