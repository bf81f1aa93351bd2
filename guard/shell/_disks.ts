/** Programs that manage disks, volumes and backups. */
import { hasOption, operands } from "./_arguments.ts";
import { writeObjections } from "./_files.ts";
import { areaOf } from "./_paths.ts";
import { displayPath } from "./_removal.ts";
import { always, ask, deny, type ProgramRule, type ProgramRules, whenArgsMatch } from "./_rule.ts";
const ERASES_DISK = deny("disk", "It erases a disk or what says where its data lies");
const eraseDisk: ProgramRule = () => [ERASES_DISK];

const dd: ProgramRule = (run) => {
  const of = run.args.map((arg) => /^of=(.*)$/.exec(arg)?.[1]).find((path) => path !== undefined);
  const from = run.args.map((arg) => /^if=(.*)$/.exec(arg)?.[1]).find((path) => path !== undefined);
  if (of === undefined) {
    return from !== undefined && areaOf(from) === "secret"
      ? [ask("secret", "It reads secrets")]
      : [];
  }
  return writeObjections(of, run, true);
};

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

export const disks: ProgramRules = {
  dd,
  dcfldd: dd,
  mkswap: ({ args }) =>
    operands(args).some((path) => path.startsWith("/dev/"))
      ? [deny("disk", "It overwrites a disk with swap space")]
      : [],
  wipefs: ({ args }) =>
    hasOption(args, "af", "--all", "--force")
      ? [deny("disk", "It erases the signatures of a disk")]
      : [],
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
  gdisk: eraseDisk,
  cfdisk: eraseDisk,
  blkdiscard: eraseDisk,
  badblocks: ({ args }) => hasOption(args, "w") ? [ERASES_DISK] : [],
  nvme: whenArgsMatch(/ (format|sanitize|delete-ns|write-zeroes) /, "disk", "It erases a disk"),
  hdparm: whenArgsMatch(
    / --(security-erase|trim-sector|dco-restore|security-set-pass|make-bad-sector)/,
    "disk",
    "It erases or locks a disk",
  ),
  sg_format: eraseDisk,
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
  mdadm: whenArgsMatch(
    / --(zero-superblock|stop|fail|remove) | -S /,
    "disk",
    "It takes a RAID apart",
  ),
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
  fsck: ({ args }) =>
    hasOption(args, "nN") ? [] : [ask("disk", "It changes a file system to mend it")],
  lvresize: ({ args }) =>
    args.some((arg) => /^\+/.test(arg))
      ? []
      : [ask("disk", "It makes a volume smaller, which can cut off data")],
  "grub-install": always("disk", "It rewrites the boot loader", ask),
  efibootmgr: whenArgsMatch(/ -B| --delete/, "disk", "It removes a boot entry"),
  restic: (run) =>
    keepsEnough(run.args)
      ? []
      : whenArgsMatch(/ (forget|unlock --remove-all) /, "destroys", "It removes backups")(run),
  borg: (run) =>
    operands(run.args)[0] === "prune" && keepsEnough(run.args)
      ? []
      : whenArgsMatch(/ (delete|prune) /, "destroys", "It removes backups")(run),
  duplicity: whenArgsMatch(
    / (remove-all-\S+|remove-older-than) /,
    "destroys",
    "It removes backups",
    ask,
  ),
  velero: whenArgsMatch(/ (backup|schedule|restore) delete /, "destroys", "It removes backups"),
  tmutil: whenArgsMatch(
    / (disable|delete|deletelocalsnapshots \/) /,
    "destroys",
    "It removes or stops backups",
  ),
  snapper: whenArgsMatch(/ (delete|remove) /, "destroys", "It removes snapshots", ask),
};

/** Rules for programs by a pattern of their names. */
export const disksByPattern: readonly (readonly [RegExp, ProgramRule])[] = [
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
