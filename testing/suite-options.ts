/** `test` of node:test, or `test` or `it` of vitest. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** How a suite declares its tests. */
export interface SuiteOptions {
  /** Declares one test: what you declare your own tests with. */
  readonly test: TestFunction;
}
