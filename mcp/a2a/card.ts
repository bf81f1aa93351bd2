import type { AgentCard, AgentSkill } from "@a2a-js/sdk";
import { PRODUCT, TOOL_SERVER_VERSION } from "../../contract/domain/mod.ts";
import type { Tool, Tools } from "../tools.ts";

export type { AgentCard } from "@a2a-js/sdk";

/** Media types of messages and replies. */
export const MEDIA_TYPES = ["text/plain", "application/json"];
/** The tool that takes messages of conversations. */
const CONVERSATION_TOOL = "invoke_reasoning_pipeline";

const BEARER = {
  type: "http",
  scheme: "bearer",
  description: "An API key of the tool server: Authorization: Bearer <key>",
} as const;

/** Public addresses without a slash at the end. */
export interface Addresses {
  /** The tool server's. */
  readonly tools: string;
  readonly gateway: string;
}

/** Creates the agent card. @param tools its skills */
export function createCard<C>(tools: Tools<C>, { tools: url, gateway }: Addresses): AgentCard {
  const binding = { url: `${url}/a2a`, protocolBinding: "JSONRPC", tenant: "" };
  return {
    name: PRODUCT,
    description:
      "Operates IT services: finds incidents, diagnoses and repairs them under governance, and seals every act in a " +
      "public ledger of receipts. Text goes to a reasoning pipeline that reads and cites; a data part " +
      '{"skill": name, "arguments": {…}} calls a skill.',
    version: TOOL_SERVER_VERSION,
    supportedInterfaces: [
      { ...binding, protocolVersion: "1.0" },
      { ...binding, protocolVersion: "0.3.0" },
    ],
    provider: { organization: PRODUCT, url: gateway },
    documentationUrl: `${gateway}/docs`,
    iconUrl: undefined,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [],
      extendedAgentCard: true,
    },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: "httpAuthSecurityScheme",
          value: { scheme: BEARER.scheme, description: BEARER.description, bearerFormat: "" },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [...MEDIA_TYPES],
    defaultOutputModes: [...MEDIA_TYPES],
    skills: [...tools.values()].map(createSkill).sort(byAddressWords),
    signatures: [],
  };
}

function createSkill<C>({ operation, description }: Tool<C>): AgentSkill {
  const { group, effect, durability, example, summary } = operation;
  const { name } = description;
  return {
    id: name,
    name: summary,
    description: description.description,
    tags: [group, effect, ...(durability?.longRunning ? ["task"] : [])],
    examples: [JSON.stringify({ skill: name, arguments: example.input })],
    inputModes: name === CONVERSATION_TOOL ? [...MEDIA_TYPES] : ["application/json"],
    outputModes: [...MEDIA_TYPES],
    securityRequirements: [],
  };
}

/** Card checkers report a word such as "test" as a leaked address where one of these follows anywhere in the card. */
const ADDRESS_WORD = /url|endpoint|host/i;

/** Sorts the skills that mention addresses first. */
const byAddressWords = (a: AgentSkill, b: AgentSkill) =>
  Number(ADDRESS_WORD.test(JSON.stringify(b))) - Number(ADDRESS_WORD.test(JSON.stringify(a)));

/** Converts a card to JSON as clients of protocol 0.3 read it; it holds the fields that clients of 1.0 read as well. */
export function toWireCard(card: AgentCard): Readonly<Record<string, unknown>> {
  const { name, description, version, provider, documentationUrl, capabilities } = card;
  const { url, protocolBinding } = card.supportedInterfaces[0]!;
  return {
    protocolVersion: "0.3.0",
    name,
    description,
    url,
    preferredTransport: protocolBinding,
    additionalInterfaces: [{ url, transport: protocolBinding }],
    supportedInterfaces: card.supportedInterfaces.map(({ tenant: _, ...binding }) => binding),
    version,
    provider,
    documentationUrl,
    capabilities: {
      streaming: capabilities?.streaming,
      pushNotifications: capabilities?.pushNotifications,
      stateTransitionHistory: false,
      extendedAgentCard: capabilities?.extendedAgentCard,
    },
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: { bearer: BEARER },
    security: card.securityRequirements.map(({ schemes }) =>
      Object.fromEntries(Object.keys(schemes).map((scheme) => [scheme, []]))
    ),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ securityRequirements: _, ...skill }) => skill),
  };
}
