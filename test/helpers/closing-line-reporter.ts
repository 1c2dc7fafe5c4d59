import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';
import { realBundlesAreMissing, realBundlesArePresent } from './real-bundles.ts';

const slowestShown = 10;

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

function countOf(modules: readonly TestModule[]): Count {
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules) {
    // A file or suite that could not be set up has no failed tests to show for it.
    if (module.errors().length > 0) count.failed += 1;
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) count.failed += 1;
    }
    // What the command leaves to another one is not skipped.
    const isFiltered = module.project.globalConfig.tagsFilter !== undefined;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      const isLeftOut = state === 'skipped' && isFiltered && test.tags.length > 0;
      if (state !== 'pending' && !isLeftOut) count[state] += 1;
    }
  }
  return count;
}

/** Seconds of the slowest files, from the load of each to its last hook. */
function slowestFiles(modules: readonly TestModule[]): string {
  const files = modules.map((module) => {
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    const name = `${module.project.name}  ${relative(module.project.config.root, module.moduleId)}`;
    return { name, seconds: (collectDuration + duration + setupDuration) / 1000 };
  });
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)}  ${name}`);
  return ['Slowest files, in seconds:', ...lines].join('\n');
}

/**
 * Begins a run with what it cannot test, and ends it with its slowest files and `N passed, N failed`
 * alone on the last line, for people and for CI.
 */
export default class ClosingLineReporter implements Reporter {
  onInit(): void {
    if (!realBundlesArePresent()) process.stderr.write(`${realBundlesAreMissing}\n`);
  }

  /** Says at once why a test has failed: the end of the run is far away, or never comes. */
  onTestCaseResult(test: TestCase): void {
    const { errors = [] } = test.result();
    for (const { message, diff } of errors) {
      const what = diff === undefined ? message : `${message}\n${diff}`;
      process.stderr.write(`${test.module.relativeModuleId}: ${test.fullName}: ${what}\n`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { passed, failed, skipped } = countOf(modules);
    const slowest = slowestFiles(modules);
    // After the default reporter's own summary, and once the exit code is known: a global setup
    // that failed leaves no other trace.
    process.once('exit', (code) => {
      const failures = Math.max(failed + errors.length, code === 0 ? 0 : 1);
      const rest = skipped > 0 ? `, ${skipped} skipped` : '';
      process.stdout.write(`\n${slowest}\n\n${passed} passed, ${failures} failed${rest}\n`);
    });
  }
}
