import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Ends a run with `N passed, N failed` alone on the last line, for people and for CI. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that could not be loaded has no tests to fail.
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== 'pending') count[state] += 1;
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    // After the default reporter's own summary.
    process.once('exit', () => {
      process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
    });
  }
}
