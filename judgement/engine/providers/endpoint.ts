/** Where the settings say that a provider's models are. */
import type { Settings } from "../../../config.ts";
import type { ModelProvider } from "../../../contract/domain/mod.ts";
import type { Endpoint } from "./provider.ts";

const OPENAI_URL = "https://api.openai.com/v1";
/** The operator's own servers may need no key, but OpenAI's SDK does. */
const NO_KEY = "none";

/** The settings that configure each provider, as refusals name them. */
export const PROVIDER_SETTINGS: Readonly<Record<ModelProvider, string>> = {
  anthropic: "SEALOOP_ANTHROPIC_API_KEY",
  openai: "SEALOOP_OPENAI_API_KEY or SEALOOP_OPENAI_URL",
  ollama: "SEALOOP_OLLAMA_URL",
};

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns true for models on this machine, which may read what must not leave it. */
export function isLocalEndpoint({ url }: Endpoint): boolean {
  return LOOPBACK.test(new URL(url).hostname);
}

/** Returns the address, the key and the default model of a provider; undefined: it is not configured. */
export function endpointOf(settings: Settings, provider: ModelProvider): Endpoint | undefined {
  switch (provider) {
    case "anthropic": {
      const { SEALOOP_ANTHROPIC_API_KEY: apiKey, SEALOOP_ANTHROPIC_MODEL: model } = settings;
      return apiKey ? { apiKey, url: settings.SEALOOP_ANTHROPIC_URL, model } : undefined;
    }
    case "openai": {
      const { SEALOOP_OPENAI_API_KEY: apiKey, SEALOOP_OPENAI_URL: url } = settings;
      if (!apiKey && !url) return undefined;
      const model = settings.SEALOOP_OPENAI_MODEL;
      return { apiKey: apiKey ?? NO_KEY, url: url ?? OPENAI_URL, model };
    }
    case "ollama": {
      const { SEALOOP_OLLAMA_URL: url, SEALOOP_OLLAMA_MODEL: model } = settings;
      return url ? { apiKey: NO_KEY, url, model } : undefined;
    }
  }
}
