/** Clusters, containers, infrastructure as code, repositories. */
import { hasOption, operands } from "./_arguments.ts";
import { docker } from "./_containers.ts";
import { kubernetes } from "./_kubernetes.ts";
import { ask, deny, type ProgramRule, type ProgramRules } from "./_rule.ts";
const git: ProgramRule = ({ args }) => {
  const words = operands(args);
  const text = ` ${args.join(" ")} `;
  if (words.includes("push")) {
    if (
      / --mirror | --delete | --prune /.test(text) ||
      words.slice(words.indexOf("push") + 1).some((ref) => /^:\S/.test(ref))
    ) return [deny("data", "It removes branches of the shared repository")];
    if (hasOption(args, "f", "--force") || words.some((ref) => ref.startsWith("+"))) {
      return [deny("data", "It overwrites the history of the shared repository")];
    }
    if (words.some((word) => /^(https?|ssh|git):\/\//.test(word))) {
      return [ask("sends", "It hands the repository to another place")];
    }
    return hasOption(args, "", "--force-with-lease")
      ? [ask("data", "It overwrites the history of a shared branch")]
      : [];
  }
  if (words[0] === "clean" && hasOption(args, "f") && hasOption(args, "x")) {
    return [ask("destroys", "It removes all that the repository does not track")];
  }
  if (/ (filter-branch|filter-repo|update-ref -d|reflog expire .*--all) /.test(text)) {
    return [ask("data", "It rewrites or removes history")];
  }
  return words[0] === "remote" && /set-url|add/.test(text)
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
