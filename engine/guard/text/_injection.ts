/**
 * Text that is meant for whoever judges, not for whoever repairs: orders to ignore orders, other roles, dictated verdicts.
 * A ticket may report such text; to report is not to order (see {@linkcode isReported}).
 */

/** What such text tries. */
export type Trick =
  | "overrides instructions"
  | "changes the role"
  | "dictates the verdict"
  | "imitates the system"
  | "asks for what is confidential"
  | "asks to conceal";

interface Pattern {
  readonly trick: Trick;
  readonly test: RegExp;
  /** True where a sentence that reports it is harmless. */
  readonly reportable: boolean;
  /** Without each of these, it can't match; they are quicker. */
  readonly needs?: readonly RegExp[];
}

/** Up to `n` words in between. */
const gap = (n: number) => `(?:[^\\p{L}\\p{N}]+[\\p{L}\\p{N}'’-]+){0,${n}}?[^\\p{L}\\p{N}]+`;
const any = (words: string) => `(?:${words.trim().split(/\s*\|\s*/).join("|")})`;
const pattern = (trick: Trick, source: string, reportable = true): Pattern => ({
  trick,
  test: new RegExp(source, "giu"),
  reportable,
});
const START = "(?<![\\p{L}\\p{N}_])";
const END = "(?![\\p{L}\\p{N}_])";

/** Of each language: verbs that set orders aside, words for orders, words for which of them. */
const OVERRIDES: readonly (readonly [verbs: string, orders: string, which: string])[] = [
  [
    "ignore | ignoring | disregard | disregarding | forget | override | overrule | overwrite | bypass | neglect | discard | overlook | dismiss | drop | abandon | cancel | delete | erase | void | nullify | supersede | set aside | pay no attention to | do not follow | don't follow | don’t follow | do not obey | don't obey | stop following | stop obeying | do not comply with | not bound by | free from | throw away | leave behind | unlearn | reset | circumvent",
    "instructions? | prompts? | directives? | guidelines? | guardrails? | orders | programming | training | constraints | restrictions | safeguards? | safety rules | rules | commands | context | policies | limitations | told | directions | protocols | safety measures | safety checks | ethic\\w*",
    "previous | previously | prior | earlier | above | all | any | every | everything | preceding | foregoing | former | past | your | my | these | those | original | initial | system | safety | security | existing | developer | current | old | other | internal | built-in | hidden | whatever | given",
  ],
  [
    "ignorier\\w* | vergiss | vergessen | missacht\\w* | missachte | übergeh\\w* | überschreib\\w* | umgeh\\w* | lass\\w* | verwirf | beachte",
    "anweisung\\w* | instruktion\\w* | vorgabe\\w* | regel | regeln | richtlinie\\w* | befehl\\w* | aufforderung\\w* | prompt\\w* | schutzmaßnahme\\w* | sicherheitsregel\\w* | einschränkung\\w*",
    "vorherig\\w* | bisherig\\w* | alle | allen | obig\\w* | früher\\w* | vorig\\w* | deine\\w* | sämtliche\\w* | vorangegangen\\w* | ursprünglich\\w* | nicht",
  ],
  [
    "ignor\\w* | oubli\\w* | néglig\\w* | neglige\\w* | contourn\\w* | outrepass\\w* | désobéi\\w* | passe outre | ne tiens pas compte | ne tenez pas compte | fais abstraction | faites abstraction | annule\\w*",
    "instruction\\w* | consigne\\w* | directive\\w* | règle\\w* | regle\\w* | ordre | ordres | prompt | politique\\w* | garde-fous? | restriction\\w*",
    "précédent\\w* | precedent\\w* | antérieur\\w* | toutes | tous | ci-dessus | tes | vos | ta | ton | initiale\\w* | système | sécurité | reçue\\w*",
  ],
  [
    "ignor\\w* | olvid\\w* | descart\\w* | omit\\w* | pasa por alto | haz caso omiso | haga caso omiso | no sigas | anul\\w* | elud\\w* | desobedec\\w* | salt\\w*",
    "instrucci\\w* | indicaci\\w* | regla\\w* | orden | órdenes | ordenes | directriz | directrices | directiva\\w* | restricci\\w* | prompt | salvaguard\\w* | normas | polític\\w*",
    "anterior\\w* | previa\\w* | previo\\w* | todas | todos | tus | sus | de arriba | precedente\\w* | del sistema | de seguridad | iniciales | cualquier",
  ],
  [
    "ignor\\w* | dimentic\\w* | trascur\\w* | scorda\\w* | aggira\\w* | non seguire | tralascia\\w* | annulla\\w*",
    "istruzion\\w* | regol\\w* | direttiv\\w* | ordin\\w* | comand\\w* | prompt | restrizion\\w* | indicazion\\w* | politic\\w*",
    "precedent\\w* | tutte | tutti | tue | tuoi | sopra | anterior\\w* | sistema | ricevut\\w* | sicurezza",
  ],
  [
    "ignor\\w* | esqueç\\w* | esquec\\w* | desconsider\\w* | descart\\w* | contorn\\w* | não siga\\w* | desobedeç\\w* | anul\\w*",
    "instruç\\w* | instruc\\w* | regra\\w* | ordens | diretriz\\w* | comando\\w* | restriç\\w* | prompt | orientaç\\w* | polític\\w*",
    "anterior\\w* | prévia\\w* | todas | todos | suas | seus | acima | do sistema | segurança | precedente\\w*",
  ],
  [
    "negeer\\w* | vergeet | omzeil\\w* | sla | overschrijf | overtreed | volg",
    "instructie\\w* | aanwijzing\\w* | opdracht\\w* | regels | richtlijn\\w* | bevel\\w* | prompt\\w* | beperking\\w*",
    "eerder\\w* | vorig\\w* | alle | bovenstaande | voorgaande | jouw | je | uw | niet | voorafgaande",
  ],
  [
    "yok say\\w* | yoksay\\w* | görmezden gel\\w* | unut\\w* | dikkate alma\\w* | boş ver\\w* | göz ardı et\\w* | gözardı et\\w* | geçersiz kıl\\w* | uyma\\w* | aldırma\\w* | atla\\w* | iptal et\\w* | es geç\\w*",
    "talimat\\w* | yönerge\\w* | komut\\w* | kural\\w* | emir\\w* | emr\\w* | istem\\w* | kısıtlama\\w* | prompt\\w* | direktif\\w* | politika\\w*",
    "önceki | tüm | bütün | yukarıdaki | daha önceki | verilen | sistem | senin | güvenlik | eski | mevcut | her | hiçbir | şimdiye",
  ],
  [
    "zignoruj\\w* | ignoruj\\w* | pomiń\\w* | zapomnij\\w* | nie przestrzegaj | odrzuć | obejdź | zlekceważ",
    "instrukcj\\w* | polece\\w* | zasad\\w* | reguł\\w* | wytyczn\\w* | rozkaz\\w* | prompt\\w* | ograniczeń",
    "poprzedni\\w* | wszystki\\w* | wcześniejsz\\w* | powyższ\\w* | swoje | twoje | systemow\\w* | dotychczasow\\w*",
  ],
  [
    "игнориру\\w* | проигнорируй\\w* | забудь\\w* | забыть | отбрось\\w* | не следуй\\w* | пренебреги\\w* | обойди\\w* | отмени\\w* | не обращай внимания | нарушь",
    "инструкци\\w* | указани\\w* | правил\\w* | команд\\w* | приказ\\w* | директив\\w* | промпт\\w* | ограничени\\w*",
    "предыдущ\\w* | все | всех | прежни\\w* | прошлы\\w* | вышеуказанн\\w* | твои | свои | ваши | системн\\w* | выше | любые",
  ],
  [
    "ігноруй\\w* | проігноруй\\w* | забудь\\w* | відкинь",
    "інструкці\\w* | вказівк\\w* | правил\\w* | команд\\w* | наказ\\w*",
    "попередн\\w* | всі | усі | твої | ваші",
  ],
  [
    "ignoruj\\w* | zapome\\w* | zapomeň\\w* | nedbej | přehlédni",
    "pokyn\\w* | instrukc\\w* | pravid\\w* | příkaz\\w*",
    "předchozí\\w* | všechn\\w* | veškeré | dosavadní | své",
  ],
  [
    "ignorera | glöm | bortse från | strunta i | ignorer | glem | se bort fra | tilsidesæt | overse",
    "instruktion\\w* | anvisning\\w* | instruks\\w* | regler\\w* | ordrer | direktiv\\w*",
    "tidigare | alla | föregående | dina | tidligere | alle | foregående | forrige | dine | ovenstående",
  ],
  [
    "ohita | unohda | jätä huomiotta | älä noudata",
    "ohje\\w* | käsky\\w* | sään\\w* | määräy\\w*",
    "aiemm\\w* | aikaisemm\\w* | kaikki | edelli\\w* | edellä",
  ],
  [
    "ignoră | ignora | ignorați | uită | uitați | nu respecta",
    "instrucțiun\\w* | instructiun\\w* | reguli\\w* | ordine\\w* | indicați\\w*",
    "anterioare | precedente | toate | tale | de mai sus",
  ],
  [
    "hagyd figyelmen kívül | felejtsd el | ne kövesd | hagyj figyelmen kívül",
    "utasítás\\w* | szabály\\w* | parancs\\w*",
    "korábbi | előző | összes | minden | eddigi",
  ],
  [
    "abaikan | lupakan | jangan ikuti | langgar",
    "instruksi | perintah | aturan | arahan",
    "sebelumnya | semua | di atas | seluruh",
  ],
  [
    "bỏ qua | quên | phớt lờ | đừng tuân",
    "hướng dẫn | chỉ thị | quy tắc | lệnh",
    "trước | tất cả | mọi | trên",
  ],
  [
    "αγνόησε | αγνοήστε | ξέχασε | ξεχάστε | παράβλεψε",
    "οδηγίες | εντολές | κανόνες | οδηγιών",
    "προηγούμενες | όλες | όλους | παραπάνω",
  ],
  [
    "अनदेखा | नज़रअंदाज़ | नजरअंदाज | भूल | उपेक्षा",
    "निर्देश\\S* | निर्देशों | नियम\\S* | आदेश\\S*",
    "पिछले | सभी | पूर्व | ऊपर",
  ],
  [
    "تجاهل\\S* | انس | انسى | تجاوز | لا تتبع | أهمل",
    "التعليمات | تعليمات | الأوامر | أوامر | القواعد | التوجيهات | الإرشادات",
    "السابقة | جميع | كل | أعلاه | كافة",
  ],
  [
    "התעלם | התעלמי | שכח | תשכח | התעלמו",
    "ההוראות | הוראות | הכללים | ההנחיות",
    "הקודמות | כל | הקודמים | לעיל",
  ],
  [
    "نادیده | فراموش | بی‌توجه",
    "دستورات | دستورالعمل\\S* | دستور\\S* | قوانین",
    "قبلی | تمام | همه | پیشین",
  ],
];

const PATTERNS: readonly Pattern[] = [
  ...OVERRIDES.flatMap(([verbs, orders, which]): Pattern[] => {
    const needs = [verbs, orders, which].map((list) => new RegExp(any(list), "iu"));
    const forms = [
      `${START}${any(verbs)}${gap(4)}${any(which)}${gap(4)}${any(orders)}${END}`,
      `${START}${any(verbs)}${gap(3)}${any(orders)}${gap(4)}${any(which)}${END}`,
      `${START}${any(which)}${gap(4)}${any(orders)}${gap(4)}${any(verbs)}`, // where the verb comes last
    ];
    const used = /yok say|अनदेखा|نادیده|ohita/.test(verbs) ? forms : forms.slice(0, 2);
    return used.map((form) => ({ ...pattern("overrides instructions", form), needs }));
  }),
  pattern(
    "overrides instructions",
    `${START}${
      any("ignore | disregard | forget")
    }[^\\p{L}]+(?:all |everything |anything |whatever |what )?(?:that )?(?:the |is |was |came |comes |written |said |stated )*${
      any(
        "above | before | before this | so far | until now | up to now | preceding | you know | you were told | you've been told | you have been told | you learned | you were taught | prior",
      )
    }${END}`,
  ),
  pattern(
    "overrides instructions",
    `${START}(?:忽略|无视|無視|忘记|忘掉|忘記|不要理会|不要遵守|跳过|绕过)[^。；\n]{0,20}(?:指令|指示|说明|提示|规则|命令|限制|要求|政策)`,
  ),
  pattern(
    "overrides instructions",
    `(?:之前|以前|以上|上述|所有|先前)[^。；\n]{0,12}(?:指令|指示|规则|提示词)[^。；\n]{0,10}(?:无效|作废|忽略|取消|无视)`,
  ),
  pattern(
    "overrides instructions",
    `(?:指示|命令|指令|ルール|規則|プロンプト|制約)[^。\n]{0,16}(?:無視|忘れ|破棄|従わない|無効)`,
  ),
  pattern(
    "overrides instructions",
    `(?:지시|명령|규칙|지침|프롬프트|제한)[^.\n]{0,16}(?:무시|잊|따르지|무효)`,
  ),
  pattern("overrides instructions", `(?:เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ)[^\n]{0,24}(?:คำสั่ง|คำแนะนำ|กฎ)`),
  pattern(
    "overrides instructions",
    `${START}(?:new|updated|real|actual|true|revised|overriding|final|secret|hidden) (?:system |developer |admin )?(?:instructions?|directives?|prompt|orders)\\s?(?::|=|are|follow|for (?:you|the (?:assistant|model|agent|validator)))`,
  ),
  pattern(
    "overrides instructions",
    `${START}(?:bypass|disable|deactivate|override|switch off|turn off|suspend|skip|evade|circumvent|ignore|remove|lift|suppress|shut off)${
      gap(4)
    }(?:guard ?rails?|safety (?:checks?|rails?|filters?|polic\\w+|systems?|protocols?|measures?|validation)|safeguards?|content filters?|policy (?:checks?|engine|validation)|(?:validation|approval|review|safety) (?:checks?|rails?|steps?|gates?)|security (?:checks?|polic\\w+|validation)|restrictions|execution bounds|fact[- ]?check\\w*|human (?:approval|review)|input safety)${END}`,
  ),
  pattern(
    "overrides instructions",
    `${START}(?:guard ?rails?|safety (?:checks?|filters?|rails?)|safeguards?|restrictions|all rails|polic(?:y|ies)|approval)${
      gap(3)
    }(?:are|is|have been|has been|were|must be|should be|can be)${
      gap(2)
    }(?:considered (?:passed|green|met)|passed|ignored|disabled|suspended|off|lifted|void|no longer (?:valid|in force|active)|overridden|waived|bypassed|deactivated|not needed|not required|unnecessary)${END}`,
  ),
  pattern(
    "changes the role",
    `${START}(?:you are now|you're now|from now on,? you(?: are| will|'re| must| act)|you will now (?:act|be|behave|respond)|henceforth you|starting now you|act as(?: if you (?:are|were|have)| an?\\b(?! soon| well| quick| fast))${
      gap(4)
    }(?:ai|assistant|model|bot|admin\\w*|root|hacker|developer|unrestricted|evil|dan|god|system|linux terminal|terminal|approver|agent|jailbroken|operator)|pretend (?:to be|that you|you are|you're|there are no)|role-?play as|imagine you (?:are|have no)|simulate being|assume the (?:role|identity|persona)|behave as (?:if|an?))`,
  ),
  pattern(
    "changes the role",
    `${START}(?:do anything now|jail ?break(?:ed|en)?(?: mode)?|developer mode|god mode|debug mode|maintenance mode|sudo mode|unrestricted mode|dan mode|admin(?:istrator)? mode|root mode|override mode|unfiltered|uncensored|test mode|training mode|permissive mode|evil mode|opposite mode)[^\\p{L}\\p{N}]{1,3}(?:(?:is |has been |was |now |: ?|= ?)*(?:enabled|active|activated|on|engaged|unlocked|true|initiated)${END}|you |approve|no )`,
  ),
  pattern(
    "changes the role",
    `${START}(?:enable|enter|activate|switch (?:to|into)|engage|unlock|turn on|go into|initiate)${
      gap(2)
    }(?:developer|god|dan|jailbreak|unrestricted|admin|root|override|sudo|debug|maintenance|permissive|bypass|unsafe)[^\\p{L}]mode${END}.{0,160}?${
      any(
        "approve\\w* | allow\\w* | ignore | no restrictions | without | guardrails? | rails | all actions | unrestricted | validator | you",
      )
    }`,
  ),
  pattern(
    "changes the role",
    `${START}(?:without|no|zero|free (?:of|from))${
      gap(1)
    }(?:any )?(?:restrictions?|limitations?|filters?|guidelines|ethic\\w*|moral\\w*|censorship|safety (?:rules|guidelines)|rules)${
      gap(4)
    }(?:you|assistant|ai|model|apply|mode|answer|respond|approve)`,
  ),
  pattern(
    "changes the role",
    `${START}(?:you have|you've|you possess|you got) (?:no|zero|unlimited|full|root|admin\\w*|complete|unrestricted)[^\\p{L}]+(?:restrictions?|limits?|limitations?|rules|guardrails?|access|authority|permissions?|privileges|filters?|constraints?|control)${END}`,
  ),
  pattern(
    "changes the role",
    `${START}(?:du bist (?:jetzt|nun|ab sofort)|ab (?:jetzt|sofort) bist du|tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)|ahora eres|a partir de ahora (?:eres|actúa|actua)|eres ahora|adesso sei|ora sei|da ora in poi sei|agora você é|você agora é|a partir de agora você|artık sen|sen artık|bundan sonra sen|şu andan itibaren|je bent nu|vanaf nu ben je|jesteś teraz|od teraz jesteś|teraz jesteś|ты теперь|теперь ты|вы теперь|с этого момента ты|你现在是|从现在起你|从现在开始，?你|あなたは今から|これからあなたは|당신은 이제|이제부터 당신은|أنت الآن|من الآن فصاعدا)`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:approve|allow|permit|accept|authori[sz]e|greenlight|green-light|rubber-?stamp|whitelist|pass)${
      gap(3)
    }(?:this|the|all|any|every|everything|anything|each|following|proposed|subsequent|future|attached|my|whatever)${
      gap(3)
    }(?:actions?|commands?|requests?|deletes?|deletions?|remediations?|repairs?|steps?|rails?|checks?|operations?|changes? without|it without|asked)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:approve|allow|permit|accept|authori[sz]e) (?:it|this|that|everything|anything|all|immediately|automatically|unconditionally|without|at once|right away|the deletion)${END}.{0,60}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:always|just|simply|only|must|please|immediately|now|then|and|to)[^\\p{L}]+(?:approve|return allow|answer allow|say allow|respond(?: with)? (?:allow|approved?|yes|ok)|output (?:allow|approved))${END}`,
  ),
  pattern(
    "dictates the verdict",
    `["'\`{\\s]?(?:approved|decision|is_safe|safe|verdict|passed|allow(?:ed)?|risk|status)["'\`]?\\s?(?::|=|to|is|as|set to)\\s?["'\`]?(?:true|allow(?:ed)?|approve[d]?|pass(?:ed)?|safe|low risk|none|yes)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:return|output|respond|answer|reply|print|emit|produce|say|write|give|issue|report|set|mark|classify|rate|label|treat|consider|score|flag|deem|regard|count|declare)${
      gap(6)
    }(?:approved|allow|allowed|safe|harmless|benign|low[- ]risk|passed|pass|trusted|approval|compliant|non-?destructive|no risk|green|confidence (?:of |= ?|to )?(?:1|0?\\.9\\d*|100))${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:do not|don't|don’t|never|no need to|must not|without|refrain from|stop|avoid)${
      gap(3)
    }(?:flag\\w*|block\\w*|den(?:y|ying)|reject\\w*|evaluat\\w*|validat\\w*|question\\w*|scrutini\\w*|analy[sz]\\w*|inspect\\w*|refus\\w*|object\\w*)${
      gap(4)
    }(?:this|it|action|request|command|anything|rails?|verdict)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:all|every|any|each|these|following|subsequent|future|the (?:following|next)|this)${
      gap(3)
    }(?:actions?|commands?|requests?|operations?|remediations?)${
      gap(2)
    }(?:are|is|were|was|have been|has been|must be|should be|will be|shall be|can be)${
      gap(2)
    }(?:pre-?approved|approved|allowed|trusted|whitelisted|authori[sz]ed|safe|exempt\\w*|verified|permitted|auto-?approved)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:skip|omit|no need for|without|exempt\\w* from|waive|forgo|not require|does not need|doesn't need|needs no|requires no)${
      gap(3)
    }(?:validation|guard ?rails?|the rails|vetting|safety (?:check|review)\\w*|human (?:approval|review)|manual (?:approval|review)|verification by|policy check\\w*|any (?:approval|checks?|review))${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:genehmig\\w*|erlaub\\w*|freigeben|gib)${
      gap(4)
    }(?:aktion\\w*|befehl\\w*|alles|anfrage\\w*|sofort|frei)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:approuv\\w*|autoris\\w*|valid(?:e|ez))${
      gap(4)
    }(?:action\\w*|commande\\w*|tout|toutes|requête\\w*|demande\\w*)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:aprueb\\w*|autoriz\\w*|aprob\\w*|permit(?:e|a)|approva\\w*|autorizz\\w*|aprov[ea]\\w*)${
      gap(4)
    }(?:acci[oó]n\\w*|comando\\w*|todo|toda|todas|tutto|tutte|azion\\w*|aç(?:ão|ões)|tudo|solicitud\\w*|operaci\\w*)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `(?:işlem\\w*|eylem\\w*|komut\\w*|her şey\\w*|hepsini|talep\\w*)${
      gap(2)
    }(?:onayla\\w*|izin ver\\w*|kabul et\\w*)|${START}(?:keur|sta)${
      gap(4)
    }(?:goed|toe)${END}|${START}(?:zatwierdź|одобри\\w*|разреши\\w*|подтверди\\w*|схвали|schval\\w*|godkänn|godkend|godkjenn|hyväksy)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `(?:批准|通过|允许|同意)[^。\n]{0,8}(?:操作|请求|命令|动作|一切|所有)|(?:アクション|操作|要求|コマンド|すべて)[^。\n]{0,6}(?:承認|許可)|(?:작업|요청|명령|모두|모든)[^.\n]{0,12}(?:승인|허용)|(?:وافق|اسمح|الموافقة)[^.\n]{0,20}(?:الإجراء|إجراء|الأمر|كل|شيء)`,
  ),
  pattern(
    "imitates the system",
    `<\\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\\|?>|\\[/?(?:INST|SYS)\\]|<</?SYS>>|<(?:start|end)_of_turn>|</?s>\\s?\\[|\\{\\{#?(?:system|user|assistant)|<\\|(?:channel|message|return|call)\\|>`,
    false,
  ),
  pattern(
    "imitates the system",
    `</?(?:system(?:[_-]?(?:prompt|message|instructions?|override))?|assistant|instructions?|incident|developer|guardrails?|admin[_-]?(?:override|message)?|important|secret|policy(?:_override)?|verdict|tool_(?:result|call|response|output)|function_(?:results?|calls?)|thinking|context|user_(?:input|message))(?:\\s[^<>]{0,60})?>`,
    false,
  ),
  pattern(
    "imitates the system",
    `(?:^|[\n\r.!?#*>\\]|}-])\\s{0,4}(?:#{1,6}\\s?)?[\\[(<*_]{0,3}(?:system|assistant|developer|admin(?:istrator)?|root|operator|guardrail\\w*|validator|policy engine|openai|anthropic|moderator|security team|ciso)(?: (?:message|prompt|note|override|notice|instruction|update|command|directive|policy))?[\\])>*_]{0,3}\\s?(?::|=>|>>|»)\\s?(?=.{0,200}?(?:approv(?!ed by|al)|allow (?:this|all|any|every|the)|ignor|disregard|guardrail|rails?\\b|instruction|skip|bypass|overrid|you (?:are|must|will|should|may|can)|trusted|no restriction|confidence|permit (?:this|all|any|every|the)|accept (?:this|all|any|every)|maintenance mode))`,
  ),
  pattern(
    "imitates the system",
    `(?:^|\n)\\s{0,4}(?:#{2,6}|={3,8}|-{3,8}|\\*{3,8})\\s?(?:system|new|updated|admin|developer|end of|begin|start|override|important|instruction)\\s?[\\p{L} ]{0,40}(?:prompt|instructions?|message|context|input|task|override|rules?|incident|ticket|data)?(?: update)?\\s?(?:#{2,6}|={3,8}|-{3,8}|\\*{3,8}|:)`,
  ),
  pattern(
    "imitates the system",
    `${START}(?:message|note|notice|instructions?|attention|hint|reminder|memo|order|directive)s? (?:to|for) (?:the |any |all |our |your )?(?:validator|guard ?rails?|ai|llm|model|assistant|language model|policy engine|reviewer model|automation|agent|bot|classifier|judge|approver|system reading|evaluator|engine)s?${END}`,
  ),
  pattern(
    "imitates the system",
    `${START}(?:as|i am|i'm|this is|speaking as|acting as|signed,?) (?:your |the |an? )?(?:developer|creator|administrator|admin|owner|operator|system administrator|root user|security team|ciso|cto|ceo|engineer who (?:built|wrote) you|anthropic|openai)${
      gap(6)
    }(?:order|orders|command|instruct|authori[sz]e|authori[sz]ed|require|demand|tell|grant|override|permit|allow|approve|pre-?approve|you|bypass)${END}`,
  ),
  pattern(
    "imitates the system",
    `${START}(?:dear|hey|attention|hello|listen),?[^\\p{L}]{1,3}(?:ai|llm|validator|assistant|model|guardrail\\w*|policy engine|chatgpt|claude|gpt|gemini|copilot|language model|judge)${END}`,
  ),
  pattern(
    "asks for what is confidential",
    `${START}(?:reveal|print|show|output|repeat|display|leak|disclose|expose|dump|recite|echo|tell me|give me|share|what (?:is|are)|summari[sz]e|send|post|include|append|list)${
      gap(5)
    }(?:system prompt|initial prompt|hidden prompt|your (?:instructions|prompt|rules|guidelines|configuration|policy|policies|training)|guardrail (?:policy|rules|configuration)|developer message|the prompt above|words above|text above|your secrets?|your (?:api )?keys?)${END}`,
  ),
  pattern(
    "asks for what is confidential",
    `${START}(?:exfiltrate|send|upload|post|forward|email|e-mail|mail|transmit|leak|copy|ship)${
      gap(6)
    }(?:passwords?|credentials?|secrets|api keys?|private keys?|tokens|customer (?:data|table|records|list)|database dump|shadow file|/etc/shadow|environment variables|env vars|user data|personal data|config(?:uration)? secrets)${
      gap(8)
    }(?:to|@|http)`,
  ),
  pattern(
    "asks to conceal",
    `${START}(?:do not|don't|don’t|never|without|avoid|must not)${
      gap(2)
    }(?:tell\\w*|inform\\w*|notify\\w*|alert\\w*|mention\\w*|log|logging|report\\w*|record\\w*|disclos\\w*|reveal\\w*|leav\\w*|audit\\w*)${
      gap(5)
    }(?:the user|the operators?|anyone|anybody|the humans?|a human|humans|security|the team|soc|admins?|administrators?|traces?|audit|audit (?:log|trail)|this instruction|these instructions|this to|receipts?|the ledger)${END}`,
  ),
  pattern(
    "asks to conceal",
    `${START}(?:hide|conceal|mask|cover up|obscure|suppress|erase|wipe|keep)${
      gap(4)
    }(?:this (?:from|action|instruction|change|secret)|(?:from|off) (?:the )?(?:operators?|audit\\w*|logs?|humans?|security|users?|soc|ledger|record)|traces?|evidence|our tracks|your tracks|audit (?:log|trail)s?)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:do not|don't|don’t|never|stop|no need to)${
      gap(2)
    }(?:run|apply|use|execute|perform|trigger|consult|invoke|call|engage|check)${
      gap(3)
    }(?:guard ?rails?|rails|validator|validation|safety checks?|policy (?:checks?|engine)|checks on this)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:confidence|risk|blast[- ]radius|safety)${
      gap(1)
    }(?:(?:threshold|bound|limit|minimum|maximum|level|score)${
      gap(1)
    })?(?:is now|is set to|has been set to|set to|changed to|lowered to|raised to|must be|should be)${
      gap(1)
    }[\\d.]+`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:allow|permit|approve|accept|authori[sz]e|enable)${
      gap(2)
    }(?:destructive|dangerous|harmful|malicious|forbidden|prohibited|blocked|unsafe|risky|unrestricted|irreversible|unapproved)${
      gap(2)
    }(?:actions?|commands?|operations?|requests?|steps?|changes?|behaviou?r)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:approve|allow|permit|accept|trust|authori[sz]e|execute|obey)${
      gap(1)
    }(?:whatever|everything|anything|(?:all|any|every|each)(?:${
      gap(1)
    }(?:commands?|actions?|requests?|instructions?|messages?|input|output)))${END}`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:(?:have|has|had|been|are|is|were|hereby)${
      gap(1)
    })?(?:granted|given|delegated|authori[sz]ed|empowered|entitled|instructed|ordered|told)${
      gap(5)
    }(?:skip|bypass|override|waive|ignore|forgo|omit)${
      gap(3)
    }(?:approvals?|checks?|reviews?|validations?|rails?|guard ?rails?|rules|polic(?:y|ies))${END}`,
  ),
  pattern(
    "imitates the system",
    `(?:[*#=~_<>\\[-]{2,8}|^|\n|[.!?]\\s)\\s{0,3}(?:end|begin(?:ning)?|start|close) (?:of )?(?:the )?(?:user |incident |ticket |untrusted )?(?:incident|ticket|input|prompt|context|data|message|instructions?|description|report)\\s{0,3}(?:[*#=~_<>\\]-]{2,8}|[.:]|\n)`,
  ),
  pattern(
    "imitates the system",
    `${START}new (?:system|developer|admin\\w*) (?:message|prompt|directive|policy|instruction|order|rule)s?${END}`,
  ),
  pattern(
    "overrides instructions",
    `${START}(?:contourn|désactiv|desactiv|ignor|saut(?:e|ez)|umgeh|deaktivier|überspring|ignorier|schalte|omit|elud|salt[ae]|disattiv|desativ|pul[ae]|aggira|omzeil|negeer|skip|обойди|отключ|пропусти|игнор|pomiń|wyłącz)\\p{L}*${
      gap(4)
    }(?:garde-?fous?|contrôles? de sécurité|vérifications?|validation|barreras? de seguridad|controles? de seguridad|verificaci\\p{L}+|comprobaci\\p{L}+|aprobaci\\p{L}+|sicherheits(?:prüfung|kontroll|check|maßnahm|regel)\\p{L}*|schutz(?:mechanism|maßnahm|regel)\\p{L}*|leitplanken|prüfung(?:en)?|freigabe\\p{L}*|controlli(?: di sicurezza)?|verifich\\p{L}+|verificaç\\p{L}+|controles de segurança|veiligheidscontrol\\p{L}*|проверк\\p{L}*|защит\\p{L}*|ограничени\\p{L}*|zabezpiecze\\p{L}+|kontrol\\p{L}+)${END}`,
  ),
  pattern(
    "overrides instructions",
    `(?:güvenlik|onay|doğrulama|denetim|koruma)[^.!?\n]{0,30}[^\\p{L}](?:atla|devre dışı|kapat|yok say|es geç|görmezden)`,
  ),
  pattern(
    "overrides instructions",
    `(?:忽略|绕过|跳过|关闭|无视|禁用|無視|無効|スキップ|건너|무시|비활성)[^。\n]{0,10}(?:安全|审核|審査|策略|检查|验证|护栏|ガードレール|確認|検証|보안|안전|검증|승인)|(?:安全|审核|ガードレール|検証|확인|안전|검증)[^。\n]{0,10}(?:を無視|をスキップ|を無効|무시|건너뛰)|无需(?:审核|批准|验证|确认)`,
  ),
  pattern(
    "dictates the verdict",
    `${START}(?:sans|sin|ohne|senza|sem|zonder|bez|без|utan|uden)${gap(1)}(?:\\p{L}+${
      gap(1)
    })?(?:vérifi\\p{L}+|contrôl\\p{L}+|demander|approbation|preguntar|verific\\p{L}+|revis\\p{L}+|aprobaci\\p{L}+|comprob\\p{L}+|prüf\\p{L}+|rückfrag\\p{L}+|freigabe|genehmigung|controll\\p{L}+|chiedere|approvazione|perguntar|aprovação|controle|vragen|pytania|sprawdz\\p{L}+|проверк\\p{L}+|вопрос\\p{L}+|fråga)${END}`,
  ),
  pattern(
    "dictates the verdict",
    `(?:sormadan|kontrol etmeden|doğrulamadan|onay almadan|incelemeden|sorgulamadan)`,
  ),
];

/** Squeezed forms, for text whose spaces are no guide. */
const SQUEEZED =
  /ignore(?:all|any|the|your|every)?(?:previous|prior|above|earlier|preceding|safety|system)?(?:instruction|prompt|guardrail|directive|guideline)|disregard(?:all|any|the|your)?(?:previous|prior|above|earlier|safety|system)?(?:instruction|prompt|guardrail|rule|directive|polic)|forget(?:all|everything)?(?:previous|prior|your)instruction|approvethisaction|approvedtrue|bypass(?:all|the)?(?:guardrail|safety)|youarenow(?:dan|unrestricted|in)|systemprompt.{0,20}reveal/;

const REPORTS =
  /(?<![\p{L}])(?:report\w*|contain\w*|includ\w*|payload|attempt\w*|tried|tries|trying|block\w*|detect\w*|quarantin\w*|caught|flagged|said|says|sent|sends|typed|wrote|writes|posted|printed|prints|prompt[- ]injections?|injections?|jailbreaks?|phishing|pen-?test\w*|red[- ]team\w*|researchers?|attackers?|chat ?bots?|the bot|copilot|waf|signature|rule|payloads?|example|sentence|phrase|string|text|words|message|mails?|e-?mails?|comment|submitted|reads|reading|titled|subject|logged|observed|seen|saw|noticed|shows?|caused|answers?|answered|replied|responded|escape|trick\w*|manipulat\w*|spam|abuse|meldet|gemeldet|enthält|enthielt|blockiert|signalé|contient|contenait|bloqué|reporta|contiene|contenía|bloquead\w*|bildirdi|içeriyor|engellendi)(?![\p{L}])/iu;
const QUOTES = /["“”„«»‘’`'「」『』]/;

/** Without a word of this, a mode is one of the thing that the ticket is about. */
const STEERS =
  /(?<![\p{L}])(?:approv|allow|permit|guard ?rail|rails|restrict|you|ignore|safety|filter|polic|command|unrestricted|valid|confidence|accept|trust)/iu;

/** A trick that was found, and where. */
export interface Found {
  readonly trick: Trick;
  /** The sentence reports it, and doesn't order it. */
  readonly reported: boolean;
}

/**
 * Looks for text that is meant to steer whoever judges.
 *
 * @param text as read, not longer than some ten thousand characters
 * @param mayReport whether this text is one that reports: an incident does, an action doesn't
 */
export function tricksIn(text: string, mayReport: boolean): Found[] {
  const found: Found[] = [];
  let looked: Pattern["needs"];
  let may = true;
  for (const { trick, test, reportable, needs } of PATTERNS) {
    if (needs !== looked) { // patterns of one language share theirs
      looked = needs;
      may = !needs?.some((one) => !one.test(text));
    }
    if (!may) continue;
    test.lastIndex = 0;
    for (let match = test.exec(text), n = 0; match && n < 8; match = test.exec(text), n++) {
      if (match[0] === "") test.lastIndex++;
      const reported = mayReport && reportable && isReported(text, match.index, match[0]);
      if (trick === "changes the role" && /\bmode\b/i.test(match[0]) && !STEERS.test(text)) {
        continue;
      }
      if (trick === "dictates the verdict" && isOrdinary(text, match.index, match[0])) continue;
      found.push({ trick, reported });
      if (!reported) break;
    }
  }
  if (found.length === 0 && SQUEEZED.test(text.toLowerCase().replace(/[^a-z]+/g, ""))) {
    if (!/\s/.test(text.trim()) || /(?:\b\w\b\W+){8}/.test(text)) {
      found.push({ trick: "overrides instructions", reported: false });
    }
  }
  return found;
}

/** Before a verb: somebody can't, or a control of a program is named. */
const UNABLE =
  /(?:cannot|can't|can not|could not|couldn't|unable to|able to|fails? to|failed to|tries to|trying to|button|menu|option|clicks?|clicked|refuses? to)\W{0,4}$/i;

/** What people write of approvals and states without meaning the verdict: in the past, by a board, of a thing that isn't the action. */
function isOrdinary(text: string, at: number, match: string): boolean {
  const around = text.slice(Math.max(0, at - 60), at + match.length + 40).toLowerCase();
  if (
    /\b(to approve or|please approve or deny|awaiting|waiting for approval|before approving)\b/
      .test(around)
  ) return true;
  const said = text.slice(Math.max(0, at - 40), at);
  if (UNABLE.test(said)) return !/\byou\b/i.test(said);
  if (
    /^(status|risk|passed|safe)["'`]?\s?[:=]/i.test(match.trim()) &&
    !/approv|guardrail|rail|verdict|ignore/.test(around)
  ) return true;
  return /\b(security group|firewall|acl|traffic|port|ip|connections?|packets?|cors|origin|headers?|health ?checks?|tests?|build|pipeline)\b/
    .test(match.toLowerCase()) && !/approv|guardrail|verdict|rails/.test(around);
}

/** Whether the sentence around a match speaks of such text: quoted and introduced, or told of a third person. */
export function isReported(text: string, at: number, match: string): boolean {
  const before = sentenceBefore(text, at);
  const after = text.slice(at + match.length, at + match.length + 160);
  if (
    /\b(?:approve|approved|allow this|this action|guardrail|validator|rails?\b|confidence|decision|execute|run the|delete|drop the)\b/i
      .test(match) && !/\b(?:bot|chat ?bot|model|llm|assistant|copilot)\b/i.test(before)
  ) {
    return false;
  }
  const near = `${before} ${after.split(/[.!?\n]/)[0]}`;
  if (!REPORTS.test(near)) return false;
  const opening = Math.max(
    ...['"', "“", "„", "«", "‘", "`", "'", "「", "『"].map((quote) => before.lastIndexOf(quote)),
  );
  const quoted = opening >= 0 && before.length - opening < 90 && QUOTES.test(after.slice(0, 90));
  if (quoted) return REPORTS.test(before.slice(0, opening)) || REPORTS.test(after);
  const told =
    /(?:\bto|\bthat|\binto|\bby|\bwith|\bof|\bcould|\bcan|\bwould|\bwas made to)\s+(?:\w+\s+){0,3}$/i
      .test(before) || /^(?:ignoring|disregarding|bypassing)/i.test(match);
  return told && !/\b(?:you|your|please|must|i want|we want|need)\b[^.!?]{0,40}$/i.test(before) &&
    /\b(?:bot|chat ?bot|model|llm|assistant|copilot|attackers?|users?|customers?|injections?|jailbreaks?|prompt|attempts?)\b/i
      .test(before);
}

function sentenceBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 200), at);
  const end = Math.max(
    before.lastIndexOf(". "),
    before.lastIndexOf("\n"),
    before.lastIndexOf("! "),
    before.lastIndexOf("? "),
  );
  return before.slice(end + 1);
}
