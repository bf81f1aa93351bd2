/** Lines of PowerShell and cmd, which have their own programs, quotes and paths. */
import type { Objection } from "../types.ts";
import { findProgram } from "./_programs.ts";
import { ask, deny } from "./_rule.ts";
const WINDOWS =
  /\b[A-Z][a-z]+-[A-Z]\w{2,}|(^|[\s"'=])[A-Za-z]:\\|%[A-Za-z_]+%|\$env:\w+|(^|[\s&|;])[\w.-]+\.exe(\s|$)|(^|[\s&|;])(powershell|pwsh|cmd(\.exe)?|wmic|reg(\.exe)?|sc(\.exe)?|net1?(\.exe)?|netsh|vssadmin|wbadmin|bcdedit|wevtutil|diskpart|taskkill|schtasks|icacls|takeown|cipher|fsutil|certutil|bitsadmin|mshta|rundll32|regsvr32|cscript|wscript|del|erase|rd|rmdir|format|attrib|msiexec|iisreset|ipconfig|dism|sfc|w32tm|gpupdate|klist|rd|manage-bde|diskshadow|ntdsutil|dsrm|Remove-\w+|Stop-\w+)(\.exe)?(\s|$)/i;

const CMDLET_FIRST = /^\s*[(&]?\s*(\$[\w.:]+\s*=\s*)?\(?[A-Z][a-z]+-[A-Z]\w+/;
const PROGRAM_FIRST =
  /^\s*(\[[A-Z]\w+|(sc|net1?|netsh|reg|ipconfig|tasklist|taskkill|wmic|wevtutil|vssadmin|schtasks|icacls|certutil|bcdedit|w32tm|gpupdate|iisreset|appcmd|forfiles|dism|sfc|del|erase|rd|copy|xcopy|move|robocopy|msiexec|fsutil|cipher|format|diskpart|wbadmin|attrib|klist|repadmin|dcdiag|nltest|query|powercfg|manage-bde)(\.exe)?\s)/i;
const WINDOWS_PATH = /(^|[\s"'=])[A-Za-z]:\\|%[A-Za-z_]+%|\$env:\w+/;
const KEYWORD =
  /^(if|else|elseif|foreach|for|while|try|catch|finally|switch|in|return|not|param)$/i;
const METHOD =
  /^(Add(Days|Hours|Minutes|Seconds)|ToString|Split|Replace|Contains|StartsWith|EndsWith|ToLower|ToUpper|Trim|Substring|Subtract|ToUniversalTime|Round|Count|Where|ForEach|GetType|Properties|Refresh|WaitForStatus)$/;
const TYPE =
  /^\[(datetime|math|int|int64|string|timespan|double|bool|version|environment|array)\]$/i;

/** Tells by its beginning whether a line is one of PowerShell or cmd. */
export function isWindowsLine(line: string): boolean {
  return CMDLET_FIRST.test(line) || PROGRAM_FIRST.test(line) || WINDOWS_PATH.test(line);
}

/** Objects to the first program, method or type of a line that is not known. */
export function unknownWindows(line: string): Objection[] {
  const plain = line.slice(0, 4_000).replace(/'[^']*'/g, "''");
  if (/"[^"]*\$\(/.test(plain)) return [ask("unseen", "It runs something within a text")];
  const text = plain.replace(/"[^"]*"/g, '""');
  const heads = text.split(/[|;&\n{}()]+/).map((part) => part.trim().split(/\s+/)[0] ?? "")
    .filter((head) => /^[A-Za-z]/.test(head) && !/^\w+=/.test(head) && !KEYWORD.test(head));
  const unknown = heads.find((head) =>
    !findProgram(head.toLowerCase().replace(/^.*\\/, "").replace(/\.exe$/, ""))
  );
  const cmdlet = text.match(/(?<![\w/.-])[A-Z][a-z]+-[A-Z]\w+/g)?.find((one) =>
    !findProgram(one.toLowerCase())
  );
  const method = [...text.matchAll(/\.(\w+)\(/g)].map(([, name]) => name!)
    .find((name) => !METHOD.test(name));
  const type = [...text.matchAll(/\[[\w.]+\](?=::)/g)].map(([name]) => name)
    .find((name) => !TYPE.test(name));
  const found = unknown ?? cmdlet ?? method ?? type;
  return found === undefined
    ? []
    : [ask("unknown", `What \`${found.slice(0, 60)}\` does is not known`)];
}

interface Rule {
  readonly test: RegExp;
  readonly unless?: RegExp;
  readonly weight?: "ask";
  readonly kind: string;
  readonly reason: string;
}

const WHOLE_PATH =
  /(^|[\s"'=,])((?:[A-Za-z]:|\$env:system(?:drive|root)|\$env:windir|%system(?:drive|root)%|%windir%|\\\\[\w.-]+\\[\w$]+)(?:\\(?:Windows(?:\\System32|\\SysWOW64|\\WinSxS)?|Users(?:\\[^\s\\"'*]+)?|Program ?Files(?: \(x86\))?|ProgramData|inetpub(?:\\wwwroot)?|System Volume Information|Boot|Recovery|Data|SQLData|Backups?|Shares?))?)(?:\\?\*(?:\.\*)?)?\\?(?=["'\s,;|)]|$)|HKLM:?\\?(?:SYSTEM|SOFTWARE|SAM)?["'\s]|(^|\s)[\\/]\*?(?=\s|$)/i;
const REMOVES = /\b(Remove-Item|rm|ri|del|erase|rd|rmdir|Clear-Content|Remove-ItemProperty)\b/i;

const RULES: readonly Rule[] = [
  {
    test:
      /\bvssadmin(\.exe)?\s+(delete|resize)|\bwmic\b.{0,40}shadowcopy.{0,40}delete|Win32_ShadowCopy.{0,80}(Delete|Remove)|\bwbadmin(\.exe)?\s+(delete|disable)|\bdiskshadow\b|Remove-(VMSnapshot|WBBackupSet|WBPolicy)|Disable-ComputerRestore/i,
    kind: "destroys",
    reason: "It removes backups or shadow copies",
  },
  {
    test:
      /\bbcdedit(\.exe)?\b.{0,80}(recoveryenabled\s+no|bootstatuspolicy|\/delete|safeboot|testsigning\s+on|nointegritychecks)|reagentc(\.exe)?\s+\/disable/i,
    kind: "destroys",
    reason: "It changes how the host starts, or turns its repair off",
  },
  {
    test:
      /(^|[\s&|;"'])format(\.com)?\s+[A-Za-z]:|\bFormat-Volume\b|\bClear-Disk\b|\bInitialize-Disk\b|\bRemove-Partition\b|\bdiskpart\b|\bcipher(\.exe)?\s+\/w|\bReset-PhysicalDisk\b|\bRemove-(VirtualDisk|StoragePool|Volume)\b|manage-bde.{0,40}-(off|forcerecovery|delete)/i,
    kind: "disk",
    reason: "It erases or rearranges a disk",
  },
  {
    test:
      /\bwevtutil(\.exe)?\s+(cl|clear-log)|\bClear-EventLog\b|\bRemove-EventLog\b|\bLimit-EventLog\b|auditpol(\.exe)?\s+\/(clear|remove)|auditpol.{0,80}disable|Clear-History|ConsoleHost_history|Set-PSReadLineOption.{0,60}SaveNothing|fsutil(\.exe)?\s+usn\s+deletejournal/i,
    kind: "traces",
    reason: "It removes logs, which show who did what",
  },
  {
    test:
      /Set-MpPreference.{0,200}(Disable\w+\s+(\$?true|1)|SubmitSamplesConsent|MAPSReporting\s+0)|Add-MpPreference.{0,80}Exclusion|Uninstall-WindowsFeature.{0,40}Defender|MpCmdRun(\.exe)?.{0,40}-RemoveDefinitions|(stop|disable|delete|config|Stop-Service|Set-Service)\b.{0,60}\b(WinDefend|Sense|MpsSvc|EventLog|wscsvc|WdNisSvc|SecurityHealthService|Sysmon\w*|CSFalconService|SentinelAgent|VSS|wbengine|SDRSVC|BITS)\b|DisableAntiSpyware|DisableRealtimeMonitoring/i,
    kind: "defence",
    reason: "It turns off what protects the host, records or backs up",
  },
  {
    test:
      /netsh\s+(advfirewall\s+(set\s+\w+\s+state\s+off|reset)|firewall\s+set\s+opmode\s+disable)|Set-NetFirewallProfile.{0,120}(Enabled\s+(\$?false|0)|DefaultInboundAction\s+Allow)|Remove-NetFirewallRule(?!.{0,80}-(Name|DisplayName)\s+["']?[^*\s"'])|(EnableLUA|LocalAccountTokenFilterPolicy|fDenyTSConnections).{0,60}\b0\b|Disable-NetFirewallRule(?!.{0,80}-(Name|DisplayName)\s)|(Disable|Remove|Clear|Uninstall)-\w+\s+-All\b|Set-ExecutionPolicy\s+(Unrestricted|Bypass)/i,
    kind: "defence",
    reason: "It opens the firewall or turns a protection off",
  },
  {
    test:
      /\b(IEX|Invoke-Expression)\b.{0,300}(Download|Invoke-WebRequest|\biwr\b|\bcurl\b|\bwget\b|irm|Invoke-RestMethod|FromBase64|\$\w+)|(Download(String|File|Data)|\biwr\b|Invoke-WebRequest|\birm\b|Invoke-RestMethod).{0,300}(\|\s*(IEX|Invoke-Expression)|Start-Process|;\s*[.&]|\.exe\b)|certutil(\.exe)?.{0,80}(-urlcache|-decode)|bitsadmin(\.exe)?.{0,80}\/transfer|mshta(\.exe)?\s+(http|vbscript|javascript)|regsvr32(\.exe)?.{0,80}(http|scrobj)|rundll32(\.exe)?.{0,80}(javascript|http|comsvcs)|msiexec(\.exe)?.{0,80}http|FromBase64String.{0,200}(IEX|Invoke|Load\()|Reflection\.Assembly\]::Load|scriptblock\]::Create.{0,80}(irm|iwr|Invoke-|Download|http)/i,
    kind: "remote_code",
    reason: "It runs what it downloads or hides",
  },
  {
    test:
      /(net1?(\.exe)?\s+(user|localgroup)\b.{0,120}\/(add|delete|active:no)|New-LocalUser|Add-LocalGroupMember|Add-ADGroupMember.{0,120}Admin|Remove-(ADUser|LocalUser|ADGroup|ADComputer|ADObject|ADOrganizationalUnit)|dsrm\b|Disable-ADAccount|Set-(ADAccountPassword|LocalUser).{0,100}Password|net1?(\.exe)?\s+user\s+\S+\s+[^\s/]\S*)/i,
    kind: "access",
    reason: "It adds, changes or removes accounts or rights",
  },
  {
    test:
      /(mimikatz|sekurlsa|lsadump|procdump.{0,60}lsass|comsvcs\.dll|ntdsutil|reg(\.exe)?\s+save\s+hklm|\bSAM\b.{0,20}\bSYSTEM\b.{0,20}save|cmdkey\s+\/list|Get-Credential|ConvertFrom-SecureString|vaultcmd)/i,
    kind: "secret",
    reason: "It reads passwords or keys of the host",
  },
  {
    test:
      /(Net\.Sockets\.TCPClient|System\.Net\.Sockets|powercat|nc(64)?\.exe|-e\s+cmd\.exe|UploadString|UploadFile|UploadData|-Method\s+(POST|PUT).{0,200}(-InFile|Get-Content|\$\())/i,
    kind: "sends",
    reason: "It hands a shell or files to another host",
  },
  {
    test: /\breg(\.exe)?\s+(delete|unload)\s|Remove-Item(Property)?\b.{0,60}(HKLM|HKCU|Registry)/i,
    kind: "destroys",
    reason: "It removes settings of the system",
  },
  {
    test:
      /\b(reg(\.exe)?\s+add|Set-ItemProperty|New-ItemProperty)\b.{0,200}(SecurityProviders|\\Lsa\b|WDigest|\\Policies\\|Winlogon|Image File Execution|SafeBoot|Defender|SmartScreen|Schannel)/i,
    kind: "defence",
    reason: "It changes how the host protects itself",
  },
  {
    test: /\breg(\.exe)?\s+(add|import|restore)\s+["']?(HKLM|HKEY_LOCAL_MACHINE)/i,
    weight: "ask",
    kind: "access",
    reason: "It changes settings of the whole host",
  },
  {
    test:
      /(schtasks(\.exe)?\s+.{0,20}\/create|Register-ScheduledTask|New-Service|\bsc(\.exe)?\s+create|CurrentVersion\\Run|__EventFilter)/i,
    kind: "access",
    reason: "It has something start by itself later",
  },
  {
    test:
      /(icacls|takeown|cacls)(\.exe)?\s.{0,80}([A-Za-z]:\\?(\s|\*|$|Windows|Users\\?\s)).{0,80}(\/t|\/r|Everyone|full)|Everyone:\(?F|\/grant\s+\*?(S-1-1-0|Everyone)/i,
    kind: "opens",
    reason: "It opens whole parts of the system to everyone",
  },
  {
    test:
      /\b(Stop-Computer|Restart-Computer|shutdown(\.exe)?\s+[/-](?!a)|Disable-NetAdapter|Stop-VM|Remove-VM|Remove-Cluster\w*|Stop-Cluster)\b|shutdown(\.exe)?\s+[/-][rsph]/i,
    weight: "ask",
    kind: "outage",
    reason: "It halts or restarts the whole host, or takes its network away",
  },
  {
    test:
      /\bRemove-(VM|Cluster|ClusterGroup|SqlDatabase|DhcpServerv4Scope|DnsServerZone|Website|AppPool|SmbShare|AzResourceGroup|AzVM|AzStorageAccount|AzSqlDatabase|Az\w+|Mailbox\w*|EC2\w+|S3\w+|RDS\w+)\b|Stop-EC2Instance|Drop-Database/i,
    kind: "destroys",
    reason: "It removes machines, shares, zones or databases",
  },
  {
    test:
      /\bStop-Service\b|(^|[\s&|;])(net1?|sc)(\.exe)?\s+stop\s|Set-Service\b.{0,80}(Disabled|Stopped)|\bsc(\.exe)?\s+(delete|config\s+\S+\s+start=\s*disabled)|Suspend-Service/i,
    unless: /(Start-Service|net1?(\.exe)?\s+start|sc(\.exe)?\s+start|Restart-Service)/i,
    weight: "ask",
    kind: "outage",
    reason: "It stops a service and does not start it again",
  },
  {
    test:
      /taskkill(\.exe)?\b.{0,80}\/im\s+(\*|lsass|csrss|winlogon|services|svchost|wininit|smss|System)|Stop-Process\b.{0,60}(-Name\s+["']?(\*|lsass|csrss|winlogon|wininit|svchost)|Get-Process\s*\|)|Get-Process\s*\|\s*Stop-Process/i,
    kind: "outage",
    reason: "It ends processes on which the whole host depends",
  },
  {
    test:
      /Invoke-Sqlcmd\b.{0,400}\b(DROP|TRUNCATE)\b|Invoke-Sqlcmd\b(?!.{0,400}\bWHERE\b).{0,400}\bDELETE\s+FROM\b/i,
    kind: "data",
    reason: "It drops or empties tables",
  },
  {
    test:
      /Uninstall-(WindowsFeature|Package|Module)|wmic\s+product.{0,100}uninstall|msiexec(\.exe)?\s+\/x|Remove-WindowsFeature|Remove-AppxPackage/i,
    weight: "ask",
    kind: "outage",
    reason: "It removes installed software",
  },
];
const MIRRORS = /\brobocopy(\.exe)?\b.{0,400}\/(mir|purge)\b/i;
const SCRATCH =
  /\\(te?mp|cache|caches|logs?|Prefetch|SoftwareDistribution\\Download|INetCache|Temporary[^\\]*|obj|bin|dist|node_modules|CrashDumps|Minidump|WER|Windows\.old|\$Recycle\.Bin|LogFiles|Recent|Thumbnails|spool\\PRINTERS)(\\|["'\s*]|$)|%te?mp%|\$env:te?mp|\.(tmp|log|etl|dmp|bak|old|gz|zip)\b/i;

/** Returns objections to a line of PowerShell or cmd. */
export function checkWindows(line: string): Objection[] {
  if (!WINDOWS.test(line)) return [];
  const text = removeObfuscation(line.slice(0, 4_000));
  const found = RULES
    .filter(({ test, unless }) => test.test(text) && !unless?.test(text))
    .map(({ weight, kind, reason }) => (weight === "ask" ? ask : deny)(kind, reason));
  if (MIRRORS.test(text)) {
    found.push(ask("destroys", "It removes from its target whatever its source lacks"));
  }
  if (
    /netsh\s+interface\s+set\s+interface.{0,80}disabled?/i.test(text) && !/enabled?\b/i.test(text)
  ) found.push(ask("outage", "It takes the network away"));
  for (const part of text.split(/[;|&\n]+/)) {
    if (!REMOVES.test(part)) continue;
    const deep = /-r(ecurse)?\b|\s\/s\b|-fo(rce)?\b/i.test(part);
    const removed = part.replace(/-(Exclude|Include|Filter)\s+\S+/gi, "");
    if (WHOLE_PATH.test(removed.replace(REMOVES, " "))) {
      found.push(deny("destroys", "It removes a drive, or a whole part of the system"));
    } else if (
      /[A-Za-z]:\\Windows\\|System32|Program Files|NTDS|\\SYSVOL/i.test(removed) &&
      !SCRATCH.test(removed)
    ) found.push(deny("destroys", "It removes a part of the system"));
    else if (deep && /[A-Za-z]:\\|\\\\\w/.test(removed) && !SCRATCH.test(removed)) {
      found.push(ask("destroys", "It removes a folder with all that is in it"));
    } else if (deep && /\$\w+/.test(removed) && !SCRATCH.test(removed)) {
      found.push(ask("unseen", "What it removes depends on a variable"));
    }
  }
  if (
    /Get-ChildItem\b.{0,200}\|.{0,80}Remove-Item/is.test(text) &&
    WHOLE_PATH.test(text.replace(/.*Get-ChildItem/is, " ")) && !SCRATCH.test(text)
  ) found.push(deny("destroys", "It removes whatever lies in a whole part of the system"));
  return found;
}

/** Removes marks that only hide words: `` Re`move-Item ``, `d^el`, `"Rem"+"ove"`. */
function removeObfuscation(text: string): string {
  return text.replace(/[`^](?=\w)/g, "").replace(/["']\s*\+\s*["']/g, "").replace(
    /(?<=[\w:.$%)*-])\\{2,}(?=\w)/g,
    "\\",
  ).replace(/\\\\(\s|"|'|$)/g, "\\$1");
}
