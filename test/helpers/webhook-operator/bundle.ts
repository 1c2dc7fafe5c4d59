import { stringifyJson } from '../../../api/json.ts';
import { operatorFiles } from '../operator-bundle.ts';
import { gaugeApi, ports, widgetApi } from './apis.ts';

export interface WebhookOperator {
  /** Of package, deployment and ServiceAccount. */
  readonly name: string;
  readonly version?: number;
  readonly modes?: readonly string[];
  /** Which of its parts the CSV has (default: all of them). */
  readonly parts?: readonly Part[];
}

export type Part = 'validating' | 'validating-v2' | 'mutating' | 'conversion' | 'api';

/** The files of a registry+v1 bundle of the operator. */
export function webhookOperatorFiles({
  name,
  version = 1,
  modes = ['AllNamespaces'],
  parts = ['validating', 'mutating', 'conversion', 'api'],
}: WebhookOperator): Readonly<Record<string, string>> {
  const webhookdefinitions = parts.flatMap((part) =>
    part === 'api' ? [] : [{ ...webhook(name), ...webhooks[part] }],
  );
  const owned = parts.includes('api') ? [ownedApi(name)] : [];
  const spec = { webhookdefinitions, apiservicedefinitions: { owned } };
  return {
    ...operatorFiles({ name, version, modes, spec }),
    'manifests/widgets.yaml': stringifyJson(widgetCrd),
  };
}

function webhook(deploymentName: string): object {
  return {
    deploymentName,
    containerPort: ports.webhooks,
    targetPort: 9443,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
    rules: [
      {
        apiGroups: [widgetApi.group],
        apiVersions: ['v1'],
        operations: ['CREATE', 'UPDATE'],
        resources: [widgetApi.plural],
      },
    ],
  };
}

const webhooks: Readonly<Record<Exclude<Part, 'api'>, object>> = {
  validating: {
    type: 'ValidatingAdmissionWebhook',
    generateName: 'vwidget.e2e.example.com',
    webhookPath: '/validate',
  },
  'validating-v2': {
    type: 'ValidatingAdmissionWebhook',
    generateName: 'vwidget-v2.e2e.example.com',
    webhookPath: '/validate-v2',
  },
  mutating: {
    type: 'MutatingAdmissionWebhook',
    generateName: 'mwidget.e2e.example.com',
    webhookPath: '/mutate',
    reinvocationPolicy: 'IfNeeded',
  },
  conversion: {
    type: 'ConversionWebhook',
    generateName: 'cwidget.e2e.example.com',
    webhookPath: '/convert',
    conversionCRDs: [widgetApi.crd],
  },
};

function ownedApi(deploymentName: string): object {
  const { group, version, kind, plural } = gaugeApi;
  return { name: plural, group, version, kind, deploymentName, containerPort: ports.api };
}

const widgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: widgetApi.crd },
  spec: {
    group: widgetApi.group,
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: widgetApi.plural, singular: 'widget' },
    versions: [version('v1', 'replicas'), version('v1alpha1', 'size')],
  },
};

function version(name: string, count: string): object {
  const properties = { [count]: { type: 'integer' }, color: { type: 'string' } };
  return {
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
    },
  };
}
