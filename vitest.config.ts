import { defineConfig } from 'vitest/config';

/** What `expect.poll` waits for comes in the end; it is said what did not. */
const expectation = { poll: { timeout: 120_000 } };

export default defineConfig({
  test: {
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          pool: 'forks',
          expect: expectation,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          include: [
            '{api,core,testing,provisioners,webhooks,cmd,deploy}/**/*.test.ts',
            'test/{architecture,conformance,helpers}/**/*.test.ts',
          ],
          globalSetup: ['test/helpers/helm-engine.ts'],
          // For what hangs: a busy machine takes long to start processes and workers.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'integration',
          pool: 'forks',
          expect: expectation,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/helpers/control-plane.ts', 'test/helpers/helm-engine.ts'],
          // Longer than what `eventually` waits, which says what it waited for.
          testTimeout: 300_000,
          hookTimeout: 400_000,
        },
      },
      {
        test: {
          // The whole cluster is the system's while one of these runs.
          name: 'e2e',
          pool: 'forks',
          expect: expectation,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/helpers/control-plane.ts', 'test/helpers/helm-engine.ts'],
          testTimeout: 900_000,
          hookTimeout: 1_300_000,
        },
      },
    ],
  },
});
