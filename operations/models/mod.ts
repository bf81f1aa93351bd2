/** Language models of providers. @module */
import { askAnthropic, askOllama, askOpenai } from "./ask.ts";

/** Operations on language models. */
export const modelOperations = [askAnthropic, askOpenai, askOllama];
