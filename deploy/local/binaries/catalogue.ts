/**
 * The pinned modules in `deploy/local/modules`, in separate folders because their dependencies
 * conflict.
 */
export type ModuleName = 'kubernetes' | 'kwok' | 'registry';

export const MODULE_NAMES: readonly ModuleName[] = ['kubernetes', 'kwok', 'registry'];

/** Major, minor and patch. */
export type Version = readonly [number, number, number];

/** A program of the local control plane, and how to identify and build it. */
export interface BinarySpec {
  readonly module: ModuleName;
  /** The Go package to build. */
  readonly package: string;
  /** The module whose version in go.mod is the binary's version. */
  readonly versionOf: string;
  /** Arguments with which the binary prints its version. */
  readonly versionArgs: readonly string[];
  /** Text before the version in that output; other programs of the name do not print it. */
  readonly versionPrefix: string;
  /** Whether a version found on this machine can replace the pinned one. */
  readonly fits: (found: Version, pinned: Version) => boolean;
}

// The used features of kubectl are unchanged since that version.
const OLDEST_KUBECTL_MINOR = 30;

const sameMajor = (found: Version, pinned: Version) => found[0] === pinned[0];
const sameMinor = (found: Version, pinned: Version) =>
  sameMajor(found, pinned) && found[1] === pinned[1];

function kubernetes(name: string): BinarySpec {
  return {
    module: 'kubernetes',
    package: `k8s.io/kubernetes/cmd/${name}`,
    versionOf: 'k8s.io/kubernetes',
    versionArgs: ['--version'],
    versionPrefix: 'Kubernetes v',
    fits: sameMinor,
  };
}

export const BINARIES = {
  etcd: {
    module: 'kubernetes',
    package: 'go.etcd.io/etcd/server/v3',
    versionOf: 'go.etcd.io/etcd/server/v3',
    versionArgs: ['--version'],
    versionPrefix: 'etcd Version: ',
    fits: sameMinor,
  },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kwok: {
    module: 'kwok',
    package: 'sigs.k8s.io/kwok/cmd/kwok',
    versionOf: 'sigs.k8s.io/kwok',
    versionArgs: ['--version'],
    versionPrefix: 'kwok version v',
    fits: sameMinor,
  },
  registry: {
    module: 'registry',
    package: 'github.com/distribution/distribution/v3/cmd/registry',
    versionOf: 'github.com/distribution/distribution/v3',
    versionArgs: ['--version'],
    versionPrefix: 'github.com/distribution/distribution/v3 v',
    fits: sameMajor,
  },
  kubectl: {
    ...kubernetes('kubectl'),
    versionArgs: ['version', '--client'],
    versionPrefix: 'Client Version: v',
    fits: (found, pinned) => sameMajor(found, pinned) && found[1] >= OLDEST_KUBECTL_MINOR,
  },
} as const satisfies Record<string, BinarySpec>;

export type BinaryName = keyof typeof BINARIES;

export const BINARY_NAMES = Object.keys(BINARIES) as readonly BinaryName[];
