import { annotation } from '../../api/v1alpha1/labels.ts';

export const widgetKind = { group: 'certified.example.com', plural: 'widgets' } as const;

export interface CertifiedContentOptions {
  readonly namespace: string;
  /** Name of the Secret for the certificate. */
  readonly secret: string;
}

const servicePort = 9443;

/**
 * Plain content with all that a certificate is for: a namespace, which comes first, a Service, a
 * Deployment that mounts the Secret, both kinds of webhook configuration, and a CRD that is
 * converted by a webhook.
 */
export function certifiedContent(options: CertifiedContentOptions): readonly object[] {
  const { namespace, secret } = options;
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { certified: 'yes' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'webhook',
        namespace,
        annotations: { [annotation.servingCertificate]: secret },
      },
      spec: { selector: { app: 'webhook' }, ports: [{ port: servicePort }] },
    },
    workload(options),
    webhookConfiguration('ValidatingWebhookConfiguration', '/validate', options),
    webhookConfiguration('MutatingWebhookConfiguration', '/mutate', options),
    definition(options),
  ];
}

function workload({ namespace, secret }: CertifiedContentOptions): object {
  const labels = { app: 'webhook' };
  const volumes = [{ name: 'cert', secret: { secretName: secret } }];
  const volumeMounts = [{ name: 'cert', mountPath: '/tmp/k8s-webhook-server/serving-certs' }];
  const containers = [{ name: 'main', image: 'example.invalid/none:1', volumeMounts }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'webhook', namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, volumes } },
    },
  };
}

function trusting({ namespace, secret }: CertifiedContentOptions): object {
  return { annotations: { [annotation.injectCaFrom]: `${namespace}/${secret}` } };
}

function clientConfig({ namespace }: CertifiedContentOptions, path: string): object {
  return { service: { namespace, name: 'webhook', path, port: servicePort } };
}

/** Of ConfigMaps with the label `wish`, in that namespace. */
function webhookConfiguration(
  kind: string,
  path: string,
  options: CertifiedContentOptions,
): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'certified', ...trusting(options) },
    webhooks: [
      {
        name: 'wishes.certified.example.com',
        clientConfig: clientConfig(options, path),
        namespaceSelector: { matchLabels: { certified: 'yes' } },
        objectSelector: { matchLabels: { wish: 'yes' } },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['configmaps'],
          },
        ],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
      },
    ],
  };
}

/** Widgets have `spec.size` in v1, which is stored, and `spec.width` in v2. */
function definition(options: CertifiedContentOptions): object {
  const { group, plural } = widgetKind;
  const version = (name: string, field: string): object => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [field]: { type: 'integer' } } } },
      },
    },
  });
  const webhook = {
    clientConfig: clientConfig(options, '/convert'),
    conversionReviewVersions: ['v1'],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...trusting(options) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', plural, singular: 'widget' },
      versions: [version('v1', 'size'), version('v2', 'width')],
      conversion: { strategy: 'Webhook', webhook },
    },
  };
}
