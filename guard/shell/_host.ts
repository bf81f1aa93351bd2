/** Programs that change services, processes, packages, accounts and firewalls of a host. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";

const DEFENCE =
  /^(auditd|rsyslog|syslog(-ng)?|systemd-journald|journald|firewalld|ufw|iptables|nftables|ip6tables|fail2ban|apparmor|selinux|falcon-sensor|crowdstrike|mdatp|wdavdaemon|clamav(-daemon|-freshclam)?|ossec|wazuh(-agent)?|osqueryd?|sysmon|auditbeat|aide|samhain|snort|suricata|crowdsec|sentinelone|sentinelagent|cbdaemon|auoms|nessusagent|windefend|.*backup.*|.*restic.*|.*borg.*|.*bacula.*|.*veeam.*|.*snapshot.*)(\.(service|timer|socket))?$/i;
const VITAL =
  /^(sshd?|systemd-.*|dbus|networking|network(manager)?|network-manager|docker|containerd|kubelet|etcd|postgresql.*|mysqld?|mariadb|mongod|redis(-server)?|nginx|haproxy|named|bind9|keepalived|libvirtd|multi-user\.target|.*\.target|slapd|vault|consul|cron|crond|chronyd?|ntpd?)(\.service)?$/i;
const STOPS = new Set(["stop", "disable", "mask", "kill", "isolate", "revert"]);

export const service: ProgramRule = ({ program, args }) => {
  const words = operands(args);
  const [verb, units] = program === "systemctl"
    ? [words[0] ?? "", words.slice(1)]
    : [words[1] ?? "", words.slice(0, 1)];
  if (
    /^(poweroff|halt|reboot|kexec|emergency|rescue|suspend|hibernate|exit|default|switch-root)$/
      .test(verb)
  ) return [powerObjection(program)];
  if (!STOPS.has(verb)) {
    return units.some((unit) => /reboot|poweroff|rescue|emergency|halt/.test(unit))
      ? [powerObjection(program)]
      : [];
  }
  const now = args.some((arg) => arg === "--now") || verb !== "disable";
  return units.flatMap((unit): Objection[] => {
    const named = `\`${unit.slice(0, 60)}\``;
    if (DEFENCE.test(unit)) {
      return [deny("defence", `It stops ${named}, which protects or records`)];
    }
    if (unit.includes("*")) return [deny("outage", "It stops every unit that matches")];
    if (verb === "isolate" || verb === "mask" || VITAL.test(unit)) {
      return [ask("outage", `It takes ${named} out of service`)];
    }
    return now ? [ask("outage", `It stops ${named} and does not start it again`)] : [];
  });
};

export function powerObjection(program: string): Objection {
  return ask("outage", `It halts or restarts the whole host (${program})`);
}

export const kill: ProgramRule = ({ args }) => {
  const targets = args.filter((arg, n) =>
    !/^-(9|KILL|SIGKILL|15|TERM|SIGTERM|HUP|SIGHUP|1|INT|2|QUIT|3|USR1|USR2|10|12|CONT|STOP|19|s|n|l)$/
      .test(arg) || n > 0 && arg === "-1"
  );
  if (args.includes("-l")) return [];
  if (targets.includes("-1") || args[0] === "-1" && args.length === 1) {
    return [deny("outage", "It ends every process of the host")];
  }
  if (targets.includes("1") && !args.some((arg) => /^-(HUP|SIGHUP|1)$/.test(arg))) {
    return [deny("outage", "It ends process 1, on which all others depend")];
  }
  return [];
};

export const killByName: ProgramRule = ({ args }) => {
  const names = operands(args);
  if (
    args.some((arg, n) => /^-(u|U|user)$|^--user$/.test(arg) && /^root$/.test(args[n + 1] ?? ""))
  ) return [deny("outage", "It ends every process of root")];
  if (names.some((name) => /^[.*^$]*$/.test(name))) {
    return [deny("outage", "It ends every process of the host")];
  }
  if (names.some((name) => DEFENCE.test(name))) {
    return [deny("defence", "It ends a program that protects or records")];
  }
  return names.some((name) =>
      /^(init|systemd|sshd|dockerd|containerd|kubelet|postgres|mysqld|mongod)$/.test(name)
    ) && hasOption(args, "9", "--signal")
    ? [ask("outage", "It ends a program on which others depend, without letting it finish")]
    : [];
};

export const firewall: ProgramRule = ({ args }) => {
  const text = ` ${args.join(" ")} `;
  if (
    / (-F|--flush|-X|--delete-chain|-Z -F)(?= |$)/.test(text) &&
    !/ (-F|--flush|-X) [\w-]*(f2b|fail2ban|docker|temp)/i.test(text)
  ) return [deny("defence", "It removes every rule of the firewall")];
  if (/ (-P|--policy) (INPUT|FORWARD) ACCEPT/.test(text)) {
    return [deny("defence", "It lets everything through the firewall")];
  }
  if (/ (-P|--policy) (INPUT|OUTPUT) DROP/.test(text)) {
    return [ask("outage", "It shuts the host off from the network")];
  }
  if (
    / (-A|-I) (INPUT|OUTPUT)/.test(text) && / -j (DROP|REJECT)/.test(text) &&
    !/ (-s|-d|--source|--dport|--dports|-p|-i|-m) /.test(text)
  ) return [deny("outage", "It drops all traffic of the host")];
  return / (-A|-I) INPUT(?: \d+)?(?: -s (0\.0\.0\.0\/0|any))? -j ACCEPT /.test(text)
    ? [deny("defence", "It lets everything through the firewall")]
    : [];
};

export const packages: ProgramRule = ({ args }) => {
  const words = operands(args);
  if (
    args.some((arg) =>
      /^--(allow-unauthenticated|force-yes|no-?gpg-?checks?|allow-downgrades|allow-untrusted)$/
        .test(arg)
    )
  ) return [deny("remote_code", "It installs software that nobody has signed")];
  const at = words.findIndex((word) => /^(remove|purge|erase|autoremove|uninstall)$/.test(word));
  if (at < 0) return [];
  const names = words.slice(at + 1);
  if (args.some((arg) => /^--(oldinstallonly|duplicates)$/.test(arg))) return [];
  if (names.length === 0) return [];
  if (
    names.some((name) =>
      /^(\*|libc6|glibc|systemd|bash|coreutils|sudo|openssh-server|linux-image.*|kernel|python3|auditd|.*\*.*)$/
        .test(name)
    )
  ) return [deny("destroys", "It removes packages on which the system depends")];
  return words[at] === "autoremove" ? [] : [ask("outage", "It removes installed software")];
};

export const accounts: ProgramRule = ({ program, args }) => {
  const text = ` ${args.join(" ")} `;
  if (
    / (-u|--uid)[ =]?0 |-o | (sudo|wheel|root|admin|docker) .*| -aG? ?(sudo|wheel|root|admin|docker)/
      .test(text) && program !== "passwd"
  ) return [deny("access", "It gives somebody the rights of root")];
  return [(/del$/.test(program) ? deny : ask)("access", "It adds, changes or removes an account")];
};
