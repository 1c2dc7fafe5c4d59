import { defineConfig } from 'vitest/config';
import { clusterWorkers, givenClusters } from './test/helpers/workers.ts';

/** What `expect.poll` waits for comes in the end; it is said what did not. */
const expectation = { poll: { timeout: 120_000 } };

const units = {
  pool: 'forks' as const,
  expect: expectation,
  maxWorkers: 2,
  sequence: { groupOrder: 0 },
  globalSetup: ['test/helpers/helm-engine.ts'],
  // For what hangs: a busy machine takes long to start processes and workers.
  testTimeout: 180_000,
  hookTimeout: 180_000,
};

/** Each worker has a control plane of its own. */
const onControlPlanes = {
  pool: 'forks' as const,
  expect: expectation,
  maxWorkers: givenClusters.length || clusterWorkers,
  sequence: { groupOrder: 1 },
  globalSetup: ['test/helpers/control-plane.ts', 'test/helpers/helm-engine.ts'],
  setupFiles: ['test/helpers/end-of-file.ts'],
  // Longer than what `eventually` waits, which says what it waited for.
  testTimeout: 900_000,
  hookTimeout: 1_300_000,
};

export default defineConfig({
  test: {
    // Tests run on Node's own loader, as the product does.
    experimental: { viteModuleRunner: false },
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          ...units,
          name: 'unit',
          include: [
            '{api,core,testing,provisioners,webhooks,cmd,deploy}/**/*.test.ts',
            'test/{architecture,conformance,helpers}/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          ...onControlPlanes,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
        },
      },
      { test: { ...onControlPlanes, name: 'e2e', include: ['test/e2e/**/*.test.ts'] } },
    ],
  },
});
