const pattern = /^\/bundledeployments\/([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)\/plan$/;

/** Where the content server has the plan of a BundleDeployment. */
export function planPath(deployment: string): string {
  return `/bundledeployments/${deployment}/plan`;
}

/** The BundleDeployment whose plan a decoded path leads to; undefined for any other path. */
export function deploymentOfPlan(path: string): string | undefined {
  return pattern.exec(path)?.[1];
}
