/** Begins a model call: checks and masks the prompt, and reserves what the answer can cost. */
import type { Config } from "../../../config.ts";
import { Problem } from "../../../contract/mod.ts";
import {
  type ModelProvider,
  type PrivacyMode,
  stricterPrivacy,
} from "../../../contract/domain/mod.ts";
import { type Chat, openChat, PROVIDER_SETTINGS } from "../../../judgement/engine/mod.ts";
import { type ModelAnswer, readAnswer } from "./answer.ts";
import { budgetsOf, currentModelPolicy, privacyOf } from "./policy.ts";
import { findPrice } from "./prices.ts";
import { openMasker } from "./private_text.ts";
import { checkPrompt, type Prompt } from "./prompt.ts";
import { createTally } from "./tally.ts";
import { reserveUse } from "./use.ts";
import { type Context } from "../../../calls/mod.ts";

/** A question to a model. */
export interface ModelOrder extends Prompt {
  readonly provider: ModelProvider;
  /** Undefined: the one that the settings name. */
  readonly model: string | undefined;
  readonly maxTokens: number;
  /** Wish of the caller about private data; the policy counts where it is stricter. */
  readonly privacy: PrivacyMode | undefined;
}

/** A model call that may begin. */
export interface ModelCall {
  readonly id: string;
  readonly model: string;
  /** As the model gets it: masked. */
  readonly prompt: Prompt;
  readonly answer: ModelAnswer;
}

/** Returns a provider's conversations. @throws {Problem} `NotConfigured`, with the setting that would change it */
export function requireChat({ settings }: Config, provider: ModelProvider): Chat {
  const chat = openChat(settings, provider);
  if (chat) return chat;
  const detail = `Cannot ask ${provider}: set ${PROVIDER_SETTINGS[provider]}`;
  throw new Problem("NotConfigured", detail, {
    body: { detail, code: "not_configured", setting: PROVIDER_SETTINGS[provider] },
  });
}

/**
 * Checks and masks a prompt, and reserves what the answer can cost. The model is asked when the first piece is read, which
 * has to be at once. A reader who stops is billed for what was made.
 *
 * @throws {Problem} `NotConfigured`, `Denied`, `Forbidden`, `RateLimited`
 */
export async function beginModelCall(context: Context, order: ModelOrder): Promise<ModelCall> {
  const { config, store, caller, decisionId, signal } = context;
  const { provider, maxTokens } = order;
  const chat = requireChat(config, provider);
  const { version, policy } = await currentModelPolicy(store.db);
  const privacy = stricterPrivacy(privacyOf(policy, store.tenant), order.privacy ?? "mask");
  const createMasker = openMasker();
  const maskers = { prompt: createMasker(), answer: createMasker() };
  const prompt = await checkPrompt(order, privacy, maskers.prompt);
  const model = order.model ?? chat.defaultModel;
  const tally = createTally(prompt);
  const use = await reserveUse(store.db, {
    provider,
    model,
    keyId: caller.keyId!,
    decisionId,
    price: findPrice(policy.prices, provider, model, chat.isOfficial),
    maxInput: tally.maxInput,
    maxOutput: maxTokens,
  }, budgetsOf(policy, { ...caller, tenant: store.tenant }));
  const answer = readAnswer({
    db: store.db,
    chat,
    request: { ...prompt, model, maxTokens },
    use,
    tally,
    maskers,
    privacy,
    policyVersion: version,
    silenceMs: config.settings.SEALOOP_MODEL_SILENCE_SECONDS * 1000,
    callerGone: signal,
  });
  // A stream whose client leaves before its first event is read has nobody who ends it.
  const leave = () => void answer.return(undefined as never).catch(() => {});
  signal.addEventListener("abort", leave, { once: true });
  return { id: use.id, model, prompt, answer };
}
