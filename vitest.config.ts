import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/helpers/longest-first.ts';
import { clusterWorkers, givenClusters } from './test/helpers/workers.ts';

// Every process of a run compiles a module once for all: most of the time of a short one is that.
// Coverage of what comes from this cache is less exact.
if (process.env['NODE_V8_COVERAGE'] === undefined) {
  process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');
}

// Go's default is to collect garbage whenever the heap has doubled, which costs the API servers 16 %
// of their processor time (ADR 32).
process.env['GOGC'] ??= '400';

/** V8 begins with 1 MiB for new objects, which loading the product fills again and again. */
const execArgv = ['--min-semi-space-size=16'];

/** What `expect.poll` waits for comes in the end; it is said what did not. */
const expectation = { poll: { timeout: 120_000 } };

/** Each worker has a control plane of its own. */
const onControlPlanes = {
  pool: 'forks' as const,
  execArgv,
  // As those of `unit`; `end-of-file.ts` ends what a file has left running.
  isolate: false,
  expect: expectation,
  maxWorkers: givenClusters.length || clusterWorkers,
  sequence: { groupOrder: 1 },
  globalSetup: ['test/helpers/control-plane.ts', 'test/helpers/helm-engine.ts'],
  setupFiles: ['test/helpers/take-coverage.ts', 'test/helpers/end-of-file.ts'],
  // Longer than what `eventually` waits, which says what it waited for.
  testTimeout: 900_000,
  hookTimeout: 1_300_000,
};

export default defineConfig({
  test: {
    // Tests run on Node's own loader, as the product does.
    experimental: { viteModuleRunner: false },
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    tags: [
      { name: 'process', description: 'Starts processes or threads: not in `npm run check`.' },
      { name: 'slow', description: 'Takes most of a second or more: not in `npm run check`.' },
      { name: 'long', description: 'Takes long, or destroys things: in `npm run test:all` only.' },
    ],
    projects: [
      {
        test: {
          name: 'unit',
          pool: 'forks',
          execArgv,
          // Files of a worker share what they import: loading it took more time than the tests.
          isolate: false,
          expect: expectation,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
          include: [
            '{api,catalog,operators,resolver,core,testing,provisioners,webhooks,cmd,deploy}/**/*.test.ts',
            'test/{architecture,conformance,fuzz,helpers}/**/*.test.ts',
          ],
          globalSetup: ['test/helpers/helm-engine.ts'],
          setupFiles: ['test/helpers/take-coverage.ts', 'test/helpers/untagged-processes.ts'],
          // For what hangs: a busy machine takes long to start processes and workers.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'tools',
          pool: 'forks',
          execArgv,
          expect: expectation,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
          include: ['test/tools/**/*.test.ts'],
          globalSetup: ['test/helpers/helm-engine.ts'],
          setupFiles: ['test/helpers/take-coverage.ts'],
          // The tools that tests compare with may have to be built first.
          testTimeout: 900_000,
          hookTimeout: 1_300_000,
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
