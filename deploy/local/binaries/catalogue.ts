/** The pinned modules in `deploy/local/modules`, one folder each because their versions clash. */
export type ModuleName = 'kubernetes' | 'kwok' | 'registry';

export const MODULE_NAMES: readonly ModuleName[] = ['kubernetes', 'kwok', 'registry'];

/** A server (or kubectl) that the local control plane runs, and where it comes from. */
export interface BinarySpec {
  readonly module: ModuleName;
  /** The Go package to build. */
  readonly package: string;
  /** The module whose version in go.mod is the binary's version. */
  readonly versionOf: string;
  /** What makes the binary print its version. */
  readonly versionArgs: readonly string[];
  /** Whether a found version serves as well as the pinned one. */
  readonly fits: (found: Version, pinned: Version) => boolean;
}

/** Major, minor and patch. */
export type Version = readonly [number, number, number];

const sameMinor = (found: Version, pinned: Version) =>
  found[0] === pinned[0] && found[1] === pinned[1];

// kubectl's own promise is one minor version either way; what is used here has not changed in more.
const KUBECTL_OLDEST: Version = [1, 30, 0];

const atLeast = (found: Version, oldest: Version) =>
  found[0] === oldest[0] && found[1] >= oldest[1];

function kubernetes(name: string): BinarySpec {
  return {
    module: 'kubernetes',
    package: `k8s.io/kubernetes/cmd/${name}`,
    versionOf: 'k8s.io/kubernetes',
    versionArgs: ['--version'],
    fits: sameMinor,
  };
}

export const BINARIES = {
  etcd: {
    module: 'kubernetes',
    package: 'go.etcd.io/etcd/server/v3',
    versionOf: 'go.etcd.io/etcd/server/v3',
    versionArgs: ['--version'],
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
    fits: sameMinor,
  },
  registry: {
    module: 'registry',
    package: 'github.com/distribution/distribution/v3/cmd/registry',
    versionOf: 'github.com/distribution/distribution/v3',
    versionArgs: ['--version'],
    fits: (found, pinned) => atLeast(found, [pinned[0], 0, 0]),
  },
  kubectl: {
    ...kubernetes('kubectl'),
    versionArgs: ['version', '--client'],
    fits: (found) => atLeast(found, KUBECTL_OLDEST),
  },
} as const satisfies Record<string, BinarySpec>;

export type BinaryName = keyof typeof BINARIES;

export const BINARY_NAMES = Object.keys(BINARIES) as readonly BinaryName[];
