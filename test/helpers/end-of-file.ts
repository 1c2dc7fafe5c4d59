import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';
import { ClusterClient } from './cluster-client.ts';

// Set-up of each file on a control plane: the first to be registered is the last to run.
afterAll(async () => {
  await ClusterClient.closeAll();
  // Vitest ends its workers by a signal, at which Node writes nothing (`npm run coverage`).
  if (process.env['NODE_V8_COVERAGE'] !== undefined) takeCoverage();
});
