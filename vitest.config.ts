import { defineConfig } from 'vitest/config';

const forks = { pool: 'forks' as const };

export default defineConfig({
  test: {
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          ...forks,
          name: 'unit',
          include: [
            '{api,core,provisioners,webhooks,cmd,deploy}/**/*.test.ts',
            'test/{architecture,conformance,helpers}/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...forks,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/helpers/control-plane.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...forks,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/helpers/control-plane.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
