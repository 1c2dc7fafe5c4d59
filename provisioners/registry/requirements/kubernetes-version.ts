import type { Requirement } from './requirement.ts';

/**
 * `spec.minKubeVersion`, as OLM compares it: a cluster's own suffix (`-eks-1234`) does not count, so
 * that one with a prerelease (`1.19.0-0`) is met by the release. Missing parts are zeros.
 */
export const kubernetesVersion: Requirement = ({ csv: { minKubeVersion } }, { version }) => {
  if (minKubeVersion === '') return undefined;
  const needed = parse(minKubeVersion);
  if (needed === undefined) {
    return `spec.minKubeVersion "${minKubeVersion}" of the ClusterServiceVersion is no version of Kubernetes: it must be one such as 1.25.0, or left out`;
  }
  const present = parse(version);
  if (present === undefined || !isLater(needed, present)) return undefined;
  return `the operator needs Kubernetes ${minKubeVersion} or later (spec.minKubeVersion), and the cluster has ${version}: upgrade the cluster, or install an earlier version of the operator`;
};

type Version = readonly [number, number, number];

const pattern = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+][0-9A-Za-z.+-]*)?$/;

function parse(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0'] = pattern.exec(text.trim()) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function isLater(a: Version, b: Version): boolean {
  const [major, minor, patch] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  return (major || minor || patch) > 0;
}
