import { stringifyJson } from '../../api/json.ts';
import { aConfigMap, aCRD, aDeployment, aService, aServiceAccount } from '../helpers/objects.ts';
import { plainFiles } from '../helpers/push-content.ts';
import { aCsvManifest } from '../helpers/registry-bundle.ts';

/** One BundleDeployment and what each version of its content consists of. */
export interface Subject {
  readonly name: string;
  readonly className: string;
  objects(version: number): readonly object[];
  files(version: number): Readonly<Record<string, string>>;
}

/** Twenty with different content; one has a CRD with an object of it, one is in registry+v1 form. */
export const subjects: readonly Subject[] = [
  ...Array.from({ length: 18 }, (_, index) => plainSubject(`crash-${index}`)),
  plainSubject('crash-with-crd', crdAndObject),
  registrySubject('crash-registry'),
];

/** The second version drops an object, replaces one and changes two. */
function plainSubject(
  name: string,
  more: (version: number) => readonly object[] = () => [],
): Subject {
  const objects = (version: number): readonly object[] => [
    aServiceAccount(name),
    aConfigMap(`${name}-always`, { version: `${version}` }),
    aConfigMap(`${name}-v${version}`, { of: name }),
    versionedDeployment(name, version),
    ...(version === 1 ? [aService(name)] : []),
    ...more(version),
  ];
  const files = (version: number) => plainFiles(objects(version));
  return { name, className: 'core-rukpak-io-plain', objects, files };
}

function crdAndObject(version: number): readonly object[] {
  const resource = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Crasher',
    metadata: { name: `crasher-v${version}`, namespace: 'default' },
    spec: { size: version },
  };
  return [resource, aCRD('Crasher', `of version ${version}`)];
}

/** What conversion puts into the bundle's own namespace. */
function registrySubject(name: string): Subject {
  const namespace = 'pkg-system';
  return {
    name,
    className: 'core-rukpak-io-registry',
    objects: (version) => [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-v${version}`, namespace } },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    ],
    files(version) {
      const { spec } = versionedDeployment(name, version);
      const install = { strategy: 'deployment', spec: { deployments: [{ name, spec }] } };
      return {
        'metadata/annotations.yaml':
          'annotations:\n  operators.operatorframework.io.bundle.package.v1: pkg\n',
        'manifests/csv.yaml': stringifyJson(aCsvManifest({ install })),
        'manifests/own.yaml': stringifyJson(aConfigMap(`${name}-v${version}`)),
      };
    },
  };
}

function versionedDeployment(name: string, version: number): { readonly spec: object } {
  const env = [{ name: 'VERSION', value: `${version}` }];
  return aDeployment(name, { env }) as { readonly spec: object };
}
