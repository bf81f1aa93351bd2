/** Programs that manage disks, processes, services, accounts and firewalls of a host. */
import { ask, deny, hasOption, type ProgramRule, type ProgramRules, operands } from "./_rule.ts";
import { areaOf } from "./_paths.ts";
import { displayPath } from "./_removal.ts";
import {
  accounts,
  always,
  dd,
  disk,
  firewall,
  kill,
  killByName,
  packages,
  powerObjection,
  service,
  whenArgsMatch,
} from "./_host.ts";

/** Tells whether a retention rule of backups keeps at least three copies. */
function keepsEnough(args: readonly string[]): boolean {
  const counts = args.flatMap((arg, n) => {
    const [, period, value = args[n + 1]] =
      /^--keep-(last|hourly|daily|weekly|monthly|yearly|within)(?:=(.*))?$/.exec(arg) ?? [];
    return period === undefined || period === "hourly" ? [] : [Number.parseInt(value ?? "", 10)];
  });
  return counts.length > 0 && counts.every((n) => n > 0) && Math.max(...counts) >= 3 &&
    !args.some((arg) => /^--(unsafe|force|host=?\*)/.test(arg));
}

export const system: ProgramRules = {
  systemctl: service,
  service,
  "rc-service": service,
  initctl: service,
  supervisorctl: ({ args }) =>
    /^(stop|remove|shutdown) ?(all)?$/.test(args.slice(0, 2).join(" ")) && args[1] !== undefined ||
      args[0] === "shutdown"
      ? [
        (args.includes("all") || args[0] === "shutdown" ? ask : ask)(
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
  dd,
  dcfldd: dd,
  mkswap: ({ args }) =>
    operands(args).some((path) => path.startsWith("/dev/"))
      ? [deny("disk", "It overwrites a disk with swap space")]
      : [],
  swapoff: ({ args }) => hasOption(args, "a") ? [ask("outage", "It takes all swap space away")] : [],
  wipefs: ({ args }) =>
    hasOption(args, "af", "--all", "--force") ? [deny("disk", "It erases the signatures of a disk")] : [],
  fdisk: ({ args, input }) =>
    hasOption(args, "l", "--list") && input === undefined
      ? []
      : [deny("disk", "It changes the partitions of a disk")],
  sfdisk: ({ args }) =>
    hasOption(args, "ld", "--list", "--dump")
      ? []
      : [deny("disk", "It changes the partitions of a disk")],
  parted: whenArgsMatch(
    / (mklabel|mktable|rm|mkpart|resizepart) /,
    "disk",
    "It changes the partitions of a disk",
    (kind, reason) => ask(kind, reason),
  ),
  sgdisk: whenArgsMatch(
    / (-Z|-z|-o|--zap|--zap-all|--clear|-d|--delete)/,
    "disk",
    "It erases the partitions of a disk",
  ),
  gdisk: disk,
  cfdisk: disk,
  blkdiscard: disk,
  badblocks: ({ args }) => hasOption(args, "w") ? disk({} as never) : [],
  nvme: whenArgsMatch(/ (format|sanitize|delete-ns|write-zeroes) /, "disk", "It erases a disk"),
  hdparm: whenArgsMatch(
    / --(security-erase|trim-sector|dco-restore|security-set-pass|make-bad-sector)/,
    "disk",
    "It erases or locks a disk",
  ),
  sg_format: disk,
  diskutil: whenArgsMatch(
    / (erase\w*|partitiondisk|zerodisk|secureerase|apfs delete\w*) /i,
    "disk",
    "It erases a disk",
  ),
  lvremove: always("disk", "It removes a volume with its data"),
  vgremove: always("disk", "It removes a group of volumes with their data"),
  pvremove: always("disk", "It takes a disk out of its group"),
  lvreduce: always("disk", "It makes a volume smaller, which can cut off data", ask),
  zpool: whenArgsMatch(
    / (destroy|labelclear|create -f|offline -f|split) /,
    "disk",
    "It destroys a storage pool",
  ),
  zfs: whenArgsMatch(
    / (destroy|rollback -[rR]) /,
    "disk",
    "It destroys a file system or its later snapshots",
  ),
  btrfs: whenArgsMatch(
    / subvolume (delete|del) | device (remove|delete) /,
    "disk",
    "It removes a volume of a file system",
    ask,
  ),
  mdadm: whenArgsMatch(/ --(zero-superblock|stop|fail|remove) | -S /, "disk", "It takes a RAID apart"),
  cryptsetup: whenArgsMatch(
    / (erase|luksErase|luksFormat|luksKillSlot|luksRemoveKey|reencrypt) /i,
    "disk",
    "It erases the keys of an encrypted disk, or the disk",
  ),
  "ceph": whenArgsMatch(
    / (osd (purge|destroy|rm|out)|fs rm|osd pool (delete|rm)) /,
    "disk",
    "It removes a store of the cluster or its pool",
  ),
  gluster: whenArgsMatch(/ volume (delete|stop) /, "disk", "It stops or removes a volume"),
  xfs_repair: ({ args }) =>
    hasOption(args, "L") ? [ask("disk", "It throws away the log of a file system")] : [],
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
  spctl: whenArgsMatch(/ --(master|global)-disable /, "defence", "It turns the check of programs off"),
  csrutil: whenArgsMatch(/ disable /, "defence", "It turns the protection of the system off"),
  userdel: accounts,
  deluser: accounts,
  groupdel: accounts,
  useradd: accounts,
  adduser: accounts,
  usermod: accounts,
  gpasswd: accounts,
  passwd: ({ args }) =>
    hasOption(args, "S", "--status")
      ? []
      : [(hasOption(args, "d", "--delete", "--stdin") ? deny : ask)("access", "It changes a password")],
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
  logrotate: ({ args }) => hasOption(args, "s") ? [] : [],
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
  modprobe: whenArgsMatch(/ (-\w*r|--remove) /, "outage", "It takes a module out of the kernel", ask),
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
    args.includes("ALL") && !args.some((arg) => /^(deferred|hold)$/.test(arg)) && hasOption(args, "d")
      ? [deny("data", "It removes all mail of the queue")]
      : [],
  fsck: ({ args }) => hasOption(args, "nN") ? [] : [ask("disk", "It changes a file system to mend it")],
  ifdown: always("outage", "It takes the network away", ask),
  lvresize: ({ args }) =>
    args.some((arg) => /^\+/.test(arg))
      ? []
      : [ask("disk", "It makes a volume smaller, which can cut off data")],
  swanctl: whenArgsMatch(/ --(flush-certs|uninstall)/, "outage", "It takes tunnels away", ask),
  insmod: always("access", "It loads a module into the kernel", ask),
  kexec: always("outage", "It starts another kernel", ask),
  sysctl: whenArgsMatch(
    / (kernel\.(randomize_va_space|kptr_restrict|core_pattern|modprobe|yama[.\w]*|sysrq)|net\.ipv4\.ip_forward|kernel\.panic)\s?=/,
    "defence",
    "It changes how the kernel protects itself",
    ask,
  ),
  "grub-install": always("disk", "It rewrites the boot loader", ask),
  efibootmgr: whenArgsMatch(/ -B| --delete/, "disk", "It removes a boot entry"),
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
    const bound = hasOption(args, "", "--bind", "--move") || args.some((arg) => /(^|,)bind/.test(arg));
    return bound && operands(args).length > 1 &&
        ["secret", "system", "root", "evidence"].includes(areaOf(target))
      ? [deny("destroys", `It hides \`${displayPath(target)}\` under something else`)]
      : [];
  },
  ifconfig: whenArgsMatch(/ \S+ down /, "outage", "It takes the network away", ask),
  tc: whenArgsMatch(/ (netem|tbf|add .*(loss|delay|corrupt)) /, "outage", "It disturbs the network", ask),
  "stress-ng": always("outage", "It puts the host under load on purpose", ask),
  stress: always("outage", "It puts the host under load on purpose", ask),
  yes: ({ into }) => into === undefined ? [ask("outage", "It writes without end")] : [],
  umount: ({ args }) => hasOption(args, "a") ? [deny("outage", "It takes every file system away")] : [],
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
  restic: (run) =>
    keepsEnough(run.args)
      ? []
      : whenArgsMatch(/ (forget|unlock --remove-all) /, "destroys", "It removes backups")(run),
  borg: (run) =>
    operands(run.args)[0] === "prune" && keepsEnough(run.args)
      ? []
      : whenArgsMatch(/ (delete|prune) /, "destroys", "It removes backups")(run),
  duplicity: whenArgsMatch(/ (remove-all-\S+|remove-older-than) /, "destroys", "It removes backups", ask),
  velero: whenArgsMatch(/ (backup|schedule|restore) delete /, "destroys", "It removes backups"),
  tmutil: whenArgsMatch(
    / (disable|delete|deletelocalsnapshots \/) /,
    "destroys",
    "It removes or stops backups",
  ),
  snapper: whenArgsMatch(/ (delete|remove) /, "destroys", "It removes snapshots", ask),
  passwdless: () => [],
};

/** Rules for programs by a pattern of their names. */
export const systemByPattern: readonly (readonly [RegExp, ProgramRule])[] = [
  [
    /^mkfs(\.\w+)?$|^mke2fs$|^newfs$|^mkntfs$|^mkdosfs$/,
    ({ args }) =>
      operands(args).every((word) => areaOf(word) === "scratch" || !word.startsWith("/")) &&
        operands(args).length > 0 && !operands(args).some((word) => word.startsWith("/dev"))
        ? []
        : [
          deny(
            "disk",
            `It makes a new, empty file system${
              args.length > 0 ? ` on \`${displayPath(operands(args).at(-1) ?? "")}\`` : ""
            }`,
          ),
        ],
  ],
];
