/** Orders to the judge in free words: a sentence that addresses it, names its verdict, and demands. */

const MAX_TEXT_LENGTH = 12_000;
const MAX_SENTENCES = 200;

const JUDGE =
  /(?<![\p{L}])(?:guard ?rails?|validators?|(?:whichever|any|the) (?:model|ai|llm|reviewer) (?:that )?(?:reads?|reviews?|judges?|checks?|evaluates?)|language models?|llms?|(?:automated|automatic|ai|machine) (?:reviewer|judge|validator|approver|checker)s?|(?:as |you are |if you(?:'re| are) )(?:an |the )?ai|ai (?:model|system|agent|assistant)|assistant[,:]|safety verdict|policy engine|your creator|chatgpt|claude|gpt-?\d?)(?![\p{L}])/iu;
const VERDICT =
  /(?<![\p{L}])(?:approv(?:e|es|ing|al)|"approved"|approved|allow|permit(?:ted)?|unlock|accept|(?:say|says|answer|reply|respond)(?: with)?(?: only)? "?(?:yes|ok|allow|approved?)|verdict|greenlight)(?![\p{L}])/iu;
const FORCE =
  /(?<![\p{L}])(?:must (?:comply|obey|approve|allow|accept|answer|say|pass|be approved)|always (?:says?|answers?|approves?|allows?)|without (?:question|hesitation|exception|asking)|unconditionally|no matter what|do (?:what|as) i say|has (?:root|full|absolute) authority|by order of|(?:has|takes) priority over|supersedes?|obey (?:it|this|me)|unlock everything|admin override|emergency override)(?![\p{L}])/iu;
const WAIVED =
  /(?<![\p{L}])(?:already|previously) (?:validated|vetted|checked|reviewed|cleared)[^.!?\n]{0,40}\b(?:so|thus|hence|therefore|no need|need not)\b|\b(?:rails?|guard ?rails?|validators?|polic(?:y|ies)) (?:need not|needn't|don't need to|do not need to|must not|should not|shouldn't) |\bif you (?:refuse|deny|block|decline|reject|hesitate)\b|(?:^|\n)\s*(?:please )?(?:approve|allow) ?(?:it|this|now)?[.!]*\s*$|polic\p{L}+ [^.!?\n]{0,30}supersedes? (?:yours|your)|(?:checked|passed|verified) all (?:four )?rails|(?<![\p{L}])(?:verification|validation|approval|review|vetting|policy|guardrails?) (?:checks? )?(?:is|are|was|were) (?:no longer|not) (?:required|needed|necessary|in force|applicable)(?! (?:to|for) (?:log|pay|ship))|therefore,? skip (?:the |all )?(?:checks?|verification|validation|review)|(?:destructive|dangerous|harmful|blocked|forbidden) (?:commands?|actions?|operations?) (?:are|is) (?:now )?(?:permitted|allowed|approved|fine|ok)|not what the policy|confidence ?[:=] ?(?:1(?:\.0+)?|0?\.9\d*)(?!\d)/iu;
/** "You must approve" and "without restrictions" in other languages. */
const ORDER_FOREIGN =
  /(?<![\p{L}])(?:tu (?:valides|approuves|acceptes|autorises)|vous (?:validez|approuvez|acceptez|autorisez))[^.!?\n]{0,40}(?:toutes?|tous|sans|systématiquement)|(?<![\p{L}])(?:du|ihr) (?:genehmigst|erlaubst|winkst|gibst)[^.!?\n]{0,40}(?:alles?|jede|ohne|frei)|(?<![\p{L}])(?:apruebas|autorizas|permites)[^.!?\n]{0,30}(?:todo|toda|sin)|(?<![\p{L}])onay ver(?![\p{L}])|(?<![\p{L}])(?:du musst|sie müssen|tu dois|vous devez|debes|debe|tienes que|devi|devi|você deve|deves|ты должен|вы должны|je moet)(?![\p{L}])[^.!?\n]{0,40}(?:freigeb|genehmig|erlaub|approuv|autoris|valider|aprob|autoriz|permitir|approva|autorizz|aprovar|одобр|разреш|goedkeur)|(?:regeln gelten nicht|keine (?:regeln|einschränkungen|grenzen)|ohne (?:einschränkung|regeln)|aucune (?:restriction|règle|limite)|sans restrictions?|sin (?:restricciones|reglas|límites)|ninguna restricción|senza (?:restrizioni|regole|limiti)|sem (?:restrições|regras|limites)|não há regras|kısıtlama\p{L}* (?:yok|olmadan)|kısıtlamasız|sınırsız bir|без ограничений|нет правил|zonder (?:regels|beperkingen)|bez ograniczeń)[^.!?\n]{0,60}(?:freigeb|genehmig|tu |tue|approuv|agis|aprueb|eres|actúa|approva|sei|aprov|você|kabul|onay|zeka|одобр|ты|keur|jest|$)|(?:agis|tue so|actúa|comportati|aja|davran)[^.!?\n]{0,30}(?:restriction|regeln|restricci|restrizion|restriç|kısıtlama)|没有(?:任何)?限制[^。\n]{0,20}(?:批准|执行)|制限のない(?:AI|人工知能)|제한이? 없는|承認して(?:ください|下さい|くれ)|승인(?:해|하세요|하라|하십시오)|(?:请|然后|直接|立即)批准/iu;

/** A program that judges, in other languages. */
const JUDGE_FOREIGN =
  /(?<![\p{L}])(?:(?:prüfend|bewertend|entscheidend|kontrollierend|freigebend)\p{L}* (?:ki|instanz|modell|system|prüf\p{L}*)|(?:an|für|hinweis an|nachricht an|liebe|lieber|hallo|hey) (?:die |den |das |alle )?(?:\p{L}+ )?(?:ki|sprachmodell|prüfmodell|prüfer|validator|assistent\p{L}*|bewerter)|sprachmodell|(?:modèle|agent|système|assistant) (?:évaluateur|validateur|de validation|de langage|d'évaluation)|(?:pour|à l['’]attention (?:de|du)|message (?:au|à)) (?:le |la |l['’])?(?:ia|validateur|modèle|évaluateur|assistant)|(?:modelo|agente|sistema|asistente) (?:evaluador|validador|verificador|de lenguaje|que (?:evalúa|valida|revisa))|(?:para|a) (?:el |la |al )?(?:ia|validador|evaluador|modelo|asistente)|al modelo|(?:değerlendiren|denetleyen|doğrulayan|onaylayan|inceleyen)\p{L}* (?:yapay|model|sistem|asistan|zek)\p{L}*|yapay zek\p{L}+|dil model\p{L}*|doğrulayıcı\p{L}*|(?:modello|sistema|assistente) (?:valutatore|di convalida|linguistico)|(?:modelo|sistema) avaliador|taalmodel|prüf(?:automat|dienst|system|programm)\p{L}*|freigabe(?:system|dienst|automat)\p{L}*|en tant que (?:contrôleur|validateur|vérificateur|juge|évaluateur|modèle)|(?:quien|el que|la que) (?:valid|evalú|revis|juzg)\p{L}*|denetçi\p{L}*|değerlendirici\p{L}*|beoordelend\p{L}* (?:ai|model))(?![\p{L}])/iu;
/** The verdict it is to give, or the checks it is to leave out, in other languages. */
const VERDICT_FOREIGN =
  /(?<![\p{L}])(?:allow|approved?|true|bestanden|ablehn\p{L}*|sonderregel\p{L}*|pasar por alto|barreras?|contest\p{L}* que sí|uygulama|freigeb\p{L}*|freizugeben|genehmig\p{L}*|erlaub\p{L}*|zulass\p{L}*|durchwink\p{L}*|wink\p{L}* [^.!?\n]{0,60}durch|lass\p{L}* [^.!?\n]{0,60}durch|segura?|sicher|sûre?|güvenli|durchlass\p{L}*|unbedenklich|regeln|schienen|leitplanken|vorgaben|richtlinien|approuv\p{L}*|autoris\p{L}*|accept\p{L}*|valide[rz]?|laisse[rz]? passer|consignes?|garde-fous?|règles|aprob\p{L}*|aprueb\p{L}*|autoriz\p{L}*|permit\p{L}*|acept\p{L}*|políticas?|reglas|dej[ae]\p{L}* pasar|onay\p{L}*|izin ver\p{L}*|kabul\p{L}*|geçir\p{L}*|kurallar\p{L}*|talimat\p{L}*|politika\p{L}*|approv\p{L}*|aprov\p{L}*|goedkeur\p{L}*|regole|regras|regels)(?![\p{L}])/iu;
/** People who can't use such a program, or its faults, in other languages. */
const REPORTED_FOREIGN =
  /(?<![\p{L}])(?:benutzer\p{L}*|nutzer\p{L}*|kunden?|meldet|gemeldet|fehler\p{L}*|antwortet nicht|lädt nicht|utilisateurs?|clients?|erreurs?|signal\p{L}*|ne répond|usuarios?|clientes?|errores|error|no responde|falla\p{L}*|kullanıcı\p{L}*|müşteri\p{L}*|hata\p{L}*|yanıt vermiyor|çalışmıyor)(?![\p{L}])/iu;

/** Tells whether a sentence of a text tells the judge what to find. */
export function instructsJudge(text: string): boolean {
  return text.slice(0, MAX_TEXT_LENGTH).split(/(?<=[.!?;])\s+|\n+/).slice(0, MAX_SENTENCES).some(
    (sentence) => {
      if (WAIVED.test(sentence) || ORDER_FOREIGN.test(sentence)) return true;
      if (
        JUDGE_FOREIGN.test(sentence) && VERDICT_FOREIGN.test(sentence) &&
        !REPORTED_FOREIGN.test(sentence)
      ) return true;
      const verdict = VERDICT.test(sentence);
      const force = FORCE.test(sentence);
      return JUDGE.test(sentence) && (verdict || force) && !REPORTED.test(sentence) ||
        force && verdict || /unlock everything|do (?:what|as) i say/i.test(sentence);
    },
  );
}

/** A sentence about such programs, not addressed to them. */
const REPORTED =
  /(?<![\p{L}])(?:users?|customers?|attackers?|testers?|team|tickets?|pods?|service|returned|crash\p{L}*|latency|deploy\p{L}*|queue|cannot|can't|could not|unable|fails?|failed|rejects?|refus\p{L}+|errors?)(?![\p{L}])/iu;
