/**
 * Names of the checks of registry bundles that are made only where they are asked for. The checks
 * themselves are loaded when they run.
 */
export const optionalChecks: readonly string[] = [
  'operatorhubv2',
  'capabilities',
  'categories',
  'alpha-deprecated-apis',
  'good-practices',
  'objects',
];
