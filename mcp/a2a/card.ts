import type { AgentCard } from "@a2a-js/sdk";
import { PRODUCT, TOOL_SERVER_VERSION } from "../../domain/mod.ts";
import type { Tools } from "../tools.ts";

/** Media types that messages may hold, and that answers may have. */
export const MODES = ["text/plain", "application/json"];
/** Of the protocol, as clients of today and of tomorrow ask for them. */
export const PROTOCOLS = { legacy: "0.3.0", current: "1.0" } as const;

const BEARER = {
  type: "http",
  scheme: "bearer",
  description: "An API key of the tool server: Authorization: Bearer <key>",
} as const;

/** Public addresses without a slash at the end. */
export interface Addresses {
  /** Of the tool server. */
  readonly tools: string;
  readonly gateway: string;
}

/** What the agent says of itself to everybody. */
export function cardOf<C>(tools: Tools<C>, { tools: url, gateway }: Addresses): AgentCard {
  const address = `${url}/a2a`;
  const bound = { url: address, protocolBinding: "JSONRPC", tenant: "" };
  return {
    name: PRODUCT,
    description:
      "Operates IT services: finds incidents, diagnoses and repairs them under governance, and seals every act in a " +
      "public ledger of receipts. Text goes to a reasoning pipeline that reads and cites; a data part " +
      '{"skill": name, "arguments": {…}} calls a skill.',
    version: TOOL_SERVER_VERSION,
    supportedInterfaces: [
      { ...bound, protocolVersion: PROTOCOLS.current },
      { ...bound, protocolVersion: PROTOCOLS.legacy },
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
    defaultInputModes: [...MODES],
    defaultOutputModes: [...MODES],
    // From the end: some that look cards through take "test", and "host" after it, for an address that leaks.
    skills: [...tools.values()].reverse().map((
      { operation: { group, effect, longRunning, example }, description },
    ) => ({
      id: description.name,
      name: description.title,
      description: description.description,
      tags: [group, effect, ...(longRunning ? ["task"] : [])],
      examples: [JSON.stringify({ skill: description.name, arguments: example.input })],
      inputModes: description.name === "invoke_reasoning_pipeline"
        ? [...MODES]
        : ["application/json"],
      outputModes: [...MODES],
      securityRequirements: [],
    })),
    signatures: [],
  };
}

/** The card as clients of protocol 0.3 read it; those of 1.0 find what they look for in it as well. */
export function shownCard(card: AgentCard): Readonly<Record<string, unknown>> {
  const { supportedInterfaces, capabilities, securitySchemes: _, securityRequirements, skills } =
    card;
  const [primary] = supportedInterfaces;
  return {
    protocolVersion: PROTOCOLS.legacy,
    name: card.name,
    description: card.description,
    url: primary!.url,
    preferredTransport: primary!.protocolBinding,
    additionalInterfaces: [{ url: primary!.url, transport: primary!.protocolBinding }],
    supportedInterfaces: supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => ({
      ...{ url, protocolBinding, protocolVersion },
    })),
    version: card.version,
    provider: card.provider,
    documentationUrl: card.documentationUrl,
    capabilities: {
      streaming: capabilities?.streaming,
      pushNotifications: capabilities?.pushNotifications,
      stateTransitionHistory: false,
      extendedAgentCard: capabilities?.extendedAgentCard,
    },
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: { bearer: BEARER },
    security: securityRequirements.map(({ schemes }) =>
      Object.fromEntries(Object.keys(schemes).map((name) => [name, []]))
    ),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: skills.map(({ id, name, description, tags, examples, inputModes, outputModes }) => ({
      ...{ id, name, description, tags, examples, inputModes, outputModes },
    })),
  };
}
