/** Who may read of restarts: the worker as well, which says what has mended a part of the platform. */
export const restartedProcesses = `
  CREATE POLICY shown_to_worker ON processes FOR SELECT TO sealoop_worker USING (true);
`;
