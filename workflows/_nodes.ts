import { setCurrentDetails, setHandler } from "@temporalio/workflow";
import {
  type Authorship,
  type NodeName,
  type NodeRecord,
  NODES,
  nodesQuery,
  type ReasoningResult,
} from "../contract/domain/mod.ts";
import { BY_RULES } from "./_drafts.ts";

/** The nodes that a reasoning run has passed. */
export interface NodeTrack {
  /** Runs a node and records it, with the sentence that its work returns. */
  node<T>(node: NodeName, work: () => Promise<[T, string]>): Promise<T>;
  /** Returns the run's result. Nodes that were not passed are skipped. */
  end(
    outcome: ReasoningResult["outcome"],
    answer: string,
    citations?: ReasoningResult["citations"],
    by?: Authorship,
  ): ReasoningResult;
}

/** Begins to record nodes, for queries and the Web UI. */
export function trackNodes(): NodeTrack {
  const records: NodeRecord[] = [];
  setHandler(nodesQuery, () => records);
  const show = (current: string) => {
    const passed = records.map(({ node }) => node).join(" → ");
    setCurrentDetails(`**${current}** · ${passed}`);
  };
  return {
    async node(node, work) {
      show(node);
      const startedAt = Date.now();
      const record = (state: NodeRecord["state"], found: string) => {
        records.push({ node, state, seconds: (Date.now() - startedAt) / 1_000, found });
      };
      try {
        const [result, found] = await work();
        record("done", found);
        return result;
      } catch (error) {
        record("failed", "");
        throw error;
      }
    },
    end(outcome, answer, citations = [], by = BY_RULES) {
      show(outcome);
      const steps = NODES.map((node) =>
        records.find((record) => record.node === node) ?? skipped(node)
      );
      return { outcome, answer, citations, ...by, steps };
    },
  };
}

function skipped(node: NodeName): NodeRecord {
  return { node, state: "skipped", seconds: 0, found: "" };
}
