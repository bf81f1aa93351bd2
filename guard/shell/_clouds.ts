/** Command lines of cloud providers. They are judged by their verbs, as there are thousands of commands. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { areaOf } from "./_paths.ts";
import { ask, deny, type ProgramRule, type ProgramRules } from "./_rule.ts";

const REMOVES =
  /^(?:\w+:)?(delete|destroy|terminate|purge|nuke|wipe|erase|deregister|deallocate|schedule-key-deletion|disable-key|batch-delete|force-delete|rb)(-|$)|-(delete|destroy|terminate|deletion|purge)$/;
/** Removals of things that come back, or that were meant to go. */
const HARMLESS =
  /^(deregister-targets|deregister-instances-from-load-balancer|delete-message|delete-messages|terminate-instance-in-auto-scaling-group)$/;
/** Removals that are ordinary work, though a person should see them. */
const LIGHT =
  /^(deregister-targets|terminate-instance-in-auto-scaling-group|delete-message|delete-messages|delete-tags|delete-object-tagging|delete-invalidation|purge-queue|deallocate|deregister-instances-from-load-balancer|delete-item|delete-log-stream)$/;
/** Verbs that change rights, code or sharing. */
const CHANGES =
  /^(?:\w+:)?(modify|update|put|set|create|add|attach|associate|import|replace|restore|copy|share|disable|detach|disassociate|revoke|rotate|transfer|move|register|accept|leave|close|remove|stop|cancel|release|grant|allow|assign|swap|publish)(-|$)/;
/** Changes that a repair may need, and that can be undone. */
const ROUTINE =
  /^(update-(service|traffic|function-configuration|auto-scaling-group|containers?|revision|table|cluster-config|kubeconfig|distribution|thing|secret-version-stage)|modify-(db-instance|volume|instance-attribute|target-group|cache-cluster|replication-group|listener)|put-(metric-\S+|scaling-policy|retention-policy|item|object|parameter|events?|record|dashboard)|set-(desired-capacity|instance-health|alarm-state|queue-attributes)|create-(invalidation|snapshots?|image|backup|tags|deployment|log-group|db-snapshot|job)|add-tags\S*|register-targets|stop-(task|execution|build|db-instance|instances)|remove-tags|cancel-\S+|stop|remove|restore|update|set|create|copy|move|import|start\S*)$/;
/** Programs that copy objects; they are judged by source and target. */
const STORES = /^(gsutil|s3cmd|mc|rclone|azcopy|s5cmd)$/;
const PUBLIC =
  /group-names[ =]["']?all|user-ids[ =]["']?all\b|launchPermission.*all|public-read|AllUsers|allAuthenticatedUsers|--acl[ =]public|allow-blob-public-access[ =]true|BlockPublicAcls"?[=:] ?"?false|delete-public-access-block|publicaccess[ =](blob|container)|--publicly-accessible|"Principal": ?"\*"/i;
const ADMINISTRATES =
  /AdministratorAccess|PowerUserAccess|roles\/(owner|editor|iam\.\w*admin)|--role[ =]["']?(Owner|Contributor|User Access Administrator)|create-access-key|create-login-profile|keys create|add-user-to-group.*admin|attach-(user|role|group)-policy|put-(user|role|group)-policy|update-assume-role-policy|create-user\b/i;
const BLINDS =
  /stop-logging|delete-trail|disable-(alarm-actions|security-hub|macie|guardduty)|delete-detector|delete-flow-logs|update-detector.*no-enable|diagnostic-settings delete|logging (sinks|buckets) delete|delete-log-group|delete-(configuration-recorder|recovery-point|backup-\w+|snapshot\w*|db-snapshot|db-cluster-snapshot)|delete-automated-backups|backup (vault|protection) (delete|disable)|snapshots? delete|retention-period[ =]0\b|no-deletion-protection|deletion-protection[ =]false/i;
const OPENS =
  /authorize-security-group-ingress.*0\.0\.0\.0\/0|source-ranges[ =]["']?0\.0\.0\.0\/0|--source-address-prefixes?[ =]["']?(\*|Internet|0\.0\.0\.0\/0)|start-ip-address[ =]0\.0\.0\.0.*end-ip-address[ =]255/i;
const SECRETS =
  /get-secret-value|secrets versions access|keyvault secret (show|download)|get-parameters?\b.*--with-decryption|get-session-token|assume-role\b|get-password-data|print-access-token|account get-access-token|list-keys|storage account keys/i;

const cloud: ProgramRule = ({ program, args, input }) => {
  const text = ` ${args.join(" ")} `;
  if (hasOption(args, "", "--dry-run", "--dryrun") && !text.includes("--no-dry-run")) return [];
  const found: Objection[] = [];
  if (
    / (cp|mv|sync|copy|copyto|rsync|upload|upload-batch|put) /.test(text) &&
    operands(args).some(isSensitiveSource)
  ) {
    found.push(deny("sends", "It stores secrets, or the whole machine, outside of the host"));
  }
  if (BLINDS.test(text)) {
    found.push(deny("traces", "It turns logs, backups or protection off, or removes them"));
  }
  if (PUBLIC.test(text)) found.push(deny("access", "It opens stored data to everyone"));
  if (ADMINISTRATES.test(text)) {
    found.push(deny("access", "It gives somebody wide rights in the cloud, or makes credentials"));
  }
  if (OPENS.test(text)) found.push(deny("defence", "It lets the whole internet in"));
  if (SECRETS.test(text)) found.push(ask("secret", "It reads secrets"));
  const words = operands(args).slice(0, 6);
  const verb = words.find((word) => REMOVES.test(word) && !HARMLESS.test(word));
  if (verb !== undefined) {
    found.push(
      (LIGHT.test(verb) ? ask : deny)("cloud", `It removes what ${program} manages (\`${verb}\`)`),
    );
  } else if (
    words.some((word) => /^(rm|remove|del)$/.test(word)) ||
    /^(gsutil|s3cmd|mc|rclone)$/.test(program) &&
      /^(delete|purge|rb|deletefile)$/.test(words[0] ?? "")
  ) {
    found.push(
      (hasOption(args, "rR", "--recursive", "--force") || /\*/.test(text) ? deny : ask)(
        "cloud",
        "It removes stored objects",
      ),
    );
  }
  const [source, target] = words.flatMap((word) => /^s3:\/\/([\w.-]+)/.exec(word)?.[1] ?? []);
  if (target !== undefined && source !== target) {
    found.push(ask("sends", "It copies what is stored to another bucket"));
  }
  if (/ s3 sync .*--delete| rsync .*-d | storage (blob )?(sync|rsync).*--delete/.test(text)) {
    found.push(ask("cloud", "It removes from its target whatever its source lacks"));
  }
  const changes = words.find((word) => CHANGES.test(word) && !ROUTINE.test(word));
  if (found.length === 0 && changes !== undefined && !STORES.test(program)) {
    found.push(ask("cloud", `It changes what ${program} manages (\`${changes}\`)`));
  }
  const one = / instances reset [\w-]+( --\S+)* $/.test(text) ||
    / reboot-instances( --\S+)* --instance-ids[ =]i-[0-9a-f]{6,20}( --\S+)* $/.test(text);
  if (
    !one &&
    / (stop-instances|reboot-instances|stop-db-instance|reboot-db-instance|instances (stop|reset|suspend)|vm (stop|deallocate|redeploy|reimage)|failover-db-cluster) /
      .test(text)
  ) found.push(ask("outage", "It stops or restarts whole machines"));
  if (
    / (--desired-count|--desired-capacity|--min-size \d+ --max-size|--num-nodes|--size|--instance-count|--max-instances)[= ]0 /
      .test(text)
  ) found.push(ask("outage", "It scales something down to nothing"));
  if (input !== undefined && /(^| )-( |$)/.test(text)) {
    found.push(ask("sends", "It stores what a pipe brings outside of the host"));
  }
  return found;
};

/** Tells whether no honest upload has this source: accounts, keys, the root folder. */
function isSensitiveSource(path: string): boolean {
  const area = areaOf(path);
  return path === "/" || path.startsWith("/") && area === "secret" ||
    /^\/(etc|root|home|proc)\/?$/.test(path);
}

const NAMES = [
  "aws",
  "az",
  "gcloud",
  "gsutil",
  "doctl",
  "oci",
  "ibmcloud",
  "linode-cli",
  "hcloud",
  "openstack",
  "scw",
  "s3cmd",
  "mc",
  "rclone",
  "flyctl",
  "fly",
  "heroku",
  "cf",
  "azcopy",
  "aliyun",
  "vultr-cli",
  "civo",
  "ovhai",
  "upctl",
  "exo",
  "vercel",
  "netlify",
  "railway",
  "render",
];

export const clouds: ProgramRules = Object.fromEntries(NAMES.map((name) => [name, cloud]));
