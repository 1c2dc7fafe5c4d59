/** The test files that run at once, each on a control plane of its own. */
export const clusterWorkers = 4;

/** Folders of control planes that are up already (`RUKPAK_TEST_CLUSTER=/tmp/a,/tmp/b`). */
export const givenClusters: readonly string[] = (process.env['RUKPAK_TEST_CLUSTER'] ?? '')
  .split(',')
  .filter((folder) => folder !== '');
