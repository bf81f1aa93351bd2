/** Command lines of Kubernetes. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";
import { DOWNLOADERS } from "./_state.ts";

/** Kinds of objects that Kubernetes creates anew when they are removed. */
const RECREATED =
  /^(po|pod|pods|job|jobs|event|events|ev|rs|replicasets?|lease|leases|endpoints?|certificaterequests?|orders?|challenges?)$/;
const WEIGHTY =
  /^(ns|namespaces?|pvc?|persistentvolumes?|persistentvolumeclaims?|sts|statefulsets?|crds?|customresourcedefinitions?|no|nodes?|all|secrets?|clusterroles?|clusterrolebindings?|storageclass(es)?|deploy|deployments?|svc|services?|ds|daemonsets?|volumesnapshots?|networkpolic(y|ies)|netpol|ingress(es)?|validatingwebhookconfigurations?|sa|serviceaccounts?)$/;

export const kubernetes: ProgramRule = ({ args, input }) => {
  const words = operands(args.slice(0, args.includes("--") ? args.indexOf("--") : undefined))
    .filter(
      (
        word,
        _,
        all,
      ) => !isValue(word, args, all),
    );
  const verb = words[0] ?? "";
  const kinds = (words[1] ?? "").split(/[,/]/);
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
