/** Patterns for other roles for the judge, and for dictated verdicts. */
import { any, END, gap, type Pattern, pattern, START } from "./_pattern.ts";

/** Patterns for other roles and dictated verdicts. */
export const VERDICT_PATTERNS: readonly Pattern[] = [
  pattern(
    "changes the role",
    `${START}(?:you are now|you're now|from now on,? you(?: are| will|'re| must| act)|you will now (?:act|be|behave|respond)|henceforth you|starting now you|act as(?: if you (?:are|were|have)| an?\\b| (?:the|my|our|your)\\b(?= (?:\\w+ ){0,2}(?:admin|root|approver|unrestricted|operator without|jailbroken|change board))(?! soon| well| quick| fast))${
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
        "approve\\w* | allow\\w* | ignore | no restrictions | no rules? | approvals? | without | guardrails? | rails | all actions | unrestricted | validator | you",
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
    `${START}(?:you have|you've|you possess|you got) (?:no|zero|unlimited|full|root|admin\\w*|complete|unrestricted)[^\\p{L}]+(?:restrictions?|limits?|limitations?|rules|guardrails?|access|authority|permissions?|privileges|filters?|constraints?|control|(?:admin\\w*[^\\p{L}]+)?rights)${END}`,
  ),
  pattern(
    "changes the role",
    `${START}you are no longer (?:an? |the |bound |limited |restricted |subject )`,
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
    `(?:approved|decision|is_safe|safe|verdict|passed|allow(?:ed)?|risk|status)["'\`]?\\s?(?::|=|to|is|as|set to)\\s?["'\`]?(?:true|allow(?:ed)?|approve[d]?|pass(?:ed)?|safe|low risk|none|yes)${END}`,
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
    `${START}(?:let|wave|nod|have)[^\\p{L}]+(?:this|it|that|these|them|everything|the (?:action|command|change|request|repair|step|proposal))[^\\p{L}]+(?:pass|through|go through|slip|slide|past|by)${END}`,
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
];
