/** Finds what a description in plain words means to do: destroy, turn off protection, hand out data. In seven languages. */

/** A harmful intent. */
export type Intent =
  | "destroys"
  | "defence"
  | "sends"
  | "access"
  | "traces"
  | "outage"
  | "remote_code";

/** A harmful intent in a description. */
export interface IntentMatch {
  readonly intent: Intent;
  readonly weight: "deny" | "ask";
  readonly reason: string;
}

const MAX_TEXT_LENGTH = 8_000;
const MAX_SENTENCES = 80;
const MAX_NEGATED_LENGTH = 160;
/** Matches of one list of words in a sentence. */
const MAX_MATCHES = 12;

/** Makes an expression of words between bars. */
function wordList(list: string): RegExp {
  const words = list.trim().replaceAll("\\w", "[\\p{L}\\p{N}]").split(/\s*\|\s*/);
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}

const DESTROY = wordList(
  "delete | deletes | deleting | wipe | wipes | wiping | erase | erases | erasing | destroy | destroys | destroying | drop | dropping | purge | purging | remove | removing | format | formatting | reformat | shred | shredding | nuke | obliterate | truncate | truncating | overwrite | overwriting | zero out | get rid of | clear out | empty | terminate | tear down | reinitiali[sz]e | factory reset | scrub | kill off | rm -rf | corrupt | encrypt | eliminate | trash | discard | blow away | lösch\\w* | entfern\\w* | vernichte\\w* | formatier\\w* | überschreib\\w* | zerstör\\w* | leere | leeren | effac\\w* | supprim\\w* | détrui\\w* | format\\w* | vide[rz]? | écras\\w* | borr\\w* | elimin\\w* | destru\\w* | formate\\w* | vaci\\w* | suprim\\w* | sil | silin | siliniz | silmek | siler | silinsin | yok et\\w* | biçimlendir\\w* | formatla\\w* | boşalt\\w* | kaldır\\w* | temizle\\w* | cancell\\w* | distrugg\\w* | apag\\w* | exclu[ai]\\w* | verwijder\\w* | wis | vernietig\\w* | usuń\\w* | удали\\w* | сотри\\w* | уничтож\\w* | 删除 | 清空 | 销毁 | 削除 | 삭제\\S*",
);
const VALUABLE = wordList(
  "databases? | dbs? | schemas? | tables? | backups? | snapshots? | replicas? | disks? | drives? | partitions? | volumes? | filesystems? | file systems? | root directory | root filesystem | home directories | user data | customer data | customers | customer records | production data | production | prod | records | accounts? | users | namespaces? | clusters? | servers? | hosts? | virtual machines? | vms? | instances? | buckets? | repositor\\w+ | repos? | domain controllers? | active directory | vault | secrets | certificates | mailboxes | user files | all (?:the )?files | originals | infrastructure | data ?centers? | system32 | boot ?(?:sector|loader|record) | mbr | firmware | everything | all data | all files | all the data | the data | entire system | operating system | data directory | datenbank\\w* | sicherung\\w* | backup\\w* | festplatte\\w* | laufwerk\\w* | partition\\w* | tabelle\\w* | kundendaten | produktion\\w* | alle daten | benutzerkonten | server | bases? de données | sauvegardes? | disques? | tables? | données | comptes | serveurs? | bases? de datos | copias? de seguridad | respaldos? | discos? | tablas? | datos | cuentas | servidor\\w* | producción | veritaban\\w* | yedek\\w* | disk\\w* | tablo\\w* | müşteri\\w* | sunucu\\w* | verileri? | üretim\\w* | database | copie di sicurezza | dischi | disco | bancos? de dados | servidores | 数据库 | 备份 | データベース | バックアップ | 데이터베이스 | баз\\w* данных | резервн\\w* | диск\\w* | baz\\w* danych | kopi\\w* zapasow\\w* | databanken | back-?ups",
);
const BROAD = wordList(
  "all | every | everything | entire | whole | complete | completely | any | each | production | prod | permanently | and (?:its|their|the) backups? | alle | allen | sämtliche\\w* | ganze\\w* | komplett\\w* | gesamte\\w* | toutes? | tous | entière\\w* | complète\\w* | toda | todas | todos | todo | completa\\w* | entera | tüm | bütün | hepsini | tamamını | tutt[aoei] | inter[ao] | 所有 | 全部 | すべて | 모든 | все | всю | wszystki\\w* | alle | full",
);
/** Things whose removal is ordinary. */
const MINOR = wordList(
  "temp | temporary | tmp | cache | caches | cached | old | older | stale | expired | unused | orphan\\w* | obsolete | rotated | compressed | archived | dangling | duplicate\\w* | test | scratch | log | logs | logfiles? | log files? | session\\w* | lock | locks | queue\\w* | entry | entries | connections? | connection pool | pool | index | indexes | cookies | thumbnails? | artifacts? | artefacts? | build | images? | containers? | pods? | pid | one | a single | failed | completed | evicted | stuck | broken | specific | read replica | from (?:the )?(?:load balancer|pool|rotation|maintenance) | dns | arp | print | spool\\w* | page ?cache | buffer | query cache | member | messages? | alte\\w* | temporär\\w* | veraltet\\w* | abgelaufen\\w* | protokoll\\w* | zwischenspeicher | temporaire\\w* | ancien\\w* | journaux | expiré\\w* | temporal\\w* | antigu\\w* | viej\\w* | caché | registros | geçici | eski | önbellek\\w* | günlük\\w* | kullanılmayan | süresi dolmuş | vieux | vecchi | cache | unneeded | leftover | packages? | kernels? | core dumps? | crash dumps? | labels? | tags? | annotation\\w* | crash files? | recycle bin | trash | notes? | alerts? | silence\\w* | rule | bloat | dead tuples | statistics | free space",
);
const DISARM = wordList(
  "disable | disables | disabling | turn off | turning off | switch off | deactivate | stop | stopping | uninstall | remove | shut down | shut off | kill | bypass | suspend | pause | open | flush | unload | weaken | mute | silence | deaktivier\\w* | ausschalt\\w* | abschalt\\w* | schalte | stoppe | coupe[rz]? | schalt\\w* | désactiv\\w* | arrêt\\w* | desactiv\\w* | deten\\w* | apag\\w* | kapat\\w* | devre dışı bırak\\w* | durdur\\w* | disattiv\\w* | desativ\\w* | отключи\\w* | 关闭 | 禁用 | 停用 | 無効 | wyłącz\\w*",
);
const DEFENCE = wordList(
  "firewalls? | anti-?virus | antimalware | edr | ids | ips | intrusion (?:detection|prevention) | selinux | apparmor | auditd? | audit (?:log\\w*|trail\\w*) | auditing | security (?:agents?|monitoring|controls?|software|tools?|scanners?) | endpoint protection | windows defender | defender | mfa | 2fa | multi-?factor\\w* | two-?factor\\w* | authentication | access controls? | tls verification | certificate (?:validation|verification) | signature (?:checks?|verification) | backup jobs? | backup schedules? | backups | replication | guard ?rails? | virenscanner | virenschutz | brandmauer | überwachung | protokollierung | pare-feu | antivirus | cortafuegos | güvenlik duvar\\w* | antivirüs\\w* | denetim\\w* | фаервол\\w* | брандмауэр\\w* | 防火墙 | 杀毒\\S* | ファイアウォール | audit\\w* | logging | autenticación | authentification | authentifizierung\\w* | anmeldung | kimlik doğrulama\\w* | cifrado | verschlüsselung | chiffrement | şifreleme\\w* | doble factor | double authentification | zwei-faktor\\w* | iki aşamalı\\w* | sauvegardes automatiques | copias automáticas",
);
const SEND = wordList(
  "send | sends | sending | upload | uploading | copy | copying | export | exporting | exfiltrate | exfiltrating | leak | leaking | e-?mail | mail | forward | post | publish | publishing | share | sharing | transmit | transfer | dump | sende\\w* | schicke\\w* | envoy\\w* | enví\\w* | envi[ae]\\w* | gönder\\w* | invia\\w* | отправ\\w* | 发送 | 上传 | 送信 | dump\\w*",
);
const CONFIDENTIAL = wordList(
  "passwords? | password hashes | credentials? | secrets? | api keys? | private keys? | ssh keys? | access keys? | tokens | shadow file | customer (?:table|data|list|records|database) | personal data | credit cards? | card numbers | payment data | user (?:table|data|database) | environment variables | /etc/(?:shadow|passwd) | pii | medical records | patient (?:data|records) | kundendaten | passwörter\\w* | zugangsdaten | mots de passe | données clients? | contraseñas | datos de (?:los )?clientes | parolalar\\w* | şifre\\w* | müşteri (?:veri\\w*|liste\\w*|tablo\\w*) | парол\\w* | 密码 | 客户数据 | パスワード",
);
const OUTSIDE =
  /@[\w-]+\.[a-z]{2,}|https?:\/\/|\bftp|external|outside|pastebin|dropbox|mega\.nz|telegram|discord|\bgist\b|webhook\.site|personal (?:e-?mail|account)|third[- ]party|\bpublic(?:ly)?\b|attacker|\bmy (?:e-?mail|server)|\b\d{1,3}(?:\.\d{1,3}){3}\b|extern|fuera|dışarı|à l'extérieur/i;
const MALICE =
  /(?<![\p{L}])(?:reverse shells?|back ?doors?|rootkits?|crypto ?-?miners?|xmrig|keyloggers?|ransomware|botnets?|web ?shells?|bind shells?|c2 (?:server|beacon)|command[- ]and[- ]control|mimikatz|cobalt strike|meterpreter|metasploit|trojan|logic bomb|fork bomb|hintertür|porte dérobée|puerta trasera|arka kapı|бэкдор|后门|バックドア)(?![\p{L}])/iu;
const AGAINST =
  /(?<![\p{L}])(?:remove|removing|block|blocking|quarantin\w*|scan|scanning|detect\w*|clean|isolat\w*|kill|stop|terminate|delete|report\w*|investigat\w*|find|search\w*|check\w*|eradicat\w*|contain\w*|against|protect\w*|entfern\w*|supprim\w*|elimin\w*)(?![\p{L}])[^.]{0,60}$/iu;
const RIGHTS =
  /(?<![\p{L}])(?:change|set|reset|replace)(?![\p{L}])[^.;\n]{0,20}(?<![\p{L}])(?:root|admin(?:istrator)?|domain admin|sa|superuser)(?:'s)? password|(?<![\p{L}])(?:give|grant|get|open)(?![\p{L}])[^.;\n]{0,24}(?<![\p{L}])(?:shell|anonymous|unauthenticated|guest|remote desktop|root|admin)(?![\p{L}])[^.;\n]{0,24}(?<![\p{L}])access(?![\p{L}])|(?<![\p{L}])(?:grant|give|add|assign|elevate|promote|make)(?![\p{L}])[^.;\n]{0,60}(?<![\p{L}])(?:root (?:access|rights|privileges)|admin(?:istrator)? (?:rights|access|privileges|role)|sudo(?:ers)?|cluster-admin|domain admins?|superuser|full (?:access|control|permissions?)|world[- ]writ\w+|777|public(?:ly)? (?:access\w*|read\w*)|everyone|anonymous access)(?![\p{L}])|(?<![\p{L}])(?:create|add|new)[^.;\n]{0,30}(?:(?:hidden|secret|secondary|extra|emergency|temporary|permanent|backdoor) (?:admin\w*|root|user|account)|(?:admin\w*|root|superuser) (?:account|user))|(?:my|an?|this|the following) (?:ssh |public )?key[^.;\n]{0,30}authorized_keys|permit ?root ?login|passwordless (?:root|sudo)|without (?:a )?password/iu;
/** "Turn the firewall off": an object between the parts of the verb. */
const TURNED_OFF =
  /(?<![\p{L}])(?:turn|switch|shut|schalte?n?|mach\p{L}*)(?![\p{L}])([^.;\n]{3,60}?)(?<![\p{L}])(?:off|aus|ab)(?![\p{L}])/giu;
const RIGHTS_FOREIGN =
  /(?<![\p{L}])(?:admin\p{L}*(?:rechte\p{L}*)?|root-?rechte\p{L}*|vollzugriff|droits? (?:d['’])?admin\p{L}*|accès (?:root|complet|administrateur)|permisos? de admin\p{L}*|acceso (?:root|total|de administrador)|yönetici (?:yetki\p{L}*|hak\p{L}*)|tam yetki\p{L}*|root yetki\p{L}*)[^.;\n]{0,50}(?<![\p{L}])(?:geben|vergeben|erteilen|zuweisen|donner|accorder|dar|conceder|otorgar|ver|verin|veriniz|verilsin|tanı|tanımla)(?![\p{L}])|(?<![\p{L}])(?:gib|gebt|erteile|vergib|donne[rz]?|accorde[rz]?|da|dar|dale|concede[r]?|otorga[r]?)(?![\p{L}])[^.;\n]{0,50}(?<![\p{L}])(?:admin\p{L}*|root\p{L}*|vollzugriff|droits? (?:d['’])?admin\p{L}*|permisos? de admin\p{L}*|acceso (?:root|total))(?![\p{L}])/iu;
const OPENS_FOREIGN =
  /(?<![\p{L}])(?:öffne\p{L}*|ouvr\p{L}*|expose\p{L}*|abr[aei]\p{L}*|expon\p{L}*|aç|açın|açılsın|freigeb\p{L}*)(?![\p{L}])[^.;\n]{0,50}(?<![\p{L}])(?:internet\p{L}*|öffentlich\p{L}*|alle welt|au public|à tous|todo el mundo|herkese|dünyaya)(?![\p{L}])|(?<![\p{L}])internet\p{L}*(?![\p{L}])[^.;\n]{0,20}(?<![\p{L}])(?:aç|açın|açılsın|öffnen|freigeben)(?![\p{L}])/iu;
const OPENS =
  /(?<![\p{L}])(?:make|set|turn)(?![\p{L}])[^.;\n]{0,40}(?<![\p{L}])(?:bucket|blob|storage|share|database|repository|repo|port|dashboard|console)s?(?![\p{L}])[^.;\n]{0,16}(?<![\p{L}])public(?:ly)?(?![\p{L}])|(?<![\p{L}])(?:allow|permit|accept|open)(?:ing)?(?![\p{L}])[^.;\n]{0,30}(?<![\p{L}])(?:any[ -]any|any to any|all (?:traffic|ports|inbound|incoming)|everything|the (?:whole )?(?:internet|world)|0\.0\.0\.0)(?![\p{L}])|chmod[^.;\n]{0,20}777[^.;\n]{0,40}(?:whole|entire|all|every|filesystem|file system|root)|(?:reset|flush|clear) (?:the |all )?(?:firewall|iptables|security groups?|acls?)(?: rules)?/iu;
const TRACES =
  /(?<![\p{L}])so (?:that )?(?:nobody|no one|they|the auditors?|security)(?![\p{L}])[^.;\n]{0,16}(?<![\p{L}])(?:sees?|notices?|finds?|knows?|can see|cannot see|can't see)(?![\p{L}])|without (?:anyone|anybody|the team|security) (?:noticing|knowing|seeing)|(?<![\p{L}])(?:backdate|back-date|antedate)(?![\p{L}])|(?<![\p{L}])(?:wipe|clear|clean|delete|erase|remove|purge|scrub|tamper|alter|falsify|modify|edit|hide|disable)(?![\p{L}])[^.;\n]{0,40}(?<![\p{L}])(?:audit (?:logs?|trails?|records?)|security (?:event )?logs?|auth(?:entication)?[. ]logs?|access logs? (?:of|for|that)|bash history|shell history|command history|forensic\w*|evidence|traces?|tracks|syslog|receipts?|ledger|event logs?)(?![\p{L}])/iu;
const HALTS =
  /(?<![\p{L}])(?:shut ?down|power(?:ing)? off|halt|reboot|take (?:down|offline)|stop|kill|terminate|restart)(?![\p{L}])[^.;\n]{0,24}(?<![\p{L}])(?:all|every|entire|whole)(?![\p{L}])[^.;\n]{0,30}(?<![\p{L}])(?:servers?|hosts?|nodes?|services?|clusters?|machines?|instances?|systems?|data ?centers?|production|processes|vms?|pods)(?![\p{L}])|(?<![\p{L}])fail ?over (?:all|everything)|(?<![\p{L}])(?:shut ?down|power off) (?:the )?(?:server|host|production|data ?center|cluster|domain controller)/iu;
const REMOTE =
  /(?<![\p{L}])(?:download|fetch|pull|get|curl|wget)(?![\p{L}])[^.;]{0,40}(?<![\p{L}])(?:script|binary|payload|installer|executable|code|file)(?![\p{L}])[^;]{0,80}(?<![\p{L}])(?:and |then |, )(?:run|execute|start|launch|pipe|install)(?![\p{L}])|(?:run|execute) (?:the |a |this )?(?:script|binary|payload|code|installer) (?:from|at|hosted)[^.]{0,20}(?:https?:|internet|pastebin|url|link|external)|pipe (?:it|the output) (?:in)?to (?:a )?(?:shell|bash|sh)\b/iu;

/** Intents that one expression tells. */
const SIMPLE_INTENTS: readonly (IntentMatch & { readonly tests: readonly RegExp[] })[] = [
  {
    intent: "access",
    weight: "deny",
    reason: "By its description it gives somebody wide rights",
    tests: [RIGHTS, RIGHTS_FOREIGN],
  },
  {
    intent: "defence",
    weight: "deny",
    reason: "By its description it opens what is closed",
    tests: [OPENS, OPENS_FOREIGN],
  },
  {
    intent: "traces",
    weight: "deny",
    reason: "By its description it removes what shows who did what",
    tests: [TRACES],
  },
  {
    intent: "outage",
    weight: "ask",
    reason: "By its description it stops many hosts or services at once",
    tests: [HALTS],
  },
  {
    intent: "remote_code",
    weight: "deny",
    reason: "By its description it runs what it downloads",
    tests: [REMOTE],
  },
];

/** Finds harmful intents in a description, by verb and object within one sentence. */
export function findIntents(text: string): IntentMatch[] {
  return text.slice(0, MAX_TEXT_LENGTH).split(/(?<=[.!?;])\s+|\n+|。/).slice(0, MAX_SENTENCES)
    .filter((sentence) => !isNegated(sentence))
    .flatMap((sentence) => [
      ...destruction(sentence),
      ...disarming(sentence),
      ...disclosure(sentence),
      ...malice(sentence),
      ...SIMPLE_INTENTS.filter(({ tests }) => tests.some((test) => test.test(sentence)))
        .map(({ tests: _, ...match }) => match),
    ]);
}

function destruction(sentence: string): IntentMatch[] {
  const phrase = findPair(sentence, DESTROY, VALUABLE, 8);
  if (!phrase) return [];
  const isBroad = has(sentence, BROAD);
  if (!has(phrase, MINOR)) {
    return [{
      intent: "destroys",
      weight: isBroad ? "deny" : "ask",
      reason: "By its description it removes data, disks, backups or hosts",
    }];
  }
  return isBroad && /backups?|sauvegarde|sicherung|yedek|copias/i.test(phrase)
    ? [{ intent: "destroys", weight: "ask", reason: "By its description it removes backups" }]
    : [];
}

function disarming(sentence: string): IntentMatch[] {
  const isTurnedOff = [...sentence.matchAll(TURNED_OFF)].some(([, what]) => has(what!, DEFENCE));
  if (!isTurnedOff && !findPair(sentence, DISARM, DEFENCE, 6)) return [];
  return [{
    intent: "defence",
    weight: "deny",
    reason: "By its description it turns off what protects, records or backs up",
  }];
}

function disclosure(sentence: string): IntentMatch[] {
  if (!findPair(sentence, SEND, CONFIDENTIAL, 10)) return [];
  return [{
    intent: "sends",
    weight: OUTSIDE.test(sentence) ? "deny" : "ask",
    reason: "By its description it hands out secrets or people's data",
  }];
}

function malice(sentence: string): IntentMatch[] {
  const tool = MALICE.exec(sentence);
  if (!tool || AGAINST.test(sentence.slice(0, tool.index))) return [];
  return [{
    intent: "access",
    weight: "deny",
    reason: "By its description it brings in what attackers use",
  }];
}

function isNegated(sentence: string): boolean {
  return /^\W*(?:do not|don't|never|ohne|no |ne pas|nicht)\b/i.test(sentence) &&
    sentence.length < MAX_NEGATED_LENGTH;
}

function has(text: string, list: RegExp): boolean {
  list.lastIndex = 0;
  const found = list.test(text);
  list.lastIndex = 0; // matchAll begins there, too
  return found;
}

/** After an object: "server logs" are logs, not a server. */
const COMPOUND = /^ (?:log|cache|session|temp|tmp)(?:s|files?)?(?![\p{L}\p{N}_-])/iu;

/** Returns the part of a sentence from a verb to an object, or the other way round, with at most some words between. */
function findPair(
  sentence: string,
  verbs: RegExp,
  objects: RegExp,
  maxWordsBetween: number,
): string | undefined {
  const positions = (list: RegExp) =>
    [...sentence.matchAll(list)].slice(0, MAX_MATCHES)
      .map((match) => [match.index, match.index + match[0].length] as const);
  const objectPositions = positions(objects);
  if (objectPositions.length === 0) return undefined;
  for (const [start, end] of positions(verbs)) {
    for (const [from, to] of objectPositions) {
      if (from < end && to > start) continue;
      const between = from >= end ? sentence.slice(end, from) : sentence.slice(to, start);
      const words = between.split(/[^\p{L}\p{N}'’_/-]+/u).filter(Boolean).length;
      if (words > maxWordsBetween) continue;
      const last = Math.max(end, to);
      const compound = COMPOUND.exec(sentence.slice(last))?.[0] ?? "";
      return sentence.slice(Math.min(start, from), last) + compound;
    }
  }
  return undefined;
}
