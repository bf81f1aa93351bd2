/** Programs that manage disks, processes, services, accounts and firewalls of a host. */
import { hasOption, operands } from "./_arguments.ts";
import {
  accounts,
  firewall,
  kill,
  killByName,
  packages,
  powerObjection,
  service,
} from "./_host.ts";
import { areaOf } from "./_paths.ts";
import { displayPath } from "./_removal.ts";
import { always, ask, deny, type ProgramRules, whenArgsMatch } from "./_rule.ts";

export const system: ProgramRules = {
  systemctl: service,
  service,
  "rc-service": service,
  initctl: service,
  supervisorctl: ({ args }) =>
    /^(stop|remove|shutdown) ?(all)?$/.test(args.slice(0, 2).join(" ")) && args[1] !== undefined ||
      args[0] === "shutdown"
      ? [
        ask(
          "outage",
          "It stops what a supervisor runs",
        ),
      ]
      : [],
  pm2: whenArgsMatch(/ (delete|kill|stop) /, "outage", "It stops what a supervisor runs", ask),
  shutdown: ({ args }) => args.includes("-c") ? [] : [powerObjection("shutdown")],
  reboot: () => [powerObjection("reboot")],
  halt: () => [powerObjection("halt")],
  poweroff: () => [powerObjection("poweroff")],
  init: ({ args }) => /^[016s]$/i.test(args[0] ?? "") ? [powerObjection("init")] : [],
  telinit: ({ args }) => /^[016s]$/i.test(args[0] ?? "") ? [powerObjection("telinit")] : [],
  kill,
  pkill: killByName,
  killall: killByName,
  killall5: always("outage", "It ends every process of the host"),
  skill: killByName,
  swapoff: ({ args }) =>
    hasOption(args, "a") ? [ask("outage", "It takes all swap space away")] : [],
  iptables: firewall,
  ip6tables: firewall,
  "iptables-legacy": firewall,
  nft: whenArgsMatch(
    / (flush ruleset|delete table|flush table) /,
    "defence",
    "It removes the rules of the firewall",
  ),
  ufw: whenArgsMatch(
    / (disable|reset|default allow( incoming)?|--force (disable|reset)|allow from any|allow 22\/?\w* from any) /,
    "defence",
    "It opens or removes the firewall",
  ),
  "firewall-cmd": whenArgsMatch(
    / (--panic-on|--set-default-zone=trusted|--complete-reload.*trusted|--zone=public --add-source=0\.0\.0\.0\/0) /,
    "defence",
    "It opens the firewall or shuts the host off",
  ),
  pfctl: whenArgsMatch(/ (-d|-F ?(all|rules)) /, "defence", "It turns the firewall off"),
  setenforce: whenArgsMatch(/ (0|permissive) /i, "defence", "It turns SELinux off"),
  "aa-teardown": always("defence", "It turns AppArmor off"),
  "aa-disable": always("defence", "It turns AppArmor off for a program"),
  auditctl: whenArgsMatch(/ (-e ?0|-D) /, "defence", "It turns the audit off or removes its rules"),
  spctl: whenArgsMatch(
    / --(master|global)-disable /,
    "defence",
    "It turns the check of programs off",
  ),
  csrutil: whenArgsMatch(/ disable /, "defence", "It turns the protection of the system off"),
  userdel: accounts,
  deluser: accounts,
  groupdel: accounts,
  useradd: accounts,
  adduser: accounts,
  usermod: accounts,
  gpasswd: accounts,
  passwd: ({ args }) =>
    hasOption(args, "S", "--status") ? [] : [
      (hasOption(args, "d", "--delete", "--stdin") ? deny : ask)(
        "access",
        "It changes a password",
      ),
    ],
  chpasswd: always("access", "It sets passwords"),
  visudo: ({ args }) =>
    hasOption(args, "c", "--check") ? [] : [ask("access", "It changes who may act as root")],
  vipw: always("access", "It edits accounts", ask),
  crontab: ({ args, input }) => {
    if (args.includes("/dev/null")) return [deny("destroys", "It removes all timed jobs")];
    if (hasOption(args, "r")) return [deny("destroys", "It removes all timed jobs")];
    return args.some((arg) => arg === "-") || input !== undefined
      ? [ask("access", "It replaces timed jobs")]
      : [];
  },
  history: ({ args }) =>
    hasOption(args, "cdw") ? [deny("traces", "It removes the history of the shell")] : [],
  unset: ({ args }) =>
    args.some((arg) => /^HIST/.test(arg))
      ? [deny("traces", "It stops the history of the shell")]
      : [],
  export: ({ args }) =>
    args.some((arg) => /^HIST(FILE|SIZE|FILESIZE)=(0|\/dev\/null|)$/.test(arg))
      ? [deny("traces", "It stops the history of the shell")]
      : [],
  journalctl: ({ args }) =>
    args.some((arg) => /^--vacuum-(size|time|files)=(0|1)(?![\d.]*[GgMmdwy])[a-zA-Z]*$/.test(arg))
      ? [deny("traces", "It removes the whole journal")]
      : [],
  logrotate: () => [],
  wtmpclean: always("traces", "It removes who was logged in"),
  setcap: ({ args }) => [
    (/cap_(set[ug]id|dac|sys_(admin|ptrace|module|rawio)|chown|fowner|all)|(^|,)all/i
        .test(args.join(" "))
      ? deny
      : ask)("access", "It gives a program rights of root"),
  ],
  date: ({ args }) =>
    hasOption(args, "s", "--set") ? [ask("outage", "It sets the host's clock by hand")] : [],
  gpg: whenArgsMatch(/ --delete-/, "access", "It removes keys"),
  rmmod: always("outage", "It takes a module out of the running kernel", ask),
  modprobe: whenArgsMatch(
    / (-\w*r|--remove) /,
    "outage",
    "It takes a module out of the kernel",
    ask,
  ),
  vtysh: ({ args }) =>
    /\b(no (router|neighbor|interface|ip|address-family|network)|write erase|reload|shutdown)\b/
        .test(
          args.join(" "),
        )
      ? [ask("outage", "It takes routes or neighbours away")]
      : [],
  no: ({ args }) =>
    args[0] === "shutdown" ? [] : [ask("outage", "It takes something out of a configuration")],
  write: whenArgsMatch(/ erase /, "destroys", "It erases the configuration of a network device"),
  "fail2ban-client": whenArgsMatch(/ (stop|unban --all) /, "defence", "It lifts all bans", ask),
  postsuper: ({ args }) =>
    args.includes("ALL") && !args.some((arg) => /^(deferred|hold)$/.test(arg)) &&
      hasOption(args, "d")
      ? [deny("data", "It removes all mail of the queue")]
      : [],
  ifdown: always("outage", "It takes the network away", ask),
  swanctl: whenArgsMatch(/ --(flush-certs|uninstall)/, "outage", "It takes tunnels away", ask),
  insmod: always("access", "It loads a module into the kernel", ask),
  kexec: always("outage", "It starts another kernel", ask),
  sysctl: whenArgsMatch(
    / (kernel\.(randomize_va_space|kptr_restrict|core_pattern|modprobe|yama[.\w]*|sysrq)|net\.ipv4\.ip_forward|kernel\.panic)\s?=/,
    "defence",
    "It changes how the kernel protects itself",
    ask,
  ),
  apt: packages,
  "apt-get": packages,
  dpkg: whenArgsMatch(/ (-r|--remove|-P|--purge) /, "outage", "It removes installed software", ask),
  yum: packages,
  dnf: packages,
  zypper: packages,
  apk: ({ args }) =>
    operands(args)[0] === "del" ? [ask("outage", "It removes installed software")] : [],
  pacman: ({ args }) =>
    args.some((arg) => /^-R/.test(arg)) ? [ask("outage", "It removes installed software")] : [],
  rpm: whenArgsMatch(/ (-e|--erase) /, "outage", "It removes installed software", ask),
  mount: ({ args }) => {
    const target = operands(args).at(-1) ?? "";
    const bound = hasOption(args, "", "--bind", "--move") ||
      args.some((arg) => /(^|,)bind/.test(arg));
    return bound && operands(args).length > 1 &&
        ["secret", "system", "root", "evidence"].includes(areaOf(target))
      ? [deny("destroys", `It hides \`${displayPath(target)}\` under something else`)]
      : [];
  },
  ifconfig: whenArgsMatch(/ \S+ down /, "outage", "It takes the network away", ask),
  tc: whenArgsMatch(
    / (netem|tbf|add .*(loss|delay|corrupt)) /,
    "outage",
    "It disturbs the network",
    ask,
  ),
  "stress-ng": always("outage", "It puts the host under load on purpose", ask),
  stress: always("outage", "It puts the host under load on purpose", ask),
  yes: ({ into }) => into === undefined ? [ask("outage", "It writes without end")] : [],
  umount: ({ args }) =>
    hasOption(args, "a") ? [deny("outage", "It takes every file system away")] : [],
  ip: whenArgsMatch(
    / (route (flush|del default)|addr flush|link (del|delete)|link set \S+( \S+)? down) /,
    "outage",
    "It takes the network away",
    ask,
  ),
  nmcli: whenArgsMatch(
    / (networking off|con(nection)? delete) /,
    "outage",
    "It takes the network away",
    ask,
  ),
};
