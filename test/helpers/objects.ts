import type { BundleSource } from '../../api/v1alpha1/bundle.ts';

const apiVersion = 'core.rukpak.io/v1alpha1';

interface BundleFields {
  readonly name: string;
  readonly className?: string;
  readonly source: BundleSource;
}

/** A plain Bundle unless told otherwise. */
export function aBundle({
  name,
  className = 'core-rukpak-io-plain',
  source,
}: BundleFields): object {
  return {
    apiVersion,
    kind: 'Bundle',
    metadata: { name },
    spec: { provisionerClassName: className, source },
  };
}

/** A deployment of plain content unless told otherwise. */
export function aBundleDeployment(
  { name, className = 'core-rukpak-io-plain', source }: BundleFields,
  metadata: object = {},
): object {
  return {
    apiVersion,
    kind: 'BundleDeployment',
    metadata: { name, ...metadata },
    spec: {
      provisionerClassName: 'core-rukpak-io-plain',
      template: { spec: { provisionerClassName: className, source } },
    },
  };
}

export function anImage(ref: string): BundleSource {
  return { type: 'image', image: { ref } };
}

export function aConfigMap(name: string, data: Readonly<Record<string, string>> = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

export function aServiceAccount(name: string): object {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } };
}

/** In front of the pods of `aDeployment` of that name. */
export function aService(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

/** A Deployment that the fake node makes available. */
export function aDeployment(name: string, spec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example.invalid/none:1', ...spec }] },
      },
    },
  };
}

/** The namespaced CRD of a kind in group e2e.example.com. */
export function aCRD(kind: string, description = 'made by a test'): object {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.e2e.example.com` },
    spec: {
      group: 'e2e.example.com',
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  };
}
