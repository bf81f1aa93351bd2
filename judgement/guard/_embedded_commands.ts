/** Finds commands within prose and within decoded text. */

const MAX_COMMANDS = 6;

/** An order in a ticket to run something. What was run ("someone ran …") is no order. */
const ORDER =
  /(?:^|[.!?:;,\n]\s*|\b(?:please|then|also|and|now|must|should|to fix(?: this)?,?|simply|just|agent|first|next|finally|immediately)\s+)(?:run|execute|type|issue|launch|invoke|enter|apply|use|do|perform|start)(?:\s+(?:the|this|following|command|script|exactly|as root|on all hosts)){0,4}\s*:?\s*[`'"“]{0,3}([a-zA-Z/$(>{][^`'"”\n]{3,300})/gi;
const PROGRAMS =
  /(?<![\w/.-])(?:sudo\s+)?(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|mkfs[.\w]*|wipefs|shred|chmod|chown|curl|wget|bash|sh|nc|ncat|kubectl|terraform|docker|psql|mysql|mongosh|redis-cli|systemctl|iptables|ufw|userdel|crontab|find|kill|python3?|perl|powershell|pwsh|cmd|vssadmin|Remove-Item|aws|az|gcloud|git|zpool|shutdown|echo|eval|scp|del|format|dropdb|truncate)\s[^\n]{2,400}/g;

/** Returns the parts of a text that begin with the name of a program. */
export function findCommands(text: string): string[] {
  return [...text.matchAll(PROGRAMS)].slice(0, MAX_COMMANDS)
    .map(([line]) => line.replace(/[`"”]?[.)]?\s*$/, ""));
}

/** Returns the commands that a text orders to run. */
export function findOrderedCommands(text: string): string[] {
  return [...text.matchAll(ORDER)].slice(0, MAX_COMMANDS)
    .map(([, line]) => line!.replace(/[.)\]]+\s*$/, ""));
}
