/** Disks, processes, services, accounts, firewalls: what keeps a host up and safe. */
import { ask, deny, has, type Judge, type Judges, words } from "./_objections.ts";
import { areaOf } from "./_paths.ts";
import { shown } from "./_removal.ts";
import {
  accounts,
  always,
  dd,
  disk,
  firewall,
  kill,
  killByName,
  packages,
  power,
  service,
  verbs,
} from "./_host.ts";

/** A rule of retention that leaves at least a week of days, or as many copies. */
function keepsEnough(args: readonly string[]): boolean {
  const kept = args.flatMap((arg, n) => {
    const [, period, value = args[n + 1]] =
      /^--keep-(last|hourly|daily|weekly|monthly|yearly|within)(?:=(.*))?$/.exec(arg) ?? [];
    return period === undefined || period === "hourly" ? [] : [Number.parseInt(value ?? "", 10)];
  });
  return kept.length > 0 && kept.every((n) => n > 0) && Math.max(...kept) >= 3 &&
    !args.some((arg) => /^--(unsafe|force|host=?\*)/.test(arg));
}

export const system: Judges = {
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
  pm2: verbs(/ (delete|kill|stop) /, "outage", "It stops what a supervisor runs", ask),
  shutdown: ({ args }) => args.includes("-c") ? [] : [power("shutdown")],
  reboot: () => [power("reboot")],
  halt: () => [power("halt")],
  poweroff: () => [power("poweroff")],
  init: ({ args }) => /^[016s]$/i.test(args[0] ?? "") ? [power("init")] : [],
  telinit: ({ args }) => /^[016s]$/i.test(args[0] ?? "") ? [power("telinit")] : [],
  kill,
  pkill: killByName,
  killall: killByName,
  killall5: always("outage", "It ends every process of the host"),
  skill: killByName,
  dd,
  dcfldd: dd,
  mkswap: ({ args }) =>
    words(args).some((path) => path.startsWith("/dev/"))
      ? [deny("disk", "It overwrites a disk with swap space")]
      : [],
  swapoff: ({ args }) => has(args, "a") ? [ask("outage", "It takes all swap space away")] : [],
  wipefs: ({ args }) =>
    has(args, "af", "--all", "--force") ? [deny("disk", "It erases the signatures of a disk")] : [],
  fdisk: ({ args, input }) =>
    has(args, "l", "--list") && input === undefined
      ? []
      : [deny("disk", "It changes the partitions of a disk")],
  sfdisk: ({ args }) =>
    has(args, "ld", "--list", "--dump")
      ? []
      : [deny("disk", "It changes the partitions of a disk")],
  parted: verbs(
    / (mklabel|mktable|rm|mkpart|resizepart) /,
    "disk",
    "It changes the partitions of a disk",
    (kind, reason) => ask(kind, reason),
  ),
  sgdisk: verbs(
    / (-Z|-z|-o|--zap|--zap-all|--clear|-d|--delete)/,
    "disk",
    "It erases the partitions of a disk",
  ),
  gdisk: disk,
  cfdisk: disk,
  blkdiscard: disk,
  badblocks: ({ args }) => has(args, "w") ? disk({} as never) : [],
  nvme: verbs(/ (format|sanitize|delete-ns|write-zeroes) /, "disk", "It erases a disk"),
  hdparm: verbs(
    / --(security-erase|trim-sector|dco-restore|security-set-pass|make-bad-sector)/,
    "disk",
    "It erases or locks a disk",
  ),
  sg_format: disk,
  diskutil: verbs(
    / (erase\w*|partitiondisk|zerodisk|secureerase|apfs delete\w*) /i,
    "disk",
    "It erases a disk",
  ),
  lvremove: always("disk", "It removes a volume with its data"),
  vgremove: always("disk", "It removes a group of volumes with their data"),
  pvremove: always("disk", "It takes a disk out of its group"),
  lvreduce: always("disk", "It makes a volume smaller, which can cut off data", ask),
  zpool: verbs(
    / (destroy|labelclear|create -f|offline -f|split) /,
    "disk",
    "It destroys a storage pool",
  ),
  zfs: verbs(
    / (destroy|rollback -[rR]) /,
    "disk",
    "It destroys a file system or its later snapshots",
  ),
  btrfs: verbs(
    / subvolume (delete|del) | device (remove|delete) /,
    "disk",
    "It removes a volume of a file system",
    ask,
  ),
  mdadm: verbs(/ --(zero-superblock|stop|fail|remove) | -S /, "disk", "It takes a RAID apart"),
  cryptsetup: verbs(
    / (erase|luksErase|luksFormat|luksKillSlot|luksRemoveKey|reencrypt) /i,
    "disk",
    "It erases the keys of an encrypted disk, or the disk",
  ),
  "ceph": verbs(
    / (osd (purge|destroy|rm|out)|fs rm|osd pool (delete|rm)) /,
    "disk",
    "It removes a store of the cluster or its pool",
  ),
  gluster: verbs(/ volume (delete|stop) /, "disk", "It stops or removes a volume"),
  xfs_repair: ({ args }) =>
    has(args, "L") ? [ask("disk", "It throws away the log of a file system")] : [],
  iptables: firewall,
  ip6tables: firewall,
  "iptables-legacy": firewall,
  nft: verbs(
    / (flush ruleset|delete table|flush table) /,
    "defence",
    "It removes the rules of the firewall",
  ),
  ufw: verbs(
    / (disable|reset|default allow( incoming)?|--force (disable|reset)|allow from any|allow 22\/?\w* from any) /,
    "defence",
    "It opens or removes the firewall",
  ),
  "firewall-cmd": verbs(
    / (--panic-on|--set-default-zone=trusted|--complete-reload.*trusted|--zone=public --add-source=0\.0\.0\.0\/0) /,
    "defence",
    "It opens the firewall or shuts the host off",
  ),
  pfctl: verbs(/ (-d|-F ?(all|rules)) /, "defence", "It turns the firewall off"),
  setenforce: verbs(/ (0|permissive) /i, "defence", "It turns SELinux off"),
  "aa-teardown": always("defence", "It turns AppArmor off"),
  "aa-disable": always("defence", "It turns AppArmor off for a program"),
  auditctl: verbs(/ (-e ?0|-D) /, "defence", "It turns the audit off or removes its rules"),
  spctl: verbs(/ --(master|global)-disable /, "defence", "It turns the check of programs off"),
  csrutil: verbs(/ disable /, "defence", "It turns the protection of the system off"),
  userdel: accounts,
  deluser: accounts,
  groupdel: accounts,
  useradd: accounts,
  adduser: accounts,
  usermod: accounts,
  gpasswd: accounts,
  passwd: ({ args }) =>
    has(args, "S", "--status")
      ? []
      : [(has(args, "d", "--delete", "--stdin") ? deny : ask)("access", "It changes a password")],
  chpasswd: always("access", "It sets passwords"),
  visudo: ({ args }) =>
    has(args, "c", "--check") ? [] : [ask("access", "It changes who may act as root")],
  vipw: always("access", "It edits accounts", ask),
  crontab: ({ args, input }) => {
    if (args.includes("/dev/null")) return [deny("destroys", "It removes all timed jobs")];
    if (has(args, "r")) return [deny("destroys", "It removes all timed jobs")];
    return args.some((arg) => arg === "-") || input !== undefined
      ? [ask("access", "It replaces timed jobs")]
      : [];
  },
  history: ({ args }) =>
    has(args, "cdw") ? [deny("traces", "It removes the history of the shell")] : [],
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
  logrotate: ({ args }) => has(args, "s") ? [] : [],
  wtmpclean: always("traces", "It removes who was logged in"),
  setcap: ({ args }) => [
    (/cap_(set[ug]id|dac|sys_(admin|ptrace|module|rawio)|chown|fowner|all)|(^|,)all/i
        .test(args.join(" "))
      ? deny
      : ask)("access", "It gives a program rights of root"),
  ],
  date: ({ args }) =>
    has(args, "s", "--set") ? [ask("outage", "It sets the host's clock by hand")] : [],
  gpg: verbs(/ --delete-/, "access", "It removes keys"),
  rmmod: always("outage", "It takes a module out of the running kernel", ask),
  modprobe: verbs(/ (-\w*r|--remove) /, "outage", "It takes a module out of the kernel", ask),
  vtysh: ({ args }) =>
    /\b(no (router|neighbor|interface|ip|address-family|network)|write erase|reload|shutdown)\b/
        .test(
          args.join(" "),
        )
      ? [ask("outage", "It takes routes or neighbours away")]
      : [],
  no: ({ args }) =>
    args[0] === "shutdown" ? [] : [ask("outage", "It takes something out of a configuration")],
  write: verbs(/ erase /, "destroys", "It erases the configuration of a network device"),
  "fail2ban-client": verbs(/ (stop|unban --all) /, "defence", "It lifts all bans", ask),
  postsuper: ({ args }) =>
    args.includes("ALL") && !args.some((arg) => /^(deferred|hold)$/.test(arg)) && has(args, "d")
      ? [deny("data", "It removes all mail of the queue")]
      : [],
  fsck: ({ args }) => has(args, "nN") ? [] : [ask("disk", "It changes a file system to mend it")],
  ifdown: always("outage", "It takes the network away", ask),
  lvresize: ({ args }) =>
    args.some((arg) => /^\+/.test(arg))
      ? []
      : [ask("disk", "It makes a volume smaller, which can cut off data")],
  swanctl: verbs(/ --(flush-certs|uninstall)/, "outage", "It takes tunnels away", ask),
  insmod: always("access", "It loads a module into the kernel", ask),
  kexec: always("outage", "It starts another kernel", ask),
  sysctl: verbs(
    / (kernel\.(randomize_va_space|kptr_restrict|core_pattern|modprobe|yama[.\w]*|sysrq)|net\.ipv4\.ip_forward|kernel\.panic)\s?=/,
    "defence",
    "It changes how the kernel protects itself",
    ask,
  ),
  "grub-install": always("disk", "It rewrites the boot loader", ask),
  efibootmgr: verbs(/ -B| --delete/, "disk", "It removes a boot entry"),
  apt: packages,
  "apt-get": packages,
  dpkg: verbs(/ (-r|--remove|-P|--purge) /, "outage", "It removes installed software", ask),
  yum: packages,
  dnf: packages,
  zypper: packages,
  apk: ({ args }) =>
    words(args)[0] === "del" ? [ask("outage", "It removes installed software")] : [],
  pacman: ({ args }) =>
    args.some((arg) => /^-R/.test(arg)) ? [ask("outage", "It removes installed software")] : [],
  rpm: verbs(/ (-e|--erase) /, "outage", "It removes installed software", ask),
  mount: ({ args }) => {
    const target = words(args).at(-1) ?? "";
    const bound = has(args, "", "--bind", "--move") || args.some((arg) => /(^|,)bind/.test(arg));
    return bound && words(args).length > 1 &&
        ["secret", "system", "root", "evidence"].includes(areaOf(target))
      ? [deny("destroys", `It hides \`${shown(target)}\` under something else`)]
      : [];
  },
  ifconfig: verbs(/ \S+ down /, "outage", "It takes the network away", ask),
  tc: verbs(/ (netem|tbf|add .*(loss|delay|corrupt)) /, "outage", "It disturbs the network", ask),
  "stress-ng": always("outage", "It puts the host under load on purpose", ask),
  stress: always("outage", "It puts the host under load on purpose", ask),
  yes: ({ into }) => into === undefined ? [ask("outage", "It writes without end")] : [],
  umount: ({ args }) => has(args, "a") ? [deny("outage", "It takes every file system away")] : [],
  ip: verbs(
    / (route (flush|del default)|addr flush|link (del|delete)|link set \S+( \S+)? down) /,
    "outage",
    "It takes the network away",
    ask,
  ),
  nmcli: verbs(
    / (networking off|con(nection)? delete) /,
    "outage",
    "It takes the network away",
    ask,
  ),
  restic: (run) =>
    keepsEnough(run.args)
      ? []
      : verbs(/ (forget|unlock --remove-all) /, "destroys", "It removes backups")(run),
  borg: (run) =>
    words(run.args)[0] === "prune" && keepsEnough(run.args)
      ? []
      : verbs(/ (delete|prune) /, "destroys", "It removes backups")(run),
  duplicity: verbs(/ (remove-all-\S+|remove-older-than) /, "destroys", "It removes backups", ask),
  velero: verbs(/ (backup|schedule|restore) delete /, "destroys", "It removes backups"),
  tmutil: verbs(
    / (disable|delete|deletelocalsnapshots \/) /,
    "destroys",
    "It removes or stops backups",
  ),
  snapper: verbs(/ (delete|remove) /, "destroys", "It removes snapshots", ask),
  passwdless: () => [],
};

/** Programs named by a pattern. */
export const systemByPattern: readonly (readonly [RegExp, Judge])[] = [
  [
    /^mkfs(\.\w+)?$|^mke2fs$|^newfs$|^mkntfs$|^mkdosfs$/,
    ({ args }) =>
      words(args).every((word) => areaOf(word) === "scratch" || !word.startsWith("/")) &&
        words(args).length > 0 && !words(args).some((word) => word.startsWith("/dev"))
        ? []
        : [
          deny(
            "disk",
            `It makes a new, empty file system${
              args.length > 0 ? ` on \`${shown(words(args).at(-1) ?? "")}\`` : ""
            }`,
          ),
        ],
  ],
];
