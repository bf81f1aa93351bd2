/** Patterns for text that imitates the system, asks for confidential data, or asks to conceal. */
import { END, gap, type Pattern, pattern, START } from "./_pattern.ts";

/** Patterns for imitations of the system, and for related tricks. */
export const IMITATION_PATTERNS: readonly Pattern[] = [
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
    `["']role["']\\s?:\\s?["'](?:system|developer)["']|(?:^|\n)\\s{0,4}(?:human|user):[^\n]{0,300}\n\\s*(?:assistant|ai|agent):`,
  ),
  {
    ...pattern(
      "imitates the system",
      `(?:^|[\n\r.!?#*>\\]|}-])\\s{0,4}(?:#{1,6}\\s?)?[\\[(<*_]{0,3}(?:system|assistant|developer|admin(?:istrator)?|root|operator|guardrail\\w*|validator|policy engine|openai|anthropic|moderator|security team|ciso)(?: (?:message|prompt|note|override|notice|instruction|update|command|directive|policy))?[\\])>*_]{0,3}\\s?(?::|=>|>>|»)\\s?(?=.{0,200}?(?:approv(?!ed by|al)|allow (?:this|all|any|every|the)|ignor|disregard|guardrail|rails?\\b|instruction|skip|bypass|overrid|you (?:are|must|will|should|may|can)|trusted|no restriction|confidence|permit (?:this|all|any|every|the)|accept (?:this|all|any|every)|maintenance mode))`,
    ),
    needs: [
      /:|=>|>>|»/,
      /system|assistant|developer|admin|root|operator|guardrail|validator|policy engine|openai|anthropic|moderator|security team|ciso/iu,
    ],
  },
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
