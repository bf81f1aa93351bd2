/** Programs without a rule of their own. They are judged by their names and arguments. */
import { operands, optionValue } from "./_arguments.ts";
import { displayPath } from "./_removal.ts";
import { ask, deny, type ProgramRule } from "./_rule.ts";

const DESTRUCTIVE_WORD =
  /^(delete|destroy|destroy-all|wipe|erase|nuke|drop|format|factory-?reset|uninstall|purge-?all|delete-?all|remove-?all|drop-?all|flush-?all|teardown|terminate)$/i;
const FRAMEWORK =
  /^(db:(drop|reset|purge|schema:load|migrate:reset)|migrate:(fresh|reset|refresh)|sqlflush|reset_db|drop_db|db:wipe)$/;

/** Programs that only look, compute, pack or compile. */
const FAMILIAR =
  /^(del|erase|rd|dhclient|lvextend|lvcreate|lvdisplay|vgextend|resize2fs|xfs_growfs|growpart|swapon|fstrim|lvs|vgs|pvs|keepalived|ifup|postfix|renice|cpulimit|taskset|faillock|pam_tally2|snap|curator\w*|hwclock|gpg2?|wsl|cachetool|conf|configure|vlan|exit|interface|end|tee|xz|gzip|gunzip|zcat|bzip2|zstd|zip|unzip|tar|cpio|7z|sha\d*sum|md5sum|cksum|b2sum|diff|cmp|comm|paste|column|fold|fmt|nl|od|xxd|hexdump|strings|base64|base32|basename|dirname|realpath|readlink|seq|expr|bc|dc|jq|yq|xmllint|less|more|man|info|tree|sed|awk|gawk|mawk|cal|logger|wall|sync|clear|tput|stty|watch|pgrep|pidof|pstree|pmap|nproc|lscpu|lspci|lsusb|lsmod|modinfo|lsblk|blkid|findmnt|mountpoint|df|sensors|dmidecode|lshw|smartctl|iotop|iftop|nethogs|nload|dstat|mpstat|pidstat|perf|bpftrace|strace|ltrace|slabtop|numastat|dmesg|journalctl|last|lastb|who|w|finger|getent|groups|locale|getconf|ldd|ldconfig|nm|objdump|readelf|ping6?|fping|traceroute6?|tracepath|mtr|dig|drill|host|nslookup|delv|kdig|whois|arping|arp|ethtool|iperf3?|nmap|tcpdump|tshark|ngrep|lldpctl|bridge|iw|iwconfig|rfkill|chronyc|ntpq|ntpdate|sntp|hping3|openssl|keytool|certbot|acme\.sh|gpgv|tsc|gcc|make|cmake|go|cargo|mvn|gradle|gradlew|npm|npx|pnpm|yarn|pip3?|poetry|bundle|composer|python[\d.]*|node|ruby|perl|java|javac|php|dotnet|nginx|apachectl|apache2ctl|httpd|haproxy|varnishadm|named-checkconf|named-checkzone|unbound-control|unbound-checkconf|rndc|postqueue|postcat|mailq|postconf|postmap|doveadm|exim|lpstat|lpq|lpr|cupsenable|cupsaccept|cancel|jstack|jcmd|jmap|jstat|jps|jinfo|upsc|storcli(64)?|megacli|perccli|ssacli|ipmi-sensors|multipath|lsscsi|iostat|nfsstat|showmount|exportfs|mount\.\w+|smbstatus|smbclient|testparm|wbinfo|klist|ldapsearch|sssctl|realm|timeout|timedatectl|hostnamectl|localectl|loginctl|resolvectl|networkctl|busctl|systemd-analyze|systemd-tmpfiles|systemd-resolve|update-ca-certificates|update-ca-trust|logrotate|newaliases|ln|cp|mv|install|split|csplit|truncate|fallocate|touch|mkdir|rmdir|mktemp|chattr|lsattr|getfacl|setfacl|stat|file|locate|updatedb|nano|vi|vim|emacs|ed|tmux|screen|git|hg|svn|pg_isready|pg_dump|pg_dumpall|pg_basebackup|vacuumdb|reindexdb|clusterdb|analyzedb|pg_amcheck|pgbench|mysqldump|mysqlcheck|mariadb-dump|mongodump|mongostat|mongotop|pt-\S+|createdb|redis-benchmark|kcat|kafkacat|kafka-\S+|etcdutl|promtool|amtool|telegraf|filebeat|vector|fluent-bit|declare|typeset|let|readonly|unalias|alias|trap|ulimit|umask|hash|times|jobs|fg|bg|disown|getopts|printf|break|continue|pushd|popd|dirs|select|mapfile|readarray|exec|source|\.|shopt|set|function|coproc|ipconfig|w32tm|gpupdate|gpresult|nltest|dcdiag|repadmin|systeminfo|tasklist|quser|query|whoami|ver|nbtstat|pathping|tracert|sfc|dism|chkdsk|typeperf|wmic|certutil|findstr|where|dir|type|copy|move|md|start|sc|net1?|netsh|reg|schtasks|taskkill|icacls|forfiles|iisreset|appcmd|wevtutil|msiexec|cscript|powershell|pwsh|cmd|out-\w+|get-\w+|select-\w+|where-object|sort-object|measure-\w+|format-\w+|test-\w+|restart-\w+|start-\w+|resume-\w+|update-\w+|write-\w+|foreach-object|group-object|convertto-\w+|compare-\w+|wait-\w+|repair-\w+|optimize-\w+|sync-\w+|backup-\w+|checkpoint-\w+|enable-\w+|set-\w+|clear-\w+|new-\w+|invoke-\w+|remove-\w+|stop-\w+|add-\w+|import-\w+|export-\w+|move-\w+|rename-\w+|disable-\w+|unlock-\w+|receive-\w+|send-\w+|show-\w+|read-\w+|reset-\w+|grant-\w+|revoke-\w+|suspend-\w+|dismount-\w+|mount-\w+|\$\w*)$/;
/** Arguments of programs that only look, or that restart something. */
const ORDINARY =
  /^(status|state|stat|stats|list|ls|show|get|describe|info|version|health|healthcheck|check|validate|verify|test|lint|ping|top|log|logs|tail|history|diff|plan|preview|inspect|explain|doctor|diagnose|diag|report|query|search|find|view|print|dump|help|jobs?|whoami|trigger|switchover|restart|reload|start|resume|unpause|reconnect|renew|refresh|sync|resync|reconfigure|parse|hangup|reconcile|rescan|scan|rotate|reopen|retry|requeue|replay|rerun|rollback|undo|heal|repair|recover|rebalance|reindex|rebuild|compact|optimi[sz]e|vacuum|analy[sz]e|snapshot|backup|save|build|compile|install-deps|collectstatic|migrate|warm\w*|clear-cache|cache:clear|cache:\w+|cache|flush-cache|clean|cleanup|gc|garbage-collect|prune-cache|failover-status|unlock|acknowledge|ack|silence|mute|notify|send|scale|uncordon|enable|up|bench|monitor|watch|wait|hup|\w+[:.-](status|list|show|check|restart|reload|retry|start|clear|health|renew|info|get|sync|resume|stats))$/i;

/** Tells whether a program is familiar, or its first arguments say that it looks or restarts something. */
function isOrdinary(program: string, args: readonly string[]): boolean {
  if (FAMILIAR.test(program)) return true;
  const script = /^(ba|da|z|k)?sh$/.test(program)
    ? operands(args)[0]?.replace(/.*\//, "")
    : undefined;
  const named = (script ?? program).replace(/\.(sh|py|rb|pl|js|exe|bat|cmd|ps1)$/, "").split(
    /[-_.]/,
  );
  const options = args.map((arg) => /^--?([a-z][\w-]*)$/i.exec(arg)?.[1] ?? "");
  return [...named, ...operands(args).slice(0, 4), ...options].some((word) =>
    ORDINARY.test(word)
  ) ||
    args.every((arg) => /^--?(v|version|h|help|V|l|list|s|status)$/.test(arg)) && args.length > 0;
}

/** The rule for unknown programs. */
export const unknownProgram: ProgramRule = ({ program, args }) => {
  const words = operands(args).slice(0, 4);
  const all = args.some((arg) =>
    /^(--?(all|force|yes|recursive|no-confirm|auto-approve|cascade|purge)|-y|-f|-rf|\*|all)$/i.test(
      arg,
    )
  );
  if (
    args.some((arg) =>
      /^--?(delete-all|wipe|destroy|drop-all|erase|purge-all|factory-reset|no-preserve-root|force-delete|disable-(auth|security|tls|verification))$/i
        .test(arg)
    )
  ) {
    return [deny("destroys", "An option of a program that is not known says that it destroys")];
  }
  if (
    words.some((word) => FRAMEWORK.test(word)) &&
    !words.some((word) => /cache|session|view|route|config|log/.test(word))
  ) return [deny("data", "It empties or drops the application's database")];
  if (words.includes("flush") && words.some((word) => /manage\.py$/.test(word))) {
    return [deny("data", "It empties or drops the application's database")];
  }
  if (words.includes("migrate") && words.includes("reset")) {
    return [deny("data", "It empties or drops the application's database")];
  }
  if (/^(remove|rm|delete|del)$/i.test(words[0] ?? "") && all) {
    return [
      ask("destroys", "By its words, a program that is not known removes something without asking"),
    ];
  }
  if (!words.slice(0, 3).some((word) => DESTRUCTIVE_WORD.test(word))) {
    return isOrdinary(program, args) ? [] : [
      ask(
        "unknown",
        `What \`${displayPath(program)}\` does is not known, and its words do not say`,
      ),
    ];
  }
  if (args.includes("--unused")) return []; // what nothing uses
  return optionValue(args, "--dry-run") !== undefined || args.includes("--dry-run") ? [] : [
    (all ? deny : ask)(
      "destroys",
      "By its words, a program that is not known destroys something",
    ),
  ];
};
