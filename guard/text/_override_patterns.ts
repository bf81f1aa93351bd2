/** Patterns for orders to ignore orders, in many languages. */
import { any, END, gap, type Pattern, pattern, START } from "./_pattern.ts";

/** For each language: verbs for ignoring, words for orders, words for which orders. */
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

/** Patterns for orders to ignore orders. */
export const OVERRIDE_PATTERNS: readonly Pattern[] = [
  ...OVERRIDES.flatMap(([verbs, orders, which]): Pattern[] => {
    const needs = [orders, which].map((list) => new RegExp(any(list), "iu"));
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
    "overrides instructions",
    `${START}(?:(?:all )?(?:previous|prior|earlier|above|your|these|those) (?:instructions?|prompts?|directives?|guidelines|constraints|orders|rules)|(?:instructions?|directives?|guidelines|rules|orders) you (?:were|have been|got|are) (?:given|told)),? (?:are|is|were|have become) (?:now |all |hereby )?(?:outdated|obsolete|void|invalid|superseded|revoked|cancell?ed|replaced|null and void|no longer (?:valid|true|in force|relevant))${END}`,
  ),
  pattern(
    "overrides instructions",
    `${START}(?:disregard|disobey|missachte\\p{L}*) (?:the |this |that |any |all |die |alle |jede )?(?:polic(?:y|ies)|rules?|guidelines?|instructions?|governance|richtlinien?|regeln?|vorgaben?|anweisung(?:en)?)${END}`,
  ),
  pattern(
    "imitates the system",
    `${START}(?:begin|start|initiate|activate) (?:system|admin(?:istrator)?|root|security|emergency) override${END}`,
  ),
];
